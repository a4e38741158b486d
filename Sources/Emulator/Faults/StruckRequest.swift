import Faults
import ProviderAPI
import PushModel
import Transport

/// A request over HTTP/2 that a fault has struck, and what may become of it.
protocol StruckRequest {
  var request: HTTP2Request { get }
  /// Does what it asks for and answers, as though no fault had struck.
  func carryOut(_ decision: FaultEngine.Decision, on session: HTTP2ServerSession)
  /// Answers with a reason that is not in it.
  func refuse(_ rejection: Rejection, _ decision: FaultEngine.Decision, on session: HTTP2ServerSession)
  /// Remembers that it was not taken, and that its provider was told no reason.
  func swallow(_ decision: FaultEngine.Decision, _ words: Explanation)
}
