import PushModel

/// The shapes of devices, of what is registered for them, and of what the feedback service holds.
extension APISchemas {
  static var registry: [(String, JSONValue)] {
    [
      ("Token", token), ("Device", device), ("TokenDetail", tokenDetail),
      (
        "Channel",
        object([
          ("topic", text), ("environment", environment), ("id", text), ("storesNewest", flag),
          ("listeners", whole),
        ])
      ),
      (
        "FeedbackEntry",
        object([
          ("timestamp", time), ("token", hex), ("topic", text), ("udid", nullable("string")),
          ("environment", environment),
        ])
      ),
    ]
  }

  private static var tokenState: JSONValue { .words(["active", "gone"]) }

  private static var token: JSONValue {
    object([
      ("udid", text), ("topic", text), ("environment", environment), ("token", hex), ("install", whole),
      ("state", tokenState), ("issuedAt", time), ("goneAt", nullable("string")), ("online", flag),
      ("installed", flag),
    ])
  }

  private static var tokenDetail: JSONValue {
    let derivation = object([
      ("isOurs", flag), ("function", text), ("key", text),
      ("message", list(object([("field", text), ("hex", text)]))),
    ])
    return object([
      ("udid", text), ("topic", text), ("environment", environment), ("token", hex), ("install", whole),
      ("state", tokenState), ("derivation", derivation),
    ])
  }

  private static var device: JSONValue {
    object([
      ("udid", text), ("online", flag), ("firstSeenAt", time), ("lastSeenAt", time), ("identity", whole),
      ("connections", list(deviceConnection)), ("topics", list(deviceTopic)),
      ("keptMessages", list(keptMessage)),
    ])
  }

  private static var deviceConnection: JSONValue {
    object([
      ("environment", environment), ("connectedAt", time), ("baseToken", hex), ("enabledTopics", list(text)),
    ])
  }

  private static var deviceTopic: JSONValue {
    object([
      ("topic", text), ("environment", environment), ("token", hex), ("install", whole),
      ("state", tokenState), ("installed", flag), ("enabled", flag),
    ])
  }

  private static var keptMessage: JSONValue {
    object([
      ("id", whole), ("topic", text), ("environment", environment), ("token", hex), ("receivedAt", time),
      ("expiresAt", time), ("priority", whole), ("pushType", text), ("payload", [:]), ("payloadBase64", text),
    ])
  }
}
