import Phone
import PushModel

/// What is known of one phone.
struct PhoneRecord {
  /// Entries of the log that are kept, as a count.
  static let logLimit = 200
  /// What a phone is taken to cost besides what it says, in bytes.
  private static let overhead = 1024

  /// The connections of its device, the newest last; none while it is offline. A phone with both environments has two.
  private(set) var links: [any PhoneLink] = []
  /// How it was when it last told, a JSON object; empty before that.
  var document: [UInt8] = []
  private(set) var log: [PhoneEntry] = []
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

  mutating func add(_ entry: PhoneEntry) {
    log.append(entry)
    logByteCount += entry.json.count
    if log.count > Self.logLimit { logByteCount -= log.removeFirst().json.count }
  }

  mutating func forgetLog() { (log, logByteCount) = ([], 0) }

  /// What is told here of a phone, before what it says of itself, and its log.
  static let shape = JSONShape<(udid: UDID, record: PhoneRecord)>(
    [
      "udid": .show(JSONExample.udid) { $0.udid.text }, "online": .show(true) { $0.record.link != nil },
      "queued": .show { $0.record.queue },
    ] + ShownPhone.members.elsewhere() + ["log": .elsewhere(PhoneEvent.logged.schema.list)]
  ).named("Phone")

  /// What an order has brought about, as the phone tells it.
  static let events = JSONShape<Void>(["events": .elsewhere(PhoneEvent.logged.schema.list)]).named(
    "PhoneEvents")

  /// All of it, for the API.
  func json(_ udid: UDID) -> JSONValue {
    var bytes = Self.shape.write((udid, self)).encoded
    // Spliced, so that what a phone says of itself need not be read again.
    bytes.removeLast()
    let inside = document.dropFirst().dropLast()
    if !inside.isEmpty { bytes += [UInt8(ascii: ",")] + inside }
    bytes += Array(",\"log\":".utf8) + JSONValue.array(log.map { .verbatim($0.json) }).encoded
    return .verbatim(bytes + [UInt8(ascii: "}")])
  }
}

/// The connection of a device that has a phone. Implemented by the courier.
public protocol PhoneLink: AnyObject {
  /// Sends an order, one JSON object in UTF-8; the report that answers it names the number.
  func order(_ order: [UInt8], number: UInt32)
}

/// What a device tells of its phone. Nobody has looked into the JSON.
public struct PhoneTelling {
  /// The order that it answers.
  public var number: UInt32?
  /// What went wrong with it.
  public var problem: String?
  /// A JSON array, or nothing.
  public var events: [UInt8]
  /// A JSON object, or nothing.
  public var document: [UInt8]
  /// Events that are not told.
  public var lost: UInt32

  public init(
    number: UInt32? = nil, problem: String? = nil, events: [UInt8] = [], document: [UInt8] = [],
    lost: UInt32 = 0
  ) {
    (self.number, self.problem, self.events, self.document) = (number, problem, events, document)
    self.lost = lost
  }
}
