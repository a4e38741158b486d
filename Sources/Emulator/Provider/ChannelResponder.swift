import ProviderAPI
import PushModel
import Transport

/// Answers channel management on the gateway and feedback ports (`spec/provider-protocol.md` F.1).
final class ChannelResponder: HTTP2Responder {
  private let identity: ProviderIdentity
  private let environment: Environment
  private let handler: ChannelRequestHandler
  private let explains: Bool

  init(_ service: ProviderService, _ connection: TLSConnection) {
    environment = service.environment(serverName: connection.serverName)
    explains = service.options.explains
    identity = service.identity(of: connection, environment: environment)
    handler = ChannelRequestHandler(
      identity: identity, environment: environment, directory: service.channels,
      messageIDs: service.messageIDs,
      options: service.options.checks)
  }

  var connectionRejection: Rejection? { identity.connectionRejection(in: environment) }
  var initialStreams: Int { StreamThrottle.full }

  func respond(to request: HTTP2Request, on session: HTTP2ServerSession, now: Timestamp) {
    let answer = handler.answer(request.message, now: now)
    var response = HTTP2Response(status: answer.status, messageID: answer.requestID, body: answer.body)
    response.idField = .apnsRequestId
    if let channel = answer.channelID { response.fields = [("apns-channel-id", channel.text)] }
    if explains, let rejected = answer.rejected { response.explain(rejected) }
    session.respond(to: request, with: response)
  }
}
