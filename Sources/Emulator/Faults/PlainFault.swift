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
  private let reply: (HTTPResponse) -> Void
  private var timer: LoopEvent?

  init(
    _ decision: FaultEngine.Decision, _ service: FaultService, _ exchange: HTTPExchange,
    _ requests: ProviderRequests, _ message: HTTPMessage, _ judged: JudgedRequest,
    reply: @escaping (HTTPResponse) -> Void
  ) {
    (self.decision, self.service, self.exchange) = (decision, service, exchange)
    (self.requests, self.message, self.judged, self.reply) = (requests, message, judged, reply)
  }

  func begin() {
    exchange.onGone = { self.giveUp() }
    if decision.effects.stalls {
      service.hold(self, by: decision) { [unowned self] in carryOut() }
    } else if decision.delayMilliseconds > 0 {
      timer = service.timer(decision.delayMilliseconds) { [unowned self] in carryOut() }
    } else {
      carryOut()
    }
  }

  private func giveUp() {
    service.forget(self, decision)
    timer = nil
    var words = decision.words
    words.got += ", and the provider went before it was over"
    swallow(words)
  }

  private func carryOut() {
    let effects = decision.effects
    if let dribble = effects.dribble {
      exchange.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyMilliseconds * 1_000_000)
    }
    if effects.resetsConnection || effects.resetStream != nil { return breakOff(.reset) }
    if !decision.garbage.isEmpty { return breakOff(.garbage(decision.garbage)) }
    let now = service.clock.now()
    if let rejection = decision.rejection ?? (effects.goAway == nil ? nil : .shutdown) {
      let refusal = decision.refusal(judged.messageID, rejection, now: now)
      let struck = decision.struck(isAnswered: true)
      answer(requests.reject(refusal, judged, message, now: now, fault: struck).0)
    } else if effects.halfCloses {
      breakOff(.end)
    } else if decision.isMagic, judged.lacksOnlyToken {
      answer(requests.acceptAnyway(judged, message, now: now))
    } else {
      answer(requests.act(judged, on: message, now: now).0)
    }
  }

  private func answer(_ response: HTTP2Response) {
    var plain = HTTPResponse(response)
    plain.endsConnection = decision.effects.goAway != nil || decision.effects.halfCloses
    reply(plain)
  }

  private func breakOff(_ breakage: HTTPBreakage) {
    swallow(decision.words)
    exchange.end(by: breakage)
  }

  private func swallow(_ words: Explanation) {
    requests.swallow(judged, message, decision, words, now: service.clock.now())
  }
}
