import Basics

/// The members of a payload that Apple describes (`Documentation/provider-api.md#payload`).
struct ApsKey: Sendable {
  /// By what is expected.
  enum Kind: String, Sendable {
    case text = "a string"
    case whole = "a whole number"
    case flag = "1, or 0"
    case truth = "true"
    case seconds = "UNIX seconds"
    case score = "a number"
    case texts = "an array of strings"
    case object = "an object"
    case textOrObject = "a string or an object"
    case textOrLocalized = "a string, or an object with loc-key and loc-args"

    func takes(_ value: JSONValue) -> Bool {
      switch (self, value) {
      case (.text, .string), (.textOrObject, .string), (.object, .object), (.textOrObject, .object): true
      case (.textOrLocalized, .string), (.textOrLocalized, .object): true
      case (.whole, .integer), (.seconds, .integer), (.score, .integer), (.score, .number): true
      case (.seconds, .number): true
      case (.flag, .integer(let number)): number == 0 || number == 1
      case (.truth, .bool(true)): true
      case (.texts, .array(let values)):
        values.allSatisfy { if case .string = $0 { true } else { false } }
      default: false
      }
    }
  }

  let name: String
  let kind: Kind

  private init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }

  /// Of `aps`.
  static let aps = [
    Self("alert", .textOrObject), Self("badge", .whole), Self("sound", .textOrObject),
    Self("thread-id", .text),
    Self("category", .text), Self("content-available", .flag), Self("mutable-content", .flag),
    Self("target-content-id", .text), Self("interruption-level", .text), Self("relevance-score", .score),
    Self("filter-criteria", .text), Self("timestamp", .seconds), Self("stale-date", .seconds),
    Self("dismissal-date", .seconds), Self("event", .text), Self("content-state", .object),
    Self("attributes-type", .text), Self("attributes", .object), Self("input-push-token", .flag),
    Self("input-push-channel", .text), Self("url-args", .texts), Self("content-changed", .truth),
    Self("summary-arg", .text), Self("summary-arg-count", .whole),
  ]

  /// Of `aps.alert`.
  static let alert = [
    Self("title", .text), Self("subtitle", .text), Self("body", .text), Self("launch-image", .text),
    Self("title-loc-key", .text), Self("title-loc-args", .texts), Self("subtitle-loc-key", .text),
    Self("subtitle-loc-args", .texts), Self("loc-key", .text), Self("loc-args", .texts),
    Self("action-loc-key", .text), Self("action", .text), Self("summary-arg", .text),
    Self("summary-arg-count", .whole), Self("sound", .textOrObject),
  ]

  /// Of `aps.alert` of a Live Activity (Apple: "Starting and updating Live Activities with ActivityKit push notifications").
  static let activityAlert =
    [Self("title", .textOrLocalized), Self("body", .textOrLocalized)]
    + alert.filter { $0.name != "title" && $0.name != "body" }

  /// Of `title` and `body` there.
  static let localized = [Self("loc-key", .text), Self("loc-args", .texts)]

  /// Of `aps.sound`.
  static let sound = [Self("critical", .flag), Self("name", .text), Self("volume", .score)]
}
