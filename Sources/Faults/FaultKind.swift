/// Kinds of effects, for counting how often each has struck.
public enum FaultKind: String, Sendable, CaseIterable {
  case reason, delay, dribble, goaway, rstStream, reset, halfClose, stall, garbage, tlsAlert, legacy, refuse
  case courier
}

extension FaultEffects {
  /// What these effects do, one kind for each.
  public var kinds: [FaultKind] {
    let all: [(FaultKind, Bool)] = [
      (.reason, reason != nil), (.delay, delay != nil), (.dribble, dribble != nil), (.goaway, goAway != nil),
      (.rstStream, resetStream != nil), (.reset, resetsConnection), (.halfClose, halfCloses),
      (.stall, stalls), (.garbage, garbage != nil), (.tlsAlert, tlsAlert != nil), (.legacy, legacy != nil),
      (.refuse, refuses), (.courier, courier != nil),
    ]
    return all.filter(\.1).map(\.0)
  }
}
