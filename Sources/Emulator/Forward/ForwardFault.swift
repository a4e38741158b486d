import Faults
import Transport

/// A fault that holds up the first frame that waits to be forwarded.
struct ForwardFault {
  var decision: FaultEngine.Decision
  var plan: FaultPlan
  /// The delay is over, or the rule was switched off: what else the fault wants is due.
  var isOver = false
  /// Fires when the delay is over; nil for a stall.
  var timer: LoopEvent?
}
