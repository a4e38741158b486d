import Basics
import Broker
import Phone
import PushModel

/// What is known of one phone.
package struct PhoneRecord {
  /// Entries of the log that are kept, as a count.
  static let logLimit = 200
  /// What a phone is taken to cost besides what it says, in bytes.
  private static let overhead = 1024

  /// The connections of its device, the newest last; none while it is offline. A phone with both environments has two.
  private(set) var links: [any PhoneLink] = []
  /// How it was when it last told, a JSON object; empty before that.
  var document: [UInt8] = []
  /// What has happened, as JSON.
  private var log: [[UInt8]] = []
  /// What it will be told when it comes.
  var queue = PhoneQueue()
  /// Rises with each time that a phone is heard.
  var heard: UInt64 = 0
  private var logByteCount = 0

  /// What it takes, in bytes.
  var byteCount: Int { Self.overhead + document.count + logByteCount + queue.byteCount }
  /// Whether there is anything to be kept for a phone that is offline.
  var isEmpty: Bool { document.isEmpty && log.isEmpty && queue.isEmpty }

  /// The connection by which it is ordered about; nil while it is offline.
  var link: (any PhoneLink)? { links.last }

  func has(_ link: any PhoneLink) -> Bool { links.contains { $0 === link } }

  mutating func connected(_ link: any PhoneLink) { links.append(link) }

  /// Answers whether it was the one by which it was ordered about.
  mutating func disconnected(_ link: any PhoneLink) -> Bool {
    let wasNewest = self.link === link
    links.removeAll { $0 === link }
    return wasNewest
  }

  /// Forgets all but the connections.
  mutating func forgetAll() {
    var phone = PhoneRecord()
    phone.links = links
    self = phone
  }

  mutating func add(_ entry: [UInt8]) {
    log.append(entry)
    logByteCount += entry.count
    if log.count > Self.logLimit { logByteCount -= log.removeFirst().count }
  }

  mutating func forgetLog() { (log, logByteCount) = ([], 0) }

  /// What is told here of a phone, before what it says of itself, and its log.
  package static let shape = JSONShape<(udid: UDID, record: PhoneRecord)>(
    [
      "udid": .show(JSONExample.udid) { $0.udid.text }, "online": .show(true) { $0.record.link != nil },
      "queued": .show { $0.record.queue },
    ] + ShownPhone.members.elsewhere() + ["log": .elsewhere(PhoneEvent.logged.schema.list)]
  ).named("Phone")

  /// What an order has brought about, as the phone tells it.
  package static let events = JSONShape<Void>(["events": .elsewhere(PhoneEvent.logged.schema.list)]).named(
    "PhoneEvents")

  /// All of it, for the API.
  func json(_ udid: UDID) -> JSONValue {
    var bytes = Self.shape.write((udid, self)).encoded
    // Spliced, so that what a phone says of itself need not be read again.
    bytes.removeLast()
    let inside = document.dropFirst().dropLast()
    if !inside.isEmpty { bytes += [UInt8(ascii: ",")] + inside }
    bytes += Array(",\"log\":".utf8) + JSONValue.array(log.map { .verbatim($0) }).encoded
    return .verbatim(bytes + [UInt8(ascii: "}")])
  }
}

/// The connection of a device that has a phone. Implemented by the courier.
package protocol PhoneLink: AnyObject {
  /// Sends an order, one JSON object in UTF-8; the report that answers it names the number.
  func order(_ order: [UInt8], number: UInt32)
}

/// What a device tells of its phone. Nobody has looked into the JSON.
package struct PhoneTelling {
  /// The order that it answers.
  package var number: UInt32?
  /// What went wrong with it.
  package var problem: String?
  /// A JSON array, or nothing.
  package var events: [UInt8]
  /// A JSON object, or nothing.
  package var document: [UInt8]
  /// Events that are not told.
  package var lost: UInt32

  package init(
    number: UInt32? = nil, problem: String? = nil, events: [UInt8] = [], document: [UInt8] = [],
    lost: UInt32 = 0
  ) {
    (self.number, self.problem, self.events, self.document) = (number, problem, events, document)
    self.lost = lost
  }
}

/// Settings that wait for a phone that is offline, as one order: later ones take the place of earlier ones.
package struct PhoneQueue: JSONShown {
  /// Most that wait, in bytes as they are sent: one order.
  package static let byteLimit = 60 * 1024

  private var settings: JSONValue = .object([])
  /// What waits takes so much, in bytes.
  package private(set) var byteCount = 0

  package init() {}

  package var isEmpty: Bool {
    if case .object(let members) = settings { members.isEmpty } else { true }
  }

  package static let schema = JSONSchema(["oneOf": [["type": "null"], ["type": "object"]]], example: nil)
  /// Of an order that waits.
  package static let answer = JSONShape<Bool>(["queued": .show(true) { $0 }]).named("PhoneQueued")
  /// What waits; null for nothing.
  package var json: JSONValue { isEmpty ? .null : settings }

  /// Adds settings, an object; false, with nothing added, if that is more than may wait.
  package mutating func add(_ later: JSONValue) -> Bool {
    let merged = Self.merged(settings, later, at: [])
    let count = merged.encoded.count
    guard count <= Self.byteLimit else { return false }
    (settings, byteCount) = (merged, count)
    return true
  }

  /// What stands in each other of what a phone keeps when it is told a part: its apps, each app, what an app is allowed.
  /// Everything else is replaced.
  private static func isKept(_ path: [String]) -> Bool {
    path.isEmpty || path.first == "apps" && (path.count < 3 || path.count == 3 && path[2] == "permission")
  }

  private static func merged(_ earlier: JSONValue, _ later: JSONValue, at path: [String]) -> JSONValue {
    guard isKept(path), case .object(var members) = earlier, case .object(let changes) = later else {
      return later
    }
    for (name, change) in changes {
      if let index = members.firstIndex(where: { $0.0 == name }) {
        members[index].1 = merged(members[index].1, change, at: path + [name])
      } else {
        members.append((name, change))
      }
    }
    return .object(members)
  }
}

/// Something that a phone says has happened on it, as its log has it (`Documentation/console-api.md#the-phone`).
package struct PhoneHappening {
  /// Longest that is taken, in bytes.
  package static let byteLimit = 4096
  /// Longest name of an event, in bytes.
  private static let nameLimit = 32

  private let at: Timestamp
  /// What happened, in a word.
  private let event: String
  /// The push that it is about, by its number in the history.
  let notificationId: UInt64?
  private let value: JSONValue
  /// All that it says, compact.
  package let json: [UInt8]

  /// Reads what a device has sent; nil for anything else than an event.
  package init?(_ value: JSONValue) {
    guard let event = value.string("event"), Self.isName(event),
      let at = value.string("at").flatMap({ Timestamp(rfc3339: $0) })
    else { return nil }
    (self.at, self.event, self.value, json) = (at, event, value, value.encoded)
    if case .integer(let id)? = value.member("notificationId"), id > 0 {
      notificationId = UInt64(id)
    } else {
      notificationId = nil
    }
    guard json.count <= Self.byteLimit else { return nil }
  }

  /// Something that is said here in the phone's name.
  package init(_ event: String, at: Timestamp, reason: String) {
    value = .object([
      ("at", .string(at.rfc3339)), ("event", .string(event)), ("topic", nil), ("detail", ""), ("rule", ""),
      ("evidence", ""), ("reason", .string(reason)), ("notificationId", nil), ("phoneNote", nil),
    ])
    (self.event, self.at, notificationId, json) = (event, at, nil, value.encoded)
  }

  /// Whether it may be the name of an event.
  package static func isName(_ text: String) -> Bool {
    (1...nameLimit).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "-") }
  }

  /// Events that have a name of their own in the stream; the others are told as `phone`.
  private static let ownNames: Set<String> = ["presented", "callback", "extension", "dropped"]

  /// As the stream of events tells it: the entry's members, with the device.
  func streamed(_ udid: UDID) -> (name: String, members: [(String, JSONValue)]) {
    var members: [(String, JSONValue)] = [("udid", .string(udid.text))]
    let isOwn = Self.ownNames.contains(event)
    if !isOwn { members.append(("change", .string(event))) }
    if case .object(let all) = value { members += all.filter { $0.0 != "event" && $0.0 != "at" } }
    return (isOwn ? event : "phone", members)
  }

  /// As a step of the push that it is about.
  var step: PhoneStep {
    PhoneStep(
      at: at, event: event, detail: value.string("detail") ?? "",
      rule: value.string("rule") ?? "",
      evidence: value.string("evidence") ?? "", reason: value.string("reason") ?? "")
  }
}
