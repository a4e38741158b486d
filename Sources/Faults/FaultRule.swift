import PushModel

/// One rule: where, when and what.
public struct FaultRule: Sendable {
  /// Names the rule; a new one of the same name takes its place.
  public var name: String
  public var match: FaultMatch
  public var schedule: FaultSchedule
  public var effects: FaultEffects
  public var isEnabled = true
  /// How often it has struck.
  public internal(set) var hits = 0
  /// How many moments it was about, whether it struck or not.
  public internal(set) var seen = 0
  /// Rules don't share a source of choices: adding one must not change what another does.
  var random = SeededChoices(seed: 0)

  public init(
    name: String, match: FaultMatch = FaultMatch(), schedule: FaultSchedule = .always, effects: FaultEffects
  ) {
    (self.name, self.match, self.schedule, self.effects) = (name, match, schedule, effects)
  }

  /// Takes note of a moment that the rule is about; answers whether it strikes.
  mutating func strikes(now: Timestamp) -> Bool {
    seen += 1
    let strikes =
      switch schedule {
      case .always: true
      case .next(let count): hits < count
      case .every(let count): count > 0 && seen % count == 0
      case .probability(let probability): random.unit() < probability
      case .window(let from, let to): from.map { now >= $0 } ?? true && to.map { now < $0 } ?? true
      }
    if strikes { hits += 1 }
    return strikes
  }
}
