import Faults
import ProviderAPI
import PushModel
import Transport

/// A push or a broadcast that a fault has struck.
struct StruckPush: StruckRequest {
  let request: HTTP2Request
  let judged: JudgedRequest
  /// Lives as long as the connection, whose faults keep this.
  unowned let responder: PushResponder

  private var requests: ProviderRequests { responder.requests }
  private var now: Timestamp { responder.service.clock.now() }

  /// A magic token that asks for no refusal is taken, though it is nobody's.
  func carryOut(_ decision: FaultEngine.Decision, on session: HTTP2ServerSession) {
    if decision.isMagic, judged.lacksOnlyToken {
      let response = requests.acceptAnyway(judged, request.message, now: now)
      return responder.answer(request, judged, response, nil, session)
    }
    let (response, rejection) = requests.act(judged, on: request.message, now: now)
    responder.answer(request, judged, response, rejection, session)
  }

  func refuse(_ rejection: Rejection, _ decision: FaultEngine.Decision, on session: HTTP2ServerSession) {
    let refusal = decision.refusal(judged.messageID, rejection, now: now)
    let (response, rejection) = requests.reject(
      refusal, judged, request.message, now: now, fault: decision.struck(isAnswered: true))
    responder.answer(request, judged, response, rejection, session)
  }

  func swallow(_ decision: FaultEngine.Decision, _ words: Explanation) {
    requests.swallow(judged, request.message, decision, words, now: now)
  }
}
