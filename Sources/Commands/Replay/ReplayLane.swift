import Capture
import Transport

/// What one recorded connection is replayed on. Connects again as often as it takes.
protocol ReplayLane: AnyObject {
  /// Whether it has as much to do as it should.
  var isFull: Bool { get }
  /// Bytes held until their outcome is known.
  var heldBytes: Int { get }
  var onDone: () -> Void { get set }
  /// Sends what waits.
  func advance()
  /// Nothing more comes; `onDone` is called when every outcome is known.
  func finish()
  /// Asks about what was sent, to give memory back.
  func confirm()
}

/// What happened to one push.
struct ReplayedPush {
  /// The word of its `ReplayTag`.
  var tag: Int
  /// Of the frame, if it was one and has one.
  var identifier: UInt32?
  var recorded: CapturedOutcome
  var recordedForm: OutcomeComparison.Form
  /// nil if nobody told.
  var outcome: CapturedOutcome?
  var form: OutcomeComparison.Form
  /// Why there is no outcome.
  var failure = ""
}
