import Basics

/// Decides what goes wrong, by rules and by magic tokens. Pure: the same seed, rules and moments give the same run.
public final class FaultEngine {
  /// Most rules, as a count: all of them are looked at for each notification.
  public static let ruleLimit = 1000

  /// A fault to inject.
  public struct Decision: Sendable {
    /// The rule's name, or the word of a magic token.
    public var name: String
    public var effects: FaultEffects
    /// How long the answer is held back, jitter included.
    public var delayMilliseconds: Int64
    /// What is sent instead of an answer, drawn from the seed; empty unless the effects want some.
    public var garbage: [UInt8] = []

    /// Whether the token asked for it; no rule may be named so.
    public var isMagic: Bool { name.hasPrefix("!") }
  }

  private let seed: UInt64
  /// How often each effect was injected, by its name, by rules and by magic tokens; never set back.
  public private(set) var injections: [String: (byRule: UInt64, byToken: UInt64)] = [:]
  public private(set) var rules: [FaultRule] = []
  private let rests: (_ name: String) -> Void
  private var (isAboutConnections, isAboutPushes, isAboutDeliveries) = (false, false, false)
  /// Whether any rule that is on is about the moment: all that the hot paths ask before they describe one.
  public var injectsIntoConnections: Bool { isAboutConnections }
  public var injectsIntoPushes: Bool { isAboutPushes }
  public var injectsIntoDeliveries: Bool { isAboutDeliveries }

  /// `rests` is told of each rule that is switched off, taken away or replaced: what it still holds up is to go on.
  public init(seed: UInt64, rests: @escaping (_ name: String) -> Void = { _ in }) {
    (self.seed, self.rests) = (seed, rests)
  }

  /// The fault to inject at this moment: what the token itself asks for, else the first rule that is about the moment and
  /// whose time it is. Later rules don't notice.
  public func decide(_ point: FaultPoint, now: Timestamp) -> Decision? {
    if point.stage == .push, let magic = MagicToken.read(point.token) ?? MagicToken.read(word: point.word) {
      var random = SeededChoices(seed: seed, name: magic.word)
      return counted(Self.decision(magic.word, magic.effects, &random))
    }
    for index in rules.indices where applies(rules[index], point) && rules[index].injects(now: now) {
      let (name, effects) = (rules[index].name, rules[index].effects)
      return counted(Self.decision(name, effects, &rules[index].random))
    }
    return nil
  }

  /// A rule that names no interface leaves new connections of the console alone: it is where rules are switched off.
  private func applies(_ rule: FaultRule, _ point: FaultPoint) -> Bool {
    guard rule.isEnabled, rule.stage == point.stage, rule.match.matches(point) else { return false }
    guard point.stage == .connection else { return true }
    if rule.effects.needsStreams { return point.place.mayHaveStreams }
    return point.place != .console || rule.match.place == .console
  }

  private static func decision(
    _ name: String, _ effects: FaultEffects, _ random: inout SeededChoices
  ) -> Decision {
    let jitter = random.whole(upTo: effects.delay?.jitterMilliseconds ?? 0)
    var decision = Decision(
      name: name, effects: effects, delayMilliseconds: (effects.delay?.milliseconds ?? 0) + jitter)
    if let count = effects.garbage { decision.garbage = random.bytes(count) }
    return decision
  }

  private func counted(_ decision: Decision) -> Decision {
    for name in decision.effects.names {
      injections[name, default: (0, 0)].byRule += decision.isMagic ? 0 : 1
      injections[name, default: (0, 0)].byToken += decision.isMagic ? 1 : 0
    }
    return decision
  }

  /// The rule of this name.
  public subscript(name: String) -> FaultRule? { rules.first { $0.name == name } }

  /// Adds a rule behind the others, or in the place of the one with its name. Counting begins again. False when there
  /// are too many.
  @discardableResult
  public func set(_ rule: FaultRule) -> Bool {
    var rule = rule
    (rule.hits, rule.seen) = (0, 0)
    rule.random = SeededChoices(seed: seed, name: rule.name)
    if let index = rules.firstIndex(where: { $0.name == rule.name }) {
      rules[index] = rule
      rests(rule.name)
    } else {
      guard rules.count < Self.ruleLimit else { return false }
      rules.append(rule)
    }
    notice()
    return true
  }

  /// Switches a rule on or off; its counts stay. False if there is none of this name.
  @discardableResult
  public func enable(_ name: String, _ isEnabled: Bool) -> Bool {
    guard let index = rules.firstIndex(where: { $0.name == name }) else { return false }
    rules[index].isEnabled = isEnabled
    notice()
    if !isEnabled { rests(name) }
    return true
  }

  /// Takes a rule away; false if there is none of this name.
  public func remove(_ name: String) -> Bool {
    guard let index = rules.firstIndex(where: { $0.name == name }) else { return false }
    rules.remove(at: index)
    notice()
    rests(name)
    return true
  }

  public func removeAll() {
    let names = rules.map(\.name)
    rules = []
    notice()
    for name in names { rests(name) }
  }

  /// Looks which moments are worth describing.
  private func notice() {
    let stages = Set(rules.filter(\.isEnabled).compactMap(\.stage))
    isAboutConnections = stages.contains(.connection)
    isAboutPushes = stages.contains(.push)
    isAboutDeliveries = stages.contains(.delivery)
  }
}
