import PushModel

/// Decides what goes wrong, by rules and by magic tokens. Pure: the same seed, rules and moments give the same run.
public final class FaultEngine {
  /// Most rules, as a count: all of them are looked at for each notification.
  public static let ruleLimit = 1000

  /// A fault that strikes.
  public struct Decision: Sendable {
    /// The rule's name, or the word of a magic token.
    public var name: String
    public var effects: FaultEffects
    /// How long the answer is held back, jitter included.
    public var delayMilliseconds: Int64
  }

  private let seed: UInt64
  public private(set) var rules: [FaultRule] = []
  /// Told of each fault that strikes.
  public var onStrike: ((Decision, FaultPoint) -> Void)?

  public init(seed: UInt64) { self.seed = seed }

  /// What strikes at this moment: what the token itself asks for, else the first rule that is about the moment and
  /// whose time it is. Later rules don't notice.
  public func decide(_ point: FaultPoint, now: Timestamp) -> Decision? {
    if point.stage == .push, let magic = MagicToken.read(point.token) {
      return strike(magic.word, magic.effects, magic.effects.delay?.milliseconds ?? 0, point)
    }
    for index in rules.indices where applies(rules[index], point) && rules[index].strikes(now: now) {
      let delay = rules[index].effects.delay
      let jitter = rules[index].random.whole(upTo: delay?.jitterMilliseconds ?? 0)
      return strike(rules[index].name, rules[index].effects, (delay?.milliseconds ?? 0) + jitter, point)
    }
    return nil
  }

  private func applies(_ rule: FaultRule, _ point: FaultPoint) -> Bool {
    rule.isEnabled && rule.effects.stage == point.stage && rule.match.matches(point)
  }

  private func strike(
    _ name: String, _ effects: FaultEffects, _ delay: Int64, _ point: FaultPoint
  ) -> Decision {
    let decision = Decision(name: name, effects: effects, delayMilliseconds: delay)
    onStrike?(decision, point)
    return decision
  }

  /// The rule of this name.
  public subscript(name: String) -> FaultRule? { rules.first { $0.name == name } }

  /// Adds a rule behind the others, or in the place of the one with its name. Counting begins anew. False when there
  /// are too many.
  @discardableResult
  public func set(_ rule: FaultRule) -> Bool {
    var rule = rule
    (rule.hits, rule.seen) = (0, 0)
    rule.random = SeededChoices(seed: seed, name: rule.name)
    if let index = rules.firstIndex(where: { $0.name == rule.name }) {
      rules[index] = rule
    } else {
      guard rules.count < Self.ruleLimit else { return false }
      rules.append(rule)
    }
    return true
  }

  /// Switches a rule on or off; its counts stay. False if there is none of this name.
  @discardableResult
  public func enable(_ name: String, _ isEnabled: Bool) -> Bool {
    guard let index = rules.firstIndex(where: { $0.name == name }) else { return false }
    rules[index].isEnabled = isEnabled
    return true
  }

  /// Takes a rule away; false if there is none of this name.
  public func remove(_ name: String) -> Bool {
    guard let index = rules.firstIndex(where: { $0.name == name }) else { return false }
    rules.remove(at: index)
    return true
  }

  public func removeAll() { rules = [] }
}
