import Faults
import ProviderAPI
import PushModel
import Transport

/// A request over HTTP/2 that a fault has struck, and what may become of it.
protocol StruckRequest {
  var request: HTTP2Request { get }
  /// Does what the fault wants of it (`take`, `refuse`, `swallow`), and answers unless it is swallowed.
  func carryOut(_ fate: FaultStep, _ decision: FaultEngine.Decision, on session: HTTP2ServerSession)
  /// Remembers that it was not taken, as it came to an end before the fault did.
  func giveUp(_ decision: FaultEngine.Decision, _ words: Explanation)
}

/// A push or a broadcast.
struct StruckPush: StruckRequest {
  let request: HTTP2Request
  let judged: JudgedRequest
  /// Lives as long as the connection, whose faults keep this.
  unowned let responder: PushResponder

  private var now: Timestamp { responder.service.clock.now() }

  func carryOut(_ fate: FaultStep, _ decision: FaultEngine.Decision, on session: HTTP2ServerSession) {
    let action = responder.requests.carryOut(fate, decision, judged, request.message, now: now)
    responder.finish(request, judged, action, session)
  }

  func giveUp(_ decision: FaultEngine.Decision, _ words: Explanation) {
    responder.requests.swallow(judged, request.message, decision, words, now: now)
  }
}

/// Channel management. It is judged when it is carried out, so that what a fault refuses has changed nothing; the history is
/// of pushes, and does not have it.
struct StruckManagement: StruckRequest {
  let request: HTTP2Request
  /// Lives as long as the connection, whose faults keep this.
  unowned let responder: ChannelResponder

  func carryOut(_ fate: FaultStep, _ decision: FaultEngine.Decision, on session: HTTP2ServerSession) {
    switch fate {
    case .take: responder.carryOut(request, on: session)
    case .refuse(let refusal): responder.refuse(request, refusal.rejection, decision.words, on: session)
    default: break
    }
  }

  func giveUp(_ decision: FaultEngine.Decision, _ words: Explanation) {}
}
