import Basics
import Console
import ConsoleAnswers

/// How much of a saved state the console takes in one document. More comes in several, one after the other
/// (`SavedStateParts`), or as `--seed-data`, for which nobody waits.
package struct ImportLimits: Sendable {
  /// Entries of each kind: apps, keys, devices, rows of the token map, channels, subscriptions, entries of the feedback service; as a
  /// count. It is what one export has at most, and is read in a few seconds.
  package var rows: Int
  /// Certificates and keys, as a count: making one takes up to a second, for which other keys have to wait.
  package var credentials: Int
  /// In bytes.
  package var bytes: Int
  /// Values of JSON, as a count.
  package var values: Int

  package init(bytes: Int, values: Int, rows: Int, credentials: Int) {
    (self.bytes, self.values, self.rows, self.credentials) = (bytes, values, rows, credentials)
  }

  /// Of the console.
  package static let console = ImportLimits(
    bytes: BodyLimit.state.bytes, values: BodyLimit.state.values, rows: SavedState.rowLimit, credentials: 100)
}

/// What there is in a saved state, or in one entry of it, of what is limited.
struct StateSize {
  /// What is counted: the lists of a document, and two that are in their entries; with what people call them.
  private static let kinds = [
    ("apps", "apps"), ("keys", "keys"), ("feedback", "entries of the feedback service"),
    ("faults", "faults"), ("devices", "devices"), ("rows", "rows of the token map"),
    ("channels", "channels"), ("subscribers", "subscribers"),
  ]
  /// In the order of `kinds`.
  private var counts = SIMD8<Int>()
  private var credentials = 0

  init() {}

  /// Of one entry of a list.
  init(_ entry: JSONValue, of list: String) {
    add(1, list)
    switch list {
    case "apps": if Self.hasCertificate(entry) { credentials = 1 }
    case "keys": credentials = 1
    case "devices": add(Self.list(entry.member("apps")).count, "rows")
    case "channels": add(Self.list(entry.member("subscribers")).count, "subscribers")
    default: break
    }
  }

  init(_ document: JSONObject) {
    for list in SavedStateParts.lists {
      for entry in Self.list(document[list]) { self = self + StateSize(entry, of: list) }
    }
  }

  static func + (left: StateSize, right: StateSize) -> StateSize {
    var sum = left
    sum.counts &+= right.counts
    sum.credentials += right.credentials
    return sum
  }

  private mutating func add(_ count: Int, _ kind: String) {
    if let index = Self.kinds.firstIndex(where: { $0.0 == kind }) { counts[index] += count }
  }

  /// Of the kind that there is most of.
  var most: Int { counts.max() }

  func fits(_ limits: ImportLimits) -> Bool { (try? check(limits)) != nil }

  /// Throws what is too much.
  func check(_ limits: ImportLimits = .console) throws {
    for (index, kind) in Self.kinds.enumerated() where counts[index] > limits.rows {
      throw Self.tooMuch(kind.1, limits.rows, counts[index])
    }
    guard credentials <= limits.credentials else {
      throw Self.tooMuch("certificates and keys", limits.credentials, credentials)
    }
  }

  private static func tooMuch(_ kind: String, _ limit: Int, _ count: Int) -> ConsoleError {
    .tooMuch(
      "the body: expected at most \(limit) \(kind), got \(count); the command import sends a larger document in parts, and "
        + "serve --seed-data takes it whole")
  }

  private static func hasCertificate(_ app: JSONValue) -> Bool {
    switch app.member("certificate") {
    case nil, .null?: false
    default: true
    }
  }

  static func list(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let values)? = value { values } else { [] }
  }
}
