import Faults
import ProviderAPI
import PushModel
import Transport

/// A channel management request that a fault has struck. It is judged when it is carried out, so that what a fault
/// refuses has changed nothing; the history is of pushes, and does not have it.
struct StruckManagement: StruckRequest {
  let request: HTTP2Request
  /// Lives as long as the connection, whose faults keep this.
  unowned let responder: ChannelResponder

  func carryOut(_ decision: FaultEngine.Decision, on session: HTTP2ServerSession) {
    responder.carryOut(request, on: session)
  }

  func refuse(_ rejection: Rejection, _ decision: FaultEngine.Decision, on session: HTTP2ServerSession) {
    responder.refuse(request, rejection, decision.words, on: session)
  }

  func swallow(_ decision: FaultEngine.Decision, _ words: Explanation) {}
}
