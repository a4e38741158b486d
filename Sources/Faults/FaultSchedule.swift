import PushModel

/// Which of the moments that a rule is about it strikes at.
public enum FaultSchedule: Equatable, Sendable {
  case always
  /// The next so many, then never again.
  case next(Int)
  /// Each so-manieth.
  case every(Int)
  /// With this probability, from 0 to 1, drawn from the seed.
  case probability(Double)
  /// From one time on, until before another; nil for no bound.
  case window(from: Timestamp?, to: Timestamp?)
}
