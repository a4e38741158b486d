import Basics

// How the words of push look in JSON documents.

extension Environment: JSONWord {}
extension Interface: JSONWord {}
extension PushType: JSONWord {}

extension JSONKind<TokenContext> {
  public static var tokenContext: JSONKind {
    .spelled(
      "start: or activity: and a name", ["type": "string", "pattern": "^(start|activity):."],
      { TokenContext($0) },
      { $0.text })
  }
}

extension JSONKind<Topic> {
  public static var topic: JSONKind {
    .spelled(
      "a bundle id, as com.example.app", ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,255}$"],
      { Topic($0) }, { $0.name })
  }
}

extension JSONKind<UDID> {
  public static var udid: JSONKind {
    .spelled(JSONKind<String>.name.expected, JSONKind<String>.name.schema, { UDID($0) }, { $0.text })
  }
}

extension JSONKind<Environment> {
  public static var environment: JSONKind {
    .spelled(
      "sandbox or production", .words(Environment.allCases.map(\.name)), { Environment(name: $0) },
      { $0.name })
  }
}

extension JSONKind<DeviceToken> {
  public static var token: JSONKind {
    .spelled(
      "64 hexadecimal digits", ["type": "string", "pattern": "^[0-9A-Fa-f]{64}$"], { DeviceToken(hex: $0) },
      { $0.hex })
  }
}

extension JSONKind<CustomToken> {
  /// A token of any length.
  public static var customToken: JSONKind {
    .spelled(
      "2 to \(2 * Limits.longestToken) hexadecimal digits, an even number",
      ["type": "string", "pattern": .string("^([0-9A-Fa-f]{2}){1,\(Limits.longestToken)}$")],
      { CustomToken(hex: $0) },
      { $0.hex })
  }
}

extension JSONKind<PushType> {
  public static var pushType: JSONKind { .word(PushType.allCases, { $0.name }) }
}

extension JSONKind<Priority> {
  public static var priority: JSONKind {
    let expected = "1, 5 or 10"
    return JSONKind(expected, ["type": "integer", "enum": [1, 5, 10]]) { value, place in
      guard let priority = Priority(rawValue: try JSONKind<UInt8>.whole.read(value, place)) else {
        throw DocumentError(place, expected: expected, got: value)
      }
      return priority
    } write: {
      .integer(Int64($0.rawValue))
    }
  }
}

extension JSONKind<Rejection> {
  /// Apple's word for it.
  public static var reason: JSONKind {
    .spelled(
      "one of \(JSONValue.reasons.joined(separator: ", "))", .words(JSONValue.reasons),
      { Rejection(reason: $0) }, { $0.reason }, words: JSONValue.reasons)
  }
}

extension JSONValue {
  /// Apple's words, each once.
  public static var reasons: [String] { Rejection.allCases.map(\.reason).once }
}

extension JSONKind<String> {
  /// A name of something, which is spelled as a device's.
  public static var name: JSONKind {
    .spelled(
      "1 to 64 of A-Z a-z 0-9 . _ -", ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"],
      { UDID($0)?.text }, { $0 })
  }
}
