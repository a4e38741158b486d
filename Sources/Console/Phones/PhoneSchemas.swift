import Phone
import PushModel

/// The shapes of phones (`Documentation/console-api.md#the-phone`). What stands deeper is the phone's own, and told there.
extension APISchemas {
  static var phones: [(String, JSONValue)] {
    [
      ("Phone", phone), ("PhoneEvent", event), ("PhoneNote", note),
      ("PhoneEvents", object([("events", list(.schema("PhoneEvent")))])),
      ("PhoneOrder", ["anyOf": .array(PhoneVerb.all.map(order))]),
      ("PhoneQueued", object([("queued", flag)])),
    ]
  }

  /// The members that go with a verb.
  private static func order(_ verb: PhoneVerb) -> JSONValue {
    guard case .object(let members) = verb.schema else { return verb.schema }
    return .object([("description", .string("\(verb.name): \(verb.summary)"))] + members)
  }

  private static let anything: JSONValue = ["type": "object"]

  private static var phone: JSONValue {
    object(
      [
        ("udid", text), ("online", flag), ("queued", orNull(anything)), ("iosVersion", text),
        ("settings", anything), ("screen", screen), ("apps", map(of: anything)),
        ("log", list(.schema("PhoneEvent"))),
      ], maybe: [("remark", text)])
  }

  private static var screen: JSONValue {
    object(
      [("locked", flag), ("lockScreen", list(.schema("PhoneNote")))],
      maybe: [
        ("badge", map(of: whole)), ("banner", orNull(.schema("PhoneNote"))), ("list", list(anything)),
        ("foreground", nullable("string")), ("expanded", nullable("integer")), ("prompt", orNull(anything)),
        ("summary", orNull(anything)),
        ("call", orNull(anything)), ("activities", list(anything)), ("island", nullable("string")),
      ])
  }

  private static var event: JSONValue {
    object(
      [
        ("at", time), ("event", text), ("topic", nullable("string")), ("detail", text), ("rule", text),
        ("evidence", text), ("reason", text), ("notificationId", nullable("integer")),
      ], maybe: [("phoneNote", nullable("integer")), ("context", text)])
  }

  private static var note: JSONValue {
    object(
      [("id", whole), ("body", nullable("string"))],
      maybe: [
        ("topic", text), ("title", nullable("string")), ("subtitle", nullable("string")),
        ("image", nullable("string")), ("attachment", orNull(anything)), ("thread", nullable("string")),
        ("category", nullable("string")),
        ("level", text), ("at", time), ("actions", list(anything)), ("notificationId", nullable("integer")),
        ("isLocal", flag), ("custom", nullable("string")), ("customView", orNull(anything)),
        ("isInCar", flag), ("isPreviewHidden", flag), ("relevance", nullable("number")),
        ("button", nullable("string")), ("trial", list(text)),
      ])
  }

  private static func orNull(_ schema: JSONValue) -> JSONValue { ["oneOf": [["type": "null"], schema]] }
}
