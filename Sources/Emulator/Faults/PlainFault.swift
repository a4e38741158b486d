import Faults
import ProviderAPI
import PushModel
import Transport

/// A fault that has struck a provider request in plain HTTP/1.1. Lives until the exchange is over, which keeps it.
///
/// There are no streams and no GOAWAY here: to end a stream is to reset the connection, and a server that goes answers
/// 503 and ends the connection.
final class PlainFault {
  private let service: FaultService
  private let exchange: HTTPExchange
  private let requests: ProviderRequests
  private let message: HTTPMessage
  private let judged: JudgedRequest
  private let decision: FaultEngine.Decision
  private let plan: FaultPlan
  private let reply: (HTTPResponse) -> Void
  /// By the number that the service knows it by; nil before there is one.
  private var delay: Int?

  init(
    _ decision: FaultEngine.Decision, _ service: FaultService, _ exchange: HTTPExchange,
    _ requests: ProviderRequests, _ message: HTTPMessage, _ judged: JudgedRequest,
    reply: @escaping (HTTPResponse) -> Void
  ) {
    (self.decision, self.service, self.exchange) = (decision, service, exchange)
    plan = service.plan(decision, on: .exchange)
    (self.requests, self.message, self.judged, self.reply) = (requests, message, judged, reply)
  }

  func begin() {
    exchange.onGone = { self.giveUp() }
    switch plan.hold {
    case .stall?: service.hold(self, by: decision) { [unowned self] in carryOut() }
    case .delay(let milliseconds)?: delay = service.after(milliseconds) { [unowned self] in carryOut() }
    case nil: carryOut()
    }
  }

  private func giveUp() {
    service.forget(self, decision)
    if let delay { service.callOff(delay) }
    var words = decision.words
    words.got += ", and the provider went before it was over"
    requests.swallow(judged, message, decision, words, now: service.clock.now())
  }

  private func carryOut() {
    for step in plan.steps {
      switch step {
      case .dribble(let dribble):
        exchange.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyNanoseconds)
      case .take, .refuse, .swallow:
        let action = requests.carryOut(step, decision, judged, message, now: service.clock.now())
        PlainPush.finish(action, exchange, requests, judged, message) { self.answer($0) }
      case .reset, .resetStream: exchange.end(by: .reset)
      case .garbage(let bytes): exchange.end(by: .garbage(bytes))
      case .halfClose: exchange.end(by: .end)
      // The answer says so.
      case .close, .goAway: break
      }
    }
  }

  private func answer(_ response: HTTP2Response?) {
    guard let response else { return }
    var plain = HTTPResponse(response)
    plain.endsConnection = plan.steps.last == .close
    reply(plain)
  }
}
