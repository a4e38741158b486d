import Basics
import PushModel
import Testing

import Faults

@Suite struct FaultEngineTests {
  private let now = Timestamp(seconds: 1000)

  private func failing(_ reason: Rejection = .serviceUnavailable) -> FaultEffects {
    var effects = FaultEffects()
    effects.reason = reason
    return effects
  }

  /// Into which of `count` pushes a fault is injected.
  private func faulted(_ engine: FaultEngine, _ count: Int, at time: Timestamp? = nil) -> [Bool] {
    (0..<count).map { _ in engine.decide(FaultPoint(.push, at: .provider), now: time ?? now) != nil }
  }

  private func engine(_ schedule: FaultSchedule, seed: UInt64 = 1) -> FaultEngine {
    let engine = FaultEngine(seed: seed)
    engine.set(FaultRule(name: "rule", schedule: schedule, effects: failing()))
    return engine
  }

  @Test("The next two fail, then all is well")
  func next() {
    let engine = engine(.next(2))
    #expect(faulted(engine, 5) == [true, true, false, false, false])
    #expect(engine["rule"]?.hits == 2 && engine["rule"]?.seen == 5)
  }

  @Test("Each third fails")
  func every() { #expect(faulted(engine(.every(3)), 7) == [false, false, true, false, false, true, false]) }

  @Test("The third fails, once, whatever came before")
  func nth() {
    let engine = engine(.nth(3))
    #expect(faulted(engine, 7) == [false, false, true, false, false, false, false])
    #expect(engine["rule"]?.hits == 1 && engine["rule"]?.seen == 7)
    #expect(faulted(self.engine(.nth(1)), 2) == [true, false])
  }

  @Test("A window has a first moment and ends before its last")
  func window() {
    let engine = engine(.window(from: Timestamp(seconds: 10), to: Timestamp(seconds: 20)))
    let times: [Int64] = [9, 10, 19, 20]
    #expect(times.flatMap { faulted(engine, 1, at: Timestamp(seconds: $0)) } == [false, true, true, false])
    #expect(faulted(self.engine(.window(from: nil, to: nil)), 1) == [true])
  }

  @Test("Probability follows the seed: the same seed the same run, another seed another")
  func probability() {
    let runs = [1, 1, 2].map { faulted(engine(.probability(0.5), seed: $0), 200) }
    #expect(runs[0] == runs[1] && runs[0] != runs[2])
    #expect((70...130).contains(runs[0].count { $0 }))
    #expect(!faulted(engine(.probability(0)), 100).contains(true))
    #expect(!faulted(engine(.probability(1)), 100).contains(false))
  }

  @Test("A rule's choices do not depend on which other rules there are")
  func independent() {
    let (alone, beside) = (FaultEngine(seed: 9), FaultEngine(seed: 9))
    var (atGateway, atProvider) = (FaultMatch(), FaultMatch())
    (atGateway.place, atProvider.place) = (.gateway, .provider)
    beside.set(FaultRule(name: "other", match: atGateway, schedule: .probability(0.5), effects: failing()))
    for engine in [alone, beside] {
      engine.set(
        FaultRule(name: "rule", match: atProvider, schedule: .probability(0.3), effects: failing()))
    }
    var others = 0
    for _ in 0..<50 {
      if beside.decide(FaultPoint(.push, at: .gateway), now: now) != nil { others += 1 }
      #expect(faulted(alone, 1) == faulted(beside, 1))
    }
    #expect((10...40).contains(others))
  }

  @Test("The first rule that injects its fault is the only one that does")
  func first() {
    let engine = engine(.next(1))
    engine.set(FaultRule(name: "second", effects: failing(.internalServerError)))
    let point = FaultPoint(.push, at: .provider)
    #expect(engine.decide(point, now: now)?.name == "rule")
    #expect(engine["second"]?.seen == 0)
    #expect(engine.decide(point, now: now)?.effects.reason == .internalServerError)
  }

  @Test("A rule is about what it names, and about nothing else")
  func matching() {
    let token: [UInt8] = Array(0..<32)
    var match = FaultMatch()
    (match.place, match.topic, match.token) = (.provider, "com.example.app", token)
    (match.priority, match.connection) = (.immediate, "127.0.0.1:5")
    var point = FaultPoint(.push, at: .provider)
    (point.topic, point.token) = ("com.example.app", token)
    (point.priority, point.connection) = (.immediate, "127.0.0.1:5")
    #expect(match.matches(point) && FaultMatch().matches(point))
    let others: [(inout FaultPoint) -> Void] = [
      { $0.place = .gateway }, { $0.topic = nil }, { $0.priority = .low },
      { $0.connection = "127.0.0.1:6" },
      { $0.token.removeFirst() },
    ]
    for change in others {
      var other = point
      change(&other)
      #expect(!match.matches(other))
    }
  }

  @Test("A rule injects its fault only at its moment; effects of two moments are none")
  func stages() {
    var refusal = FaultEffects()
    refusal.refuses = true
    let engine = FaultEngine(seed: 1)
    engine.set(FaultRule(name: "refuse", effects: refusal))
    #expect(faulted(engine, 1) == [false])
    #expect(engine.decide(FaultPoint(.connection, at: .gateway), now: now)?.effects == refusal)
    var drop = FaultEffects()
    drop.courier = .drop
    #expect(drop.stage == .delivery && failing().stage == .push)
    drop.reason = .badTopic
    #expect(drop.stage == nil && FaultEffects().stage == nil)
  }

  @Test("Jitter stays in its bounds and follows the seed")
  func jitter() {
    func delays(_ seed: UInt64) -> [Int64] {
      let engine = FaultEngine(seed: seed)
      var effects = FaultEffects()
      effects.delay = .init(milliseconds: 100, jitterMilliseconds: 50)
      engine.set(FaultRule(name: "slow", effects: effects))
      let point = FaultPoint(.push, at: .gateway)
      return (0..<100).compactMap { _ in engine.decide(point, now: now)?.delayMilliseconds }
    }
    #expect(delays(3) == delays(3) && delays(3) != delays(4))
    #expect(delays(3).allSatisfy { (100...150).contains($0) } && Set(delays(3)).count > 20)
  }

  @Test("Switching off restores at once and keeps the counts; setting anew begins to count anew")
  func switching() {
    let engine = engine(.next(5))
    _ = faulted(engine, 2)
    #expect(engine.enable("rule", false) && !engine.enable("none", false))
    #expect(faulted(engine, 2) == [false, false] && engine["rule"]?.hits == 2)
    engine.enable("rule", true)
    #expect(faulted(engine, 1) == [true])
    engine.set(FaultRule(name: "rule", schedule: .next(1), effects: failing()))
    #expect(engine["rule"]?.hits == 0 && engine.rules.count == 1)
    #expect(engine.remove("rule") && !engine.remove("rule"))
    #expect(faulted(engine, 1) == [false])
  }

  /// `Documentation/limits.md`
  @Test("There are a thousand rules at most")
  func limit() {
    let engine = FaultEngine(seed: 1)
    for number in 0..<1000 {
      #expect(engine.set(FaultRule(name: "\(number)", effects: failing())))
    }
    #expect(!engine.set(FaultRule(name: "one more", effects: failing())))
    #expect(engine.set(FaultRule(name: "7", effects: failing())))
    engine.removeAll()
    #expect(engine.rules.isEmpty)
  }

  @Test("Whoever asks hears whose fault is injected, each time")
  func named() {
    let engine = engine(.next(1))
    let point = FaultPoint(.push, at: .provider)
    #expect((0..<3).map { _ in engine.decide(point, now: now)?.name } == ["rule", nil, nil])
  }

  @Test("Every preset can be injected at one moment", arguments: FaultPreset.allCases)
  func presets(preset: FaultPreset) { #expect(preset.rule.effects.stage != nil) }

  @Test("The engine says which moments rules that are on are about")
  func injections() {
    let engine = FaultEngine(seed: 1)
    #expect(!engine.injectsIntoPushes && !engine.injectsIntoConnections && !engine.injectsIntoDeliveries)
    engine.set(FaultRule(name: "push", effects: failing()))
    var (refusal, drop) = (FaultEffects(), FaultEffects())
    (refusal.refuses, drop.courier) = (true, .drop)
    engine.set(FaultRule(name: "connection", effects: refusal))
    #expect(engine.injectsIntoPushes && engine.injectsIntoConnections && !engine.injectsIntoDeliveries)
    engine.set(FaultRule(name: "push", effects: drop))
    #expect(!engine.injectsIntoPushes && engine.injectsIntoDeliveries)
    engine.enable("push", false)
    #expect(!engine.injectsIntoDeliveries)
    engine.enable("push", true)
    #expect(engine.injectsIntoDeliveries)
    _ = engine.remove("connection")
    #expect(!engine.injectsIntoConnections)
    engine.removeAll()
    #expect(!engine.injectsIntoDeliveries)
  }

  @Test("A rule that is switched off, replaced or taken away says so, once each")
  func rests() {
    var rested: [String] = []
    let engine = FaultEngine(seed: 1) { rested.append($0) }
    engine.set(FaultRule(name: "rule", effects: failing()))
    engine.enable("rule", true)
    #expect(rested.isEmpty)
    engine.enable("rule", false)
    engine.set(FaultRule(name: "rule", effects: failing()))
    engine.set(FaultRule(name: "other", effects: failing()))
    _ = engine.remove("rule")
    engine.removeAll()
    #expect(rested == ["rule", "rule", "rule", "other"])
  }

  @Test("A rule without an interface leaves new connections of the console alone")
  func console() {
    let engine = FaultEngine(seed: 1)
    var refusal = FaultEffects()
    refusal.refuses = true
    engine.set(FaultRule(name: "all", effects: refusal))
    let point = FaultPoint(.connection, at: .console)
    #expect(engine.decide(point, now: now) == nil && engine["all"]?.seen == 0)
    var match = FaultMatch()
    match.place = .console
    engine.set(FaultRule(name: "console", match: match, effects: refusal))
    #expect(engine.decide(point, now: now)?.name == "console")
  }

  @Test("A limit of streams is for connections that may have some, and passes the others over")
  func streamLimits() {
    let engine = FaultEngine(seed: 1)
    var limit = FaultEffects()
    limit.initialStreamLimit = 1
    engine.set(FaultRule(name: "limit", schedule: .next(3), effects: limit))
    let told = FaultPlace.allCases.filter {
      engine.decide(FaultPoint(.connection, at: $0), now: now)?.effects.initialStreamLimit == 1
    }
    #expect(told == [.gateway, .feedback, .provider] && engine["limit"]?.seen == 3)
    limit.refuses = true
    engine.set(FaultRule(name: "limit", effects: limit))
    #expect(engine.decide(FaultPoint(.connection, at: .courier), now: now) != nil)
  }

  @Test("Garbage has its length and follows the seed")
  func garbage() {
    func drawn(_ seed: UInt64) -> [[UInt8]] {
      let engine = FaultEngine(seed: seed)
      var effects = FaultEffects()
      effects.garbage = 40
      engine.set(FaultRule(name: "rule", effects: effects))
      return (0..<3).compactMap { _ in engine.decide(FaultPoint(.push, at: .gateway), now: now)?.garbage }
    }
    #expect(drawn(1) == drawn(1) && drawn(1) != drawn(2))
    #expect(drawn(1).map(\.count) == [40, 40, 40] && Set(drawn(1)).count == 3)
  }

  @Test("Whoever is told of an injection sees it counted")
  func counted() {
    let engine = engine(.always)
    let hits = (0..<2).map { _ in faulted(engine, 1) == [true] ? engine["rule"]?.hits : nil }
    #expect(hits == [1, 2])
  }
}
