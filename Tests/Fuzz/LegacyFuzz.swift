import Basics
import LegacyWire
import PushModel

/// The gateway's decoder: whatever the segmentation, the same notifications and the same failure. What a provider reads,
/// the tuples of the feedback service, likewise.
struct LegacyFuzz: FuzzTarget {
  private struct Outcome: Equatable {
    var frames: [[UInt8]] = []
    var checks: [Rejection?] = []
    var failure: LegacyParseFailure?
  }

  func take(_ input: UnsafeRawBufferPointer) {
    var whole = Outcome()
    var decoder = LegacyDecoder()
    whole.failure = unsafe decoder.receive(input.span) { note($0, in: &whole) }

    var inPieces = Outcome()
    var second = LegacyDecoder()
    input.forEachPiece { piece in
      let failure = unsafe second.receive(piece.span) { note($0, in: &inPieces) }
      inPieces.failure = inPieces.failure ?? failure
      precondition(second.heldBytes <= LegacyLimits.frame)
    }
    precondition(whole == inPieces)
    precondition(decoder.heldBytes == second.heldBytes)
    feedback(input)
  }

  private func feedback(_ input: UnsafeRawBufferPointer) {
    var bytes = Array(input)
    let tuples = FeedbackTuple.take(from: &bytes)
    precondition((tuples.flatMap(\.bytes) + bytes).elementsEqual(input))

    var held: [UInt8] = []
    var inPieces: [FeedbackTuple] = []
    input.forEachPiece { piece in
      held += piece
      inPieces += FeedbackTuple.take(from: &held)
    }
    precondition(tuples == inPieces && bytes == held)
  }

  private func note(_ notification: LegacyNotification, in outcome: inout Outcome) -> LegacyDecoder.Next {
    outcome.frames.append(Array(notification.frame))
    outcome.checks.append(LegacyCheck.rejection(notification, LegacyLimits()))
    return .goOn
  }
}
