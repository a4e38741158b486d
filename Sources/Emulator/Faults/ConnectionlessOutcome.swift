import Faults
import PushModel

/// What a fault comes to for a push that has no connection which could go wrong.
enum ConnectionlessOutcome: Equatable {
  case refused(Rejection)
  /// The connection or the stream would have ended, or nothing would have moved.
  case unanswered
  /// A delay or a dribble alone: it is taken up as though no fault had struck.
  case takenUp
}

extension FaultEngine.Decision {
  func outcome(inFrames isFrame: Bool) -> ConnectionlessOutcome {
    if effects.stalls || effects.resetsConnection || effects.resetStream != nil || !garbage.isEmpty {
      return .unanswered
    }
    if isFrame, let legacy = effects.legacy { return .refused(Rejection(legacyStatus: legacy.status)) }
    if let rejection { return .refused(rejection) }
    // On the binary interface a server that goes says so by an error packet
    // (`Documentation/binary-protocol.md#error-packet`).
    if effects.goAway != nil { return isFrame ? .refused(.shutdown) : .unanswered }
    return effects.halfCloses ? .unanswered : .takenUp
  }
}
