import Broker
import PushModel

/// Something that a phone says has happened on it, as its log has it (`Documentation/console-api.md#the-phone`).
struct PhoneEntry {
  /// Longest that is taken, in bytes.
  static let byteLimit = 4096
  /// Longest name of an event, in bytes.
  private static let nameLimit = 32

  let at: Timestamp
  /// What happened, in a word.
  let event: String
  /// The push that it is about, by its number in the history.
  let notificationId: UInt64?
  /// All that it says, compact.
  let json: [UInt8]

  /// What a device has sent; nil for anything else than an event.
  fileprivate init?(_ value: JSONValue) {
    guard let event = value.string("event"), Self.isName(event),
      let at = value.string("at").flatMap({ Timestamp(rfc3339: $0) })
    else { return nil }
    (self.at, self.event) = (at, event)
    if case .integer(let id)? = value.member("notificationId"), id > 0 {
      notificationId = UInt64(id)
    } else {
      notificationId = nil
    }
    json = value.encoded
    guard json.count <= Self.byteLimit else { return nil }
  }

  fileprivate init(_ event: String, at: Timestamp, _ value: JSONValue) {
    (self.event, self.at, notificationId, json) = (event, at, nil, value.encoded)
  }

  /// Whether it may be the name of an event.
  static func isName(_ text: String) -> Bool {
    (1...nameLimit).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "-") }
  }
}

/// An entry that is new, and its members, which were read once: of what the log keeps there are only the bytes.
struct PhoneHappening {
  let entry: PhoneEntry
  private let value: JSONValue

  /// Reads what a device has sent; nil for anything else than an event.
  init?(_ value: JSONValue) {
    guard let entry = PhoneEntry(value) else { return nil }
    (self.entry, self.value) = (entry, value)
  }

  /// Something that is said here in the phone's name.
  init(_ event: String, at: Timestamp, reason: String) {
    value = .object([
      ("at", .string(at.rfc3339)), ("event", .string(event)), ("topic", nil), ("detail", ""), ("rule", ""),
      ("evidence", ""), ("reason", .string(reason)), ("notificationId", nil), ("phoneNote", nil),
    ])
    entry = PhoneEntry(event, at: at, value)
  }

  /// Events that have a name of their own in the stream; the others are told as `phone`.
  private static let ownNames: Set<String> = ["presented", "callback", "extension", "dropped"]

  /// As the stream of events tells it: the entry's members, with the device.
  func streamed(_ udid: UDID) -> (name: String, members: [(String, JSONValue)]) {
    var members: [(String, JSONValue)] = [("udid", .string(udid.text))]
    let isOwn = Self.ownNames.contains(entry.event)
    if !isOwn { members.append(("change", .string(entry.event))) }
    if case .object(let all) = value { members += all.filter { $0.0 != "event" && $0.0 != "at" } }
    return (isOwn ? entry.event : "phone", members)
  }

  /// As a step of the push that it is about.
  var step: PhoneStep {
    PhoneStep(
      at: entry.at, event: entry.event, detail: value.string("detail") ?? "",
      rule: value.string("rule") ?? "",
      evidence: value.string("evidence") ?? "", reason: value.string("reason") ?? "")
  }
}
