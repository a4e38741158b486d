import Basics
import Console

/// Parts a saved state into documents that the console takes (`ImportLimits`). Imported in their order they do what the whole would:
/// what is referred to comes in an earlier part or the same.
///
/// A device is in one part, as apps that its entry does not have are taken off it. The clock comes first, as it says what has
/// expired. A channel with many subscribers is in several, its broadcast in the last: it goes to those who listen already. Feedback
/// is told when all devices are there, in its order, so the parts before say that theirs have none in it. Faults come last.
package struct SavedStateParts {
  /// Each a whole document.
  package private(set) var documents: [[UInt8]] = []
  private var part: Part
  private let limits: ImportLimits
  /// What every part with devices says of their feedback.
  private var feedback: [UInt8]?

  /// One of something larger, as it will stand in a part.
  private struct Entry {
    let list: String
    let bytes: [UInt8]
    let values: Int
    let size: StateSize

    init(_ list: String, _ value: JSONValue) {
      (self.list, bytes, size) = (list, value.encoded, StateSize(value, of: list))
      values = JSONReader.valueCount(of: bytes, maximumDepth: JSONObject.bodyDepth)
    }

    /// With what JSON has between values.
    var byteCount: Int { bytes.count + 1 }
  }

  private struct Part {
    /// Of the document around its lists, in bytes: their names, the version, a clock.
    static let frame = 256
    /// Values of JSON around its lists, as a count.
    static let frameValues = 32

    let limits: ImportLimits
    var members: [(String, [UInt8])] = []
    var lists: [(name: String, entries: [[UInt8]])] = []
    var byteCount = frame
    var values = frameValues
    var size = StateSize()

    init(_ limits: ImportLimits) { self.limits = limits }

    func hasRoom(for entry: Entry) -> Bool {
      byteCount + entry.byteCount <= limits.bytes && values + entry.values <= limits.values
        && (size + entry.size).fits(limits)
    }

    mutating func add(_ entry: Entry) {
      if lists.last?.name != entry.list { lists.append((entry.list, [])) }
      lists[lists.count - 1].entries.append(entry.bytes)
      byteCount += entry.byteCount
      values += entry.values
      size = size + entry.size
    }

    var isEmpty: Bool { members.isEmpty && lists.isEmpty }
  }

  /// The parts of a document that the console would not take whole; nil for one that it would, or that is none. Throws as `init`.
  package static func needed(for document: [UInt8]) throws(DocumentError) -> SavedStateParts? {
    guard let state = try? JSONObject(body: document) else { return nil }
    let values = JSONReader.valueCount(of: document, maximumDepth: JSONObject.bodyDepth)
    let limits = ImportLimits.console
    let isSmall = document.count <= limits.bytes && values <= limits.values
    return isSmall && StateSize(state).fits(limits) ? nil : try SavedStateParts(state, limits)
  }

  /// Throws for a document that is no object, and for a device or another entry that is too large for a part of its own.
  package init(_ document: [UInt8], limits: ImportLimits = .console) throws(DocumentError) {
    try self.init(JSONObject(body: document), limits)
  }

  static let lists = ["apps", "keys", "devices", "channels", "feedback", "faults"]

  private let version: JSONValue?

  private init(_ document: JSONObject, _ limits: ImportLimits) throws(DocumentError) {
    (self.limits, part, version) = (limits, Part(limits), document["version"])
    // What nobody knows is for the console to refuse.
    part.members = document.members.filter { !Self.lists.contains($0.0) && $0.0 != "version" }
      .map { ($0.0, $0.1.encoded) }
    part.byteCount += part.members.reduce(0) { $0 + $1.1.count }
    if document["feedback"] != nil { feedback = Array("[]".utf8) }
    for list in Self.lists {
      guard let value = document[list] else { continue }
      guard case .array(let entries) = value else {
        part.members.append((list, value.encoded))
        continue
      }
      if list == "feedback" { finishPart() }
      for (index, entry) in entries.enumerated() { try add(entry, list, index) }
    }
    finishPart()
  }

  private mutating func add(_ value: JSONValue, _ list: String, _ index: Int) throws(DocumentError) {
    if list == "channels", let subscribers = value.member("subscribers") {
      return try addChannel(value, StateSize.list(subscribers), index)
    }
    try add(Entry(list, value), at: "\(list)[\(index)]")
  }

  private mutating func add(_ entry: Entry, at place: String) throws(DocumentError) {
    if !part.hasRoom(for: entry) { finishPart() }
    guard part.hasRoom(for: entry) else {
      throw DocumentError(
        "\(place): expected at most \(limits.bytes) bytes, \(limits.values) JSON values and "
          + "\(limits.rows) rows in one entry, got \(entry.bytes.count) bytes, \(entry.values) values and "
          + "\(entry.size.most) rows; serve --seed-data takes it")
    }
    part.add(entry)
  }

  /// Subscribers of one channel in a part, as a count: with the longest names and a time each they have 2 MB.
  private static let subscribersAtOnce = 10_000

  private mutating func addChannel(
    _ channel: JSONValue, _ subscribers: [JSONValue], _ index: Int
  ) throws(DocumentError) {
    guard case .object(let members) = channel else { return }
    let others = members.filter { $0.0 != "subscribers" }
    var rest = subscribers[...]
    repeat {
      let some = Array(rest.prefix(min(Self.subscribersAtOnce, limits.rows)))
      rest = rest.dropFirst(some.count)
      let head = rest.isEmpty ? others : others.filter { $0.0 != "message" }
      let entry = Entry("channels", .object(head + [("subscribers", .array(some))]))
      try add(entry, at: "channels[\(index)]")
    } while !rest.isEmpty
  }

  private mutating func finishPart() {
    guard !part.isEmpty else { return }
    var members: [(String, JSONValue)] = version.map { [("version", $0)] } ?? []
    members += part.members.map { ($0.0, .verbatim($0.1)) }
    members += part.lists.map { ($0.name, .array($0.entries.map(JSONValue.verbatim))) }
    let hasDevices = part.lists.contains { $0.name == "devices" }
    if hasDevices, let feedback { members.append(("feedback", .verbatim(feedback))) }
    documents.append(JSONValue.object(members).encoded)
    part = Part(limits)
  }
}
