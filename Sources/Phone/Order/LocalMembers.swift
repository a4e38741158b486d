import Basics
import PushModel

/// When a local notification is due: `{}` is at once.
struct LocalTrigger: JSONDocument {
  /// In nanoseconds.
  var after: Int64?
  var at: Timestamp?
  /// A time of day in UTC, on one day of the week (1 is Sunday) or on each.
  var (hour, minute, weekday): (Int?, Int?, Int?)
  /// The place that the phone enters or leaves.
  var (enter, leave): (String?, String?)
  /// Again and again, or once.
  var repeats = false

  var isAtPlace: Bool { enter != nil || leave != nil }

  static let form = JSONForm<LocalTrigger>([
    JSONField("after", .duration.narrowed("a duration above 0, as 61m or 1h30m") { $0 > 0 }, \.after),
    JSONField("at", .time, \.at),
    JSONField("hour", .whole(0...23), \.hour), JSONField("minute", .whole(0...59), \.minute),
    JSONField("weekday", .whole(1...7), \.weekday), JSONField("enter", .shortText, \.enter),
    JSONField("leave", .shortText, \.leave), JSONField(flag: "repeats", \.repeats),
  ])

  /// Throws unless one thing decides.
  func check() throws {
    let named = [
      ("after", after != nil), ("at", at != nil), ("hour", hour != nil), ("enter", enter != nil),
      ("leave", leave != nil),
    ].filter(\.1).map(\.0)
    guard named.count < 2 else {
      throw DocumentError(
        "trigger: expected one of after, at, hour, enter, leave, got \(named.joined(separator: " and "))")
    }
    guard hour != nil || minute == nil && weekday == nil else {
      throw DocumentError("trigger.hour: expected a number from 0 to 23, got nothing")
    }
    guard !repeats || !named.isEmpty && at == nil else {
      throw DocumentError("trigger.repeats: expected one of after, hour, enter, leave beside it, got none")
    }
  }
}

/// What a local notification says: the members of `aps`, with the texts of the alert beside them.
private struct LocalContent: Sendable {
  /// As much as a payload, in bytes (our choice).
  static let most = Limits.providerPayload
  static let texts = ["title", "subtitle", "body"]
  static let names =
    texts + [
      "alert", "badge", "sound", "thread-id", "category", "interruption-level", "relevance-score",
      "target-content-id", "attachment",
    ]

  static func read(_ value: JSONValue, _ place: String) throws -> PushContent {
    let object = try JSONObject(value, place: place)
    try object.check(allowing: names)
    guard value.encoded.count <= most else {
      throw DocumentError("\(place): expected at most \(most) bytes, got \(value.encoded.count)")
    }
    let alert = try texts.compactMap { name in
      try object.value(name, .text).map { (name, JSONValue.string($0)) }
    }
    let own = object.members.filter { !texts.contains($0.0) }
    var content = PushContent(aps: .object(own + (alert.isEmpty ? [] : [("alert", .object(alert))])))
    content.attachment = try object.value("attachment", Attachment.form.kind(Attachment()))
    return content
  }

  static var schema: JSONValue {
    let members = names.map { name -> (String, JSONValue) in
      (name, name == "attachment" ? Attachment.form.schema : texts.contains(name) ? ["type": "string"] : [:])
    }
    return ["type": "object", "additionalProperties": false, "properties": .object(members)]
  }
}

extension JSONKind<PushContent> {
  static var localContent: JSONKind {
    JSONKind("an object", LocalContent.schema) { value, place in
      try LocalContent.read(value, place)
    } write: { _ in
      .null
    }
  }
}
