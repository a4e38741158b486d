import Basics

/// One rule: where, when and what.
public struct FaultRule: JSONDocument {
  /// Names the rule; a new one of the same name takes its place.
  public var name: String
  public var match: FaultMatch
  public var schedule: FaultSchedule
  public var effects: FaultEffects {
    didSet { stage = effects.stage }
  }
  /// The moment that the effects are of, which is asked for at each push.
  private(set) var stage: FaultStage?
  public var isEnabled = true
  /// How often it was injected.
  public internal(set) var hits = 0
  /// How many moments it was about, whether it was injected or not.
  public internal(set) var seen = 0
  /// Rules don't share a source of choices: adding one must not change what another does.
  var random = SeededChoices(seed: 0)

  public init(
    name: String, match: FaultMatch = FaultMatch(), schedule: FaultSchedule = .always, effects: FaultEffects
  ) {
    (self.name, self.match, self.schedule, self.effects) = (name, match, schedule, effects)
    stage = effects.stage
  }

  /// Takes note of a moment that the rule is about; answers whether to inject its fault.
  mutating func injects(now: Timestamp) -> Bool {
    seen += 1
    let injects =
      switch schedule {
      case .always: true
      case .next(let count): hits < count
      case .every(let count): count > 0 && seen % count == 0
      case .nth(let count): seen == count
      case .probability(let probability): random.unit() < probability
      case .window(let from, let to): from.map { now >= $0 } ?? true && to.map { now < $0 } ?? true
      }
    if injects { hits += 1 }
    return injects
  }
}

/// Rules as requests write them (`Documentation/faults.md#rules`); answers show them with counts.
extension FaultRule {
  public static let form = JSONForm<FaultRule>(
    [
      JSONField("name", .name, \.name),
      JSONField("preset", .word, get: { _ in FaultPreset?.none }, set: { _, _ in }),
      JSONField("match", FaultMatch.form.kind(FaultMatch()), \.match),
      JSONField("when", FaultSchedule.kind, \.schedule),
      JSONField("effect", FaultEffects.form.kind(FaultEffects()), \.effects),
      JSONField("enabled", .flag, \.isEnabled),
      JSONField(ignored: "hits"), JSONField(ignored: "seen"),
    ],
    rules: [
      (
        "anyOf",
        [
          ["required": ["effect"]], ["required": ["preset"]],
          [
            "required": ["name", "enabled"],
            "not": ["anyOf": [["required": ["match"]], ["required": ["when"]]]],
          ],
        ]
      )
    ])

  /// Reads a rule, which has this name unless it says another; a preset gives what the request leaves out.
  public init(_ body: JSONObject, name: String) throws {
    let body = body.droppingNull("when")
    let preset = try body.value("preset", JSONKind<FaultPreset>.word)?.rule
    guard preset != nil || body["effect"] != nil else {
      let place = body.place.isEmpty ? "the body" : body.place
      throw DocumentError("\(place): expected effect, or preset, got neither")
    }
    self = preset ?? FaultRule(name: name, effects: FaultEffects())
    self.name = name
    try Self.form.read(body, into: &self)
    guard let stage else {
      let names = FaultEffects.form.members(effects).map(\.0)
      let words =
        names.isEmpty
        ? "one of \(FaultEffects.form.names.joined(separator: ", "))"
        : "effects of one moment: refuse, tlsAlert and initialStreamLimit are for new connections, courier is for "
          + "deliveries, the others are for pushes; make a rule for each"
      throw DocumentError(
        "\(body.path("effect")): expected \(words), got \(names.isEmpty ? "none" : names.joined(separator: ", "))"
      )
    }
    try effects.check(place: body.path("effect"))
    try match.check(for: stage, effects, place: body.path("match"))
  }
}
