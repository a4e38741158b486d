import Faults
import PushModel

/// Rules as requests write them (`Documentation/faults.md#rules`).
extension FaultRule {
  static let memberNames = ["name", "preset", "match", "when", "effect", "enabled", "hits", "seen"]

  /// Reads a rule; a preset gives what the request leaves out. Counts are ignored, so that what was read can be sent
  /// back.
  init(_ body: JSONObject, name: String) throws {
    let body = body.droppingNull("when")
    let preset = try Self.preset(body)
    guard let effects = try body.object("effect").map(FaultEffects.init) ?? preset?.effects else {
      throw ConsoleError.badRequest(
        "\(body.place.isEmpty ? "the body" : body.place): expected effect, or preset")
    }
    guard let stage = effects.stage else {
      let effect = "\(body.path("effect")): expected "
      guard effects != FaultEffects() else {
        throw ConsoleError.badRequest(effect + "one of \(FaultEffects.memberNames.joined(separator: ", "))")
      }
      throw ConsoleError.badRequest(
        effect
          + "effects of one moment: refuse and tlsAlert are for new connections, courier is for deliveries, "
          + "the others are for pushes; make a rule for each")
    }
    let match = try body.object("match").map(FaultMatch.init) ?? preset?.match ?? FaultMatch()
    try match.check(for: stage, place: body.path("match"))
    let schedule = try body.object("when").map(FaultSchedule.init) ?? preset?.schedule ?? .always
    self.init(name: name, match: match, schedule: schedule, effects: effects)
    isEnabled = try body.bool("enabled") ?? true
  }

  private static func preset(_ body: JSONObject) throws -> FaultRule? {
    guard let text = try body.string("preset") else { return nil }
    guard let preset = FaultPreset(rawValue: text) else {
      let words = FaultPreset.allCases.map(\.rawValue).joined(separator: ", ")
      throw ConsoleError.bad(body.path("preset"), expected: "one of \(words)", got: text)
    }
    return preset.rule
  }
}

extension FaultMatch {
  fileprivate init(_ object: JSONObject) throws {
    self.init()
    try object.check(allowing: ["interface", "topic", "token", "priority", "connection"])
    if let text = try object.string("interface") {
      guard let place = FaultPlace(rawValue: text) else {
        let words = FaultPlace.allCases.map(\.rawValue).joined(separator: ", ")
        throw ConsoleError.bad(object.path("interface"), expected: "one of \(words)", got: text)
      }
      self.place = place
    }
    topic = try object.string("topic")
    connection = try object.string("connection")
    if let text = try object.string("token") {
      guard let bytes = Hex.decode(text), !bytes.isEmpty else {
        throw ConsoleError.bad(object.path("token"), expected: "hexadecimal digits", got: text)
      }
      token = bytes
    }
    if let number = try object.integer("priority", 0...255) {
      guard let priority = UInt8(exactly: number).flatMap(Priority.init(rawValue:)) else {
        throw ConsoleError.bad(object.path("priority"), expected: "1, 5 or 10", got: "\(number)")
      }
      self.priority = priority
    }
  }
}

extension FaultMatch {
  /// Refuses what is true of no moment of its kind: such a rule would never strike, and nobody would see why.
  fileprivate func check(for stage: FaultStage, place path: String) throws {
    let isApart = (place == .courier) != (stage == .delivery)
    if let place, stage != .connection, isApart {
      let expected =
        stage == .delivery
        ? "courier, where messages are handed to devices," : "an interface of providers for these effects,"
      throw ConsoleError.badRequest("\(path).interface: expected \(expected) got \(place.rawValue)")
    }
    guard stage == .connection else { return }
    let named = [
      topic == nil ? nil : "topic", token == nil ? nil : "token", priority == nil ? nil : "priority",
    ]
    if let name = named.compactMap(\.self).first {
      throw ConsoleError.badRequest("\(path).\(name): expected none, as a new connection has no \(name) yet")
    }
  }
}

extension FaultSchedule {
  fileprivate init(_ object: JSONObject) throws {
    try object.check(allowing: ["next", "every", "probability", "from", "to"])
    let counts: ClosedRange<Int64> = 1...1_000_000_000
    let kinds = ["next", "every", "probability"].filter { object[$0] != nil }
    let isWindow = object["from"] != nil || object["to"] != nil
    guard kinds.count + (isWindow ? 1 : 0) == 1 else {
      throw ConsoleError.badRequest(
        "\(object.place): expected one of next, every, probability, or from and to")
    }
    if let count = try object.integer("next", counts) {
      self = .next(Int(count))
    } else if let count = try object.integer("every", counts) {
      self = .every(Int(count))
    } else if let value = object["probability"] {
      self = .probability(try Self.probability(value, object))
    } else {
      let (from, to) = (try Self.time("from", object), try Self.time("to", object))
      if let from, let to, to <= from {
        throw ConsoleError.bad(object.path("to"), expected: "a time after \(from.rfc3339)", got: to.rfc3339)
      }
      self = .window(from: from, to: to)
    }
  }

  private static func probability(_ value: JSONValue, _ object: JSONObject) throws -> Double {
    switch value {
    case .integer(let whole) where whole == 0 || whole == 1: return Double(whole)
    case .number(let number) where (0...1).contains(number): return number
    default: throw object.mismatch("probability", "a number from 0 to 1", value)
    }
  }

  private static func time(_ name: String, _ object: JSONObject) throws -> Timestamp? {
    guard let text = try object.string(name) else { return nil }
    guard let time = Timestamp(rfc3339: text) else {
      throw ConsoleError.bad(object.path(name), expected: "a time as 2026-01-02T03:04:05Z", got: text)
    }
    return time
  }
}
