import Broker
import ProviderAPI
import PushModel
import Transport

/// The provider request in plain HTTP/1.1 on the console: the same checks, the same answers (`interface.md`, Console).
enum PlainPush {
  /// Fields of HTTP/1.1 that HTTP/2 does not know.
  private static let connectionFields: Set<String> = [
    "host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade",
  ]

  static func answer(_ request: HTTPRequest, _ emulator: Emulator) -> HTTPResponse {
    let service = emulator.provider
    let environment = emulator.options.environment
    let message = message(request)
    let now = emulator.clock.now()
    let check = ProviderRequestCheck(
      identity: service.tokenIdentity(environment), environment: environment, directory: service.directory,
      messageIDs: service.messageIDs, options: service.options.checks)
    let source = PushSource(connection: 0, message, service.capture)
    switch check.judge(message, now: now) {
    case .accepted(let accepted):
      let result = service.submit(
        accepted, message, interface: .console, environment: environment, now: now, source: source)
      guard let rejection = result.rejection else {
        return accepted200(accepted, service.uniqueID(in: environment))
      }
      return refused(check.refuse(message, rejection, got: rejection.sentence))
    case .rejected(let rejected):
      service.record(
        rejected, message, interface: .console, environment: environment, now: now, source: source)
      return refused(rejected)
    }
  }

  private static func message(_ request: HTTPRequest) -> HTTPMessage {
    let message = HTTPMessage()
    message.append(name: ":method", value: request.method)
    // A query is part of the path over HTTP/2, where it makes the token wrong.
    message.append(name: ":path", value: request.query.isEmpty ? request.path : request.path + "?")
    for field in request.fields where !connectionFields.contains(field.name.lowercased()) {
      message.append(name: field.name, value: field.value)
    }
    message.appendBody(request.body)
    return message
  }

  private static func accepted200(_ accepted: AcceptedNotification, _ uniqueID: MessageID?) -> HTTPResponse {
    var fields = [HTTPField("apns-id", accepted.messageID.description)]
    if let uniqueID { fields.append(HTTPField("apns-unique-id", uniqueID.description)) }
    return HTTPResponse(status: 200, fields: fields)
  }

  private static func refused(_ rejected: RejectedRequest) -> HTTPResponse {
    HTTPResponse(
      status: rejected.rejection.status,
      fields: [
        HTTPField("content-type", "application/json"), HTTPField("apns-id", rejected.messageID.description),
      ], body: rejected.body)
  }
}
