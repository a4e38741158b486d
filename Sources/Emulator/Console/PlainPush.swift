import Broker
import Faults
import ProviderAPI
import PushModel
import Services
import Transport

/// The provider request in plain HTTP/1.1 on the console: the same checks, the same answers
/// (`Documentation/console-api.md`).
struct PlainPush {
  /// Fields of HTTP/1.1 that HTTP/2 does not know.
  private static let connectionFields: Set<String> = [
    "host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade",
  ]

  let service: ProviderService
  let environment: Environment

  /// Answers by `reply`, or as a fault wants.
  func answer(_ exchange: HTTPExchange, reply: @escaping (HTTPResponse) -> Void) {
    service.broker.noteRead()
    let message = Self.message(exchange.request)
    let now = service.clock.now()
    let requests = ProviderRequests(
      service, identity: service.tokenIdentity(environment), environment: environment, interface: .console)
    let judged = requests.judge(message, now: now)
    let decision = service.faults.decide(
      message, judged, .console, requests.identity, connection: exchange.request.remoteAddress)
    if let decision { return Self.inject(decision, exchange, requests, judged, message, reply) }
    Self.finish(requests.act(judged, on: message, now: now), exchange, requests, judged, message) {
      response in
      if let response { reply(HTTPResponse(response)) }
    }
  }

  private static func inject(
    _ decision: FaultEngine.Decision, _ exchange: HTTPExchange, _ requests: ProviderRequests,
    _ judged: JudgedRequest, _ message: HTTPMessage, _ reply: @escaping (HTTPResponse) -> Void
  ) {
    let service = requests.service
    let plan = FaultPlan(decision, on: .exchange)
    let connection = FaultedExchange(exchange: exchange) { fate in
      let action = requests.apply(fate, decision, judged, message, now: service.clock.now())
      finish(action, exchange, requests, judged, message) { response in
        if let response { reply(HTTPResponse(response, endsConnection: plan.endsConnection)) }
      }
    }
    let faulted = FaultedRequest(decision, plan, on: connection) {
      requests.swallow(judged, message, decision, $0, now: service.clock.now())
    }
    exchange.whenGone { faulted.giveUp(because: "the provider closed the connection") }
    faulted.begin(service.faults.holds)
  }

  /// Answers now, or when the verdict is there, with nothing if nothing is to be said.
  private static func finish(
    _ action: ProviderAction, _ exchange: HTTPExchange, _ requests: ProviderRequests, _ judged: JudgedRequest,
    _ message: HTTPMessage, reply: @escaping (HTTP2Response?) -> Void
  ) {
    switch action {
    case .done(let outcome): reply(outcome.response)
    case .outstanding(let push):
      exchange.whenGone { push.then = nil }
      // Without a verdict there is no answer, and its provider sends it again.
      push.then = { if let result = $0 { reply(requests.outcome(result, judged, message).response) } }
    }
  }

  private static func message(_ request: HTTPRequest) -> HTTPMessage {
    var message = HTTPMessage()
    message.append(name: ":method", value: request.method)
    // A query is part of the path over HTTP/2, where it makes the token wrong.
    message.append(name: ":path", value: request.query.isEmpty ? request.path : request.path + "?")
    for field in request.fields where !connectionFields.contains(field.name.lowercased()) {
      message.append(name: field.name, value: field.value)
    }
    message.appendBody(request.body.span)
    return message
  }
}

/// A request in plain HTTP/1.1 as faults find it. There are no streams and no GOAWAY here: to end a stream is to reset the
/// connection, and a server that goes answers 503 and ends the connection.
private struct FaultedExchange: FaultedConnection {
  let exchange: HTTPExchange
  let apply: (FaultFate) -> Void

  func settle(_ fate: FaultFate) { apply(fate) }

  func dribble(_ dribble: FaultEffects.Dribble) {
    exchange.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyNanoseconds)
  }

  func goWrong(_ breakage: FaultBreakage) {
    switch breakage {
    case .reset, .resetStream: exchange.end(by: .reset)
    case .garbage(let bytes): exchange.end(by: .garbage(bytes))
    case .halfClose: exchange.end(by: .end)
    }
  }
}

extension FaultPlan {
  /// Whether the answer is the last of its connection.
  fileprivate var endsConnection: Bool {
    if case .refuse(let refusal) = fate { refusal.ending != nil } else { farewell != nil }
  }
}

extension HTTPResponse {
  /// What HTTP/2 would have carried.
  fileprivate init(_ response: HTTP2Response, endsConnection: Bool = false) {
    var fields: [HTTPField] = []
    if !response.body.isEmpty { fields.append(HTTPField("content-type", "application/json")) }
    if let id = response.apnsID { fields.append(HTTPField("apns-id", id.description)) }
    if let id = response.uniqueID { fields.append(HTTPField("apns-unique-id", id.description)) }
    fields += response.textFields.map { HTTPField($0.name, $0.value) }
    self.init(status: response.status, fields: fields, body: response.body)
    self.endsConnection = endsConnection
  }
}
