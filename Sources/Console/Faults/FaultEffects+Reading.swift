import Faults
import PushModel

extension FaultEffects {
  /// Longest wait that a rule may ask for, in milliseconds.
  static let longestWait: Int64 = 600_000
  /// Most bytes of garbage, and most bytes of one dribbled piece.
  static let mostBytes: Int64 = 1 << 20

  static let memberNames = [
    "reason", "delayMs", "jitterMs", "dribble", "goaway", "rstStream", "reset", "halfClose", "stall",
    "garbage",
    "tlsAlert", "legacy", "refuse", "courier",
  ]

  /// Reads the `effect` of a rule.
  init(_ object: JSONObject) throws {
    self.init()
    try object.check(allowing: Self.memberNames)
    try readAnswer(object)
    try readConnection(object)
  }

  private mutating func readAnswer(_ object: JSONObject) throws {
    if let word = try object.string("reason") {
      guard let rejection = Rejection(reason: word) else {
        throw ConsoleError.bad(
          object.path("reason"), expected: "one of \(JSONValue.reasons.joined(separator: ", "))", got: word)
      }
      reason = rejection
    }
    let wait = try object.integer("delayMs", 0...Self.longestWait)
    let jitter = try object.integer("jitterMs", 0...Self.longestWait)
    if wait != nil || jitter != nil {
      delay = Delay(milliseconds: wait ?? 0, jitterMilliseconds: jitter ?? 0)
    }
    if let inner = try object.object("dribble") {
      try inner.check(allowing: ["bytes", "everyMs"])
      dribble = Dribble(
        bytes: Int(try inner.integer("bytes", 1...Self.mostBytes) ?? 1),
        everyMilliseconds: try inner.integer("everyMs", 1...Self.longestWait) ?? 100)
    }
    if let inner = try object.object("legacy") {
      try inner.check(allowing: ["status", "identifier"])
      guard let status = try inner.integer("status", 0...255) else {
        throw ConsoleError.badRequest("\(inner.path("status")): expected a number from 0 to 255, got nothing")
      }
      legacy = LegacyError(
        status: UInt8(truncatingIfNeeded: status),
        identifier: try inner.integer("identifier", 0...Int64(UInt32.max)).map(UInt32.init))
    }
    garbage = try object.integer("garbage", 1...Self.mostBytes).map(Int.init)
  }

  private mutating func readConnection(_ object: JSONObject) throws {
    if let inner = try object.object("goaway") {
      try inner.check(allowing: ["reason"])
      goAway = GoAway(reason: try inner.string("reason"))
    }
    resetStream = try object.integer("rstStream", 0...Int64(UInt32.max)).map(UInt32.init)
    tlsAlert = try object.integer("tlsAlert", 0...255).map(UInt8.init)
    resetsConnection = try object.bool("reset") ?? false
    halfCloses = try object.bool("halfClose") ?? false
    stalls = try object.bool("stall") ?? false
    refuses = try object.bool("refuse") ?? false
    if let word = try object.string("courier") {
      guard let effect = Courier(rawValue: word) else {
        throw ConsoleError.bad(object.path("courier"), expected: "drop or stall", got: word)
      }
      courier = effect
    }
  }
}
