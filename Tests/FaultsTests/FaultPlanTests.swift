import PushModel
import Testing

import Faults

/// What a struck connection does, by effects and by how it speaks.
@Suite struct FaultPlanTests {
  /// Effects of pushes, each as a rule would name it.
  private static let effects: [(name: String, set: @Sendable (inout FaultEffects) -> Void)] = [
    ("stall", { $0.stalls = true }), ("delay", { $0.delay = .init(milliseconds: 5) }),
    ("dribble", { $0.dribble = .init(bytes: 1, everyMilliseconds: 2) }),
    ("reset", { $0.resetsConnection = true }),
    ("rstStream", { $0.resetStream = 7 }), ("garbage", { $0.garbage = 3 }),
    ("reason", { $0.reason = .badDeviceToken }), ("legacy", { $0.legacy = .init(status: 7, identifier: 9) }),
    ("goaway", { $0.goAway = .init(reason: "Shutdown") }), ("halfClose", { $0.halfCloses = true }),
  ]

  private func plan(_ names: [String], _ channel: FaultChannel) throws -> FaultPlan {
    var effects = FaultEffects()
    for name in names { try #require(Self.effects.first { $0.name == name }).set(&effects) }
    let engine = FaultEngine(seed: 1)
    engine.set(FaultRule(name: "rule", effects: effects))
    return FaultPlan(
      try #require(engine.decide(FaultPoint(.push, at: .gateway), now: Timestamp(seconds: 1))), on: channel)
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
    ])
  func together(effects: String, frames: String, streams: String, exchange: String) throws {
    #expect(try text(effects, .frames) == frames)
    #expect(try text(effects, .streams) == streams)
    #expect(try text(effects, .exchange) == exchange)
  }

  @Test("Whatever is combined, one thing becomes of the push, and nothing follows the end of the connection")
  func invariants() throws {
    for bits in 1..<(1 << Self.effects.count) {
      let names = Self.effects.indices.filter { bits >> $0 & 1 == 1 }.map { Self.effects[$0].name }
      for channel in FaultChannel.allCases {
        let steps = try plan(names, channel).steps
        #expect(steps.count(where: \.isFate) == 1, "\(names) on \(channel)")
        #expect(steps.count(where: \.endsConnection) <= 1, "\(names) on \(channel)")
        if let end = steps.firstIndex(where: \.endsConnection) { #expect(end == steps.count - 1) }
        if steps.contains(.swallow) { #expect(steps.last != .swallow, "\(names) on \(channel)") }
        if channel != .streams {
          #expect(!steps.contains { [.goAway, .resetStream].contains($0.kind) })
        }
      }
    }
  }

  @Test("What becomes of a push without a connection is what would have become of it on one")
  func fate() throws {
    #expect(try plan(["stall", "reason"], .frames).fate == .swallow)
    #expect(try plan(["dribble"], .streams).fate == .take)
    #expect(try plan(["dribble", "garbage"], .streams).fate == .swallow)
    #expect(try plan(["goaway"], .streams).fate == .swallow)
    guard case .refuse(let refusal) = try plan(["goaway"], .frames).fate else {
      Issue.record("a server that goes says so")
      return
    }
    #expect(refusal.status == 10 && refusal.rejection == .shutdown)
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
    #expect(rows.count == 55 && Set(rows).count == 55)
    print(rows.joined(separator: "\n"))
  }
}

extension FaultStep {
  fileprivate enum Kind { case before, fate, resetStream, goAway, end }

  fileprivate var kind: Kind {
    switch self {
    case .dribble: .before
    case .take, .refuse, .swallow: .fate
    case .resetStream: .resetStream
    case .goAway: .goAway
    case .reset, .garbage, .halfClose, .close: .end
    }
  }

  fileprivate var isFate: Bool { kind == .fate }
  fileprivate var endsConnection: Bool { kind == .end }
}

extension FaultPlan {
  /// Steps in order, as the tables write them: a packet by its status, an answer by its reason.
  fileprivate func text(_ channel: FaultChannel) -> String {
    let first: [String] =
      switch hold {
      case .stall?: ["stall"]
      case .delay(let milliseconds)?: ["delay \(milliseconds)"]
      case nil: []
      }
    return (first + steps.map { $0.text(channel) }).joined(separator: ", ")
  }
}

extension FaultStep {
  fileprivate func text(_ channel: FaultChannel) -> String {
    switch self {
    case .dribble: "dribble"
    case .take: "take"
    case .refuse(let refusal) where channel == .frames:
      "refuse \(refusal.status)" + (refusal.identifier.map { " of \($0)" } ?? "")
    case .refuse(let refusal): "refuse \(refusal.rejection.reason)"
    case .swallow: "swallow"
    case .resetStream(let code): "rst \(code)"
    case .goAway(let goAway): "goaway \(goAway.reason ?? "")"
    case .reset: "reset"
    case .garbage(let bytes): "garbage \(bytes.count)"
    case .halfClose: "halfClose"
    case .close: "close"
    }
  }
}
