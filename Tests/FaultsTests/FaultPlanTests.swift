import Basics
import Testing

import Faults

/// What a connection does that a fault is injected into, by effects and by how it speaks.
@Suite struct FaultPlanTests {
  /// Effects of pushes, each as a rule would name it.
  private static let effects: [(name: String, set: @Sendable (inout FaultEffects) -> Void)] = [
    ("stall", { $0.stalls = true }), ("delay", { $0.delay = .init(milliseconds: 5) }),
    ("dribble", { $0.dribble = .init(bytes: 1, everyMilliseconds: 2) }),
    ("reset", { $0.resetsConnection = true }),
    ("rstStream", { $0.resetStream = 7 }), ("garbage", { $0.garbage = 3 }),
    ("reason", { $0.reason = .badDeviceToken }), ("legacy", { $0.legacy = .init(status: 7, identifier: 9) }),
    ("goaway", { $0.goAway = .init(reason: "Shutdown") }), ("halfClose", { $0.halfCloses = true }),
    ("taken", { $0.takesPush = true }), ("streamLimit", { $0.streamLimit = 3 }),
    ("zero", { $0.goAway = .init(lastStream: .zero) }),
    ("highest", { $0.goAway = .init(lastStream: .highest) }),
    ("open", { $0.goAway = .init(keepsOpen: true) }),
  ]

  private func plan(_ names: [String], _ channel: FaultChannel) throws -> FaultPlan {
    FaultPlan(try decision(names), on: channel)
  }

  private func planWithoutConnection(_ names: [String], _ channel: FaultChannel) throws -> FaultPlan {
    FaultPlan(withoutConnection: try decision(names), as: channel)
  }

  private func decision(_ names: [String]) throws -> FaultEngine.Decision {
    var effects = FaultEffects()
    for name in names { try #require(Self.effects.first { $0.name == name }).set(&effects) }
    let engine = FaultEngine(seed: 1)
    engine.set(FaultRule(name: "rule", effects: effects))
    return try #require(engine.decide(FaultPoint(.push, at: .gateway), now: Timestamp(seconds: 1)))
  }

  private func text(_ names: String, _ channel: FaultChannel) throws -> String {
    try plan(names.split(separator: " ").map(String.init), channel).text(channel)
  }

  @Test(
    "One effect alone, on each kind of connection",
    arguments: [
      ("stall", "stall, take", "stall, take", "stall, take"),
      ("delay", "delay 5, take", "delay 5, take", "delay 5, take"),
      ("dribble", "dribble, take", "dribble, take", "dribble, take"),
      ("reset", "swallow, reset", "swallow, reset", "swallow, reset"),
      ("rstStream", "swallow, reset", "swallow, rst 7", "swallow, reset"),
      ("garbage", "swallow, garbage 3", "swallow, garbage 3", "swallow, garbage 3"),
      ("reason", "refuse 8, close", "refuse BadDeviceToken", "refuse BadDeviceToken"),
      ("legacy", "refuse 7 of 9, close", "refuse PayloadTooLarge", "refuse PayloadTooLarge"),
      ("goaway", "refuse 10, close", "swallow, goaway Shutdown", "refuse Shutdown, close"),
      ("halfClose", "swallow, halfClose", "swallow, halfClose", "swallow, halfClose"),
      ("streamLimit", "take", "streams 3, take", "take"),
      ("zero", "refuse 10 of 0, close", "swallow, goaway zero", "refuse Shutdown, close"),
      ("highest", "take, farewell 10, close", "take, goaway highest", "take, farewell Shutdown, close"),
      ("open", "refuse 10, close", "swallow, goaway open", "refuse Shutdown"),
    ])
  func single(effect: String, frames: String, streams: String, exchange: String) throws {
    #expect(try text(effect, .frames) == frames)
    #expect(try text(effect, .streams) == streams)
    #expect(try text(effect, .exchange) == exchange)
  }

  @Test(
    "Effects that exclude each other are settled alike everywhere",
    arguments: [
      (
        "stall delay reason", "stall, refuse 8, close", "stall, refuse BadDeviceToken",
        "stall, refuse BadDeviceToken"
      ),
      ("reset rstStream garbage reason", "swallow, reset", "swallow, reset", "swallow, reset"),
      ("rstStream garbage", "swallow, reset", "swallow, rst 7", "swallow, reset"),
      ("garbage goaway halfClose", "swallow, garbage 3", "swallow, garbage 3", "swallow, garbage 3"),
      ("reason legacy", "refuse 7 of 9, close", "refuse BadDeviceToken", "refuse BadDeviceToken"),
      (
        "reason halfClose", "refuse 8, halfClose", "refuse BadDeviceToken, halfClose",
        "refuse BadDeviceToken, close"
      ),
      (
        "reason goaway", "refuse 8, close", "refuse BadDeviceToken, goaway Shutdown",
        "refuse BadDeviceToken, close"
      ),
      (
        "goaway halfClose", "refuse 10, halfClose", "swallow, goaway Shutdown, halfClose",
        "refuse Shutdown, close"
      ),
      (
        "delay dribble reset", "delay 5, dribble, swallow, reset", "delay 5, dribble, swallow, reset",
        "delay 5, dribble, swallow, reset"
      ),
      (
        "streamLimit reset", "swallow, reset", "streams 3, swallow, reset", "swallow, reset"
      ),
      (
        "highest reason", "refuse 8, close", "refuse BadDeviceToken, goaway highest",
        "refuse BadDeviceToken, close"
      ),
      (
        "highest halfClose", "take, farewell 10, halfClose", "take, goaway highest, halfClose",
        "take, farewell Shutdown, close"
      ),
      ("highest garbage", "swallow, garbage 3", "swallow, garbage 3", "swallow, garbage 3"),
    ])
  func together(effects: String, frames: String, streams: String, exchange: String) throws {
    #expect(try text(effects, .frames) == frames)
    #expect(try text(effects, .streams) == streams)
    #expect(try text(effects, .exchange) == exchange)
  }

  @Test(
    "What is taken first is not answered, and the connection breaks as it would have",
    arguments: [
      ("taken reset", "takeInSilence, reset", "takeInSilence, reset", "takeInSilence, reset"),
      ("taken rstStream", "takeInSilence, reset", "takeInSilence, rst 7", "takeInSilence, reset"),
      ("taken garbage", "takeInSilence, garbage 3", "takeInSilence, garbage 3", "takeInSilence, garbage 3"),
      ("taken halfClose", "takeInSilence, halfClose", "takeInSilence, halfClose", "takeInSilence, halfClose"),
      (
        "taken goaway", "take, farewell 10, close", "takeInSilence, goaway Shutdown, halfClose",
        "takeInSilence, halfClose"
      ),
      ("taken open", "take, farewell 10, close", "takeInSilence, goaway open", "takeInSilence, halfClose"),
      (
        "taken halfClose reason", "takeInSilence, halfClose", "takeInSilence, halfClose",
        "takeInSilence, halfClose"
      ),
      ("taken reason", "refuse 8, close", "refuse BadDeviceToken", "refuse BadDeviceToken"),
    ])
  func taken(effects: String, frames: String, streams: String, exchange: String) throws {
    try together(effects: effects, frames: frames, streams: streams, exchange: exchange)
  }

  @Test(
    "Whatever is combined, a push that is swallowed has its connection or stream end, and each kind ends its own way"
  )
  func invariants() throws {
    for bits in 1..<(1 << Self.effects.count) {
      let names = Self.effects.indices.filter { bits >> $0 & 1 == 1 }.map { Self.effects[$0].name }
      let decision = try decision(names)
      for channel in FaultChannel.allCases {
        let plan = FaultPlan(decision, on: channel)
        let ends = plan.goAway != nil || plan.breakage != nil
        if plan.fate == .swallow || plan.fate == .takeInSilence { #expect(ends, "\(names) on \(channel)") }
        if plan.fate == .take, plan.goAway?.lastStream != .highest {
          #expect(!ends, "\(names) on \(channel)")
        }
        if plan.farewell != nil { #expect(plan.fate == .take && !ends, "\(names) on \(channel)") }
        if case .refuse(let refusal) = plan.fate {
          #expect(channel != .frames || refusal.ending != nil, "\(names): an error packet is the last")
          #expect(refusal.ending == nil || !ends, "\(names) on \(channel)")
        }
        if channel != .streams {
          #expect(plan.goAway == nil && plan.streamLimit == nil, "\(names) on \(channel)")
          if case .resetStream? = plan.breakage { Issue.record("\(names) on \(channel)") }
        }
      }
    }
  }

  @Test("What becomes of a push without a connection is what would have become of it on one")
  func fate() throws {
    func fate(_ names: [String], _ channel: FaultChannel) throws -> FaultFate {
      let plan = try planWithoutConnection(names, channel)
      #expect(plan.dribble == nil && plan.goAway == nil && plan.breakage == nil)
      #expect(plan.streamLimit == nil && plan.farewell == nil)
      return plan.fate
    }
    #expect(try fate(["stall", "reason"], .frames) == .swallow)
    #expect(try fate(["dribble"], .streams) == .take)
    #expect(try fate(["dribble", "garbage"], .streams) == .swallow)
    #expect(try fate(["goaway"], .streams) == .swallow)
    #expect(try fate(["highest"], .frames) == .take)
    #expect(try fate(["taken", "reset"], .streams) == .takeInSilence)
    #expect(try fate(["streamLimit"], .streams) == .take)
    guard case .refuse(let refusal) = try fate(["goaway"], .frames) else {
      Issue.record("a server that goes says so")
      return
    }
    #expect(refusal.status == 10 && refusal.rejection == .shutdown)
    #expect(try planWithoutConnection(["delay"], .frames).hold == .delay(milliseconds: 5))
    #expect(try planWithoutConnection(["stall", "delay"], .frames).hold == .delay(milliseconds: 5))
    #expect(try planWithoutConnection(["stall", "delay"], .frames).fate == .swallow)
    #expect(try planWithoutConnection(["stall"], .frames).hold == nil)
  }

  @Test("The table of all pairs is whole")
  func table() throws {
    var rows: [String] = []
    for (index, one) in Self.effects.enumerated() {
      for other in Self.effects[index...] {
        let names = one.name == other.name ? [one.name] : [one.name, other.name]
        let cells = try FaultChannel.allCases.map { "\($0): \(try plan(names, $0).text($0))" }
        rows.append("\(names.joined(separator: " + ")): \(cells.joined(separator: "; "))")
      }
    }
    #expect(rows.count == 120 && Set(rows).count == 120)
    print(rows.joined(separator: "\n"))
  }
}

extension FaultPlan {
  /// What happens in order, as the tables write it: a packet by its status, an answer by its reason.
  fileprivate func text(_ channel: FaultChannel) -> String {
    let words =
      [hold?.text, dribble.map { _ in "dribble" }, streamLimit.map { "streams \($0)" }, fate.text(channel)]
      + [goAway?.text, farewell.map { "farewell \($0.text(channel))" }, breakage?.text]
    return words.compactMap(\.self).joined(separator: ", ")
  }
}

extension FaultPlan.Hold {
  fileprivate var text: String {
    switch self {
    case .stall: "stall"
    case .delay(let milliseconds): "delay \(milliseconds)"
    }
  }
}

extension FaultFate {
  fileprivate func text(_ channel: FaultChannel) -> String {
    guard case .refuse(let refusal) = self else { return "\(self)" }
    return "refuse \(refusal.text(channel))"
  }
}

extension FaultRefusal {
  fileprivate func text(_ channel: FaultChannel) -> String {
    let what =
      channel == .frames ? "\(status)" + (identifier.map { " of \($0)" } ?? "") : rejection.reason
    return what + (ending.map { ", \($0)" } ?? "")
  }
}

extension FaultEffects.GoAway {
  fileprivate var text: String {
    let words = [
      "goaway", reason, lastStream == .judged ? nil : lastStream.rawValue, keepsOpen ? "open" : nil,
    ]
    return words.compactMap(\.self).joined(separator: " ")
  }
}

extension FaultBreakage {
  fileprivate var text: String {
    switch self {
    case .resetStream(let code): "rst \(code)"
    case .garbage(let bytes): "garbage \(bytes.count)"
    case .reset, .halfClose: "\(self)"
    }
  }
}
