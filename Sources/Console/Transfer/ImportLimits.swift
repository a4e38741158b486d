import PushModel

/// How much of a saved state the console takes in one document. More comes in several, one after the other
/// (`SavedStateParts`), or as `--seed-data`, for which nobody waits.
public struct ImportLimits: Sendable {
  /// Entries of each kind: apps, keys, devices, rows of the token map, channels, subscriptions, entries of the feedback service; as a
  /// count. It is what one export has at most, and is read in a few seconds.
  public var rows: Int
  /// Certificates and keys, as a count: making one takes up to a second, for which other keys have to wait.
  public var credentials: Int
  /// In bytes.
  public var bytes: Int
  /// Values of JSON, as a count.
  public var values: Int

  public init(bytes: Int, values: Int, rows: Int, credentials: Int) {
    (self.bytes, self.values, self.rows, self.credentials) = (bytes, values, rows, credentials)
  }

  /// Of the console.
  public static let console = ImportLimits(
    bytes: BodyLimit.state.bytes, values: BodyLimit.state.values, rows: SavedState.rowLimit, credentials: 100)
}

/// What there is in a saved state of what is limited.
struct StateSize {
  /// By what they are called.
  private(set) var rows: [(kind: String, count: Int)] = []
  private(set) var credentials = 0

  init(_ document: JSONObject) {
    let devices = Self.list(document["devices"])
    let channels = Self.list(document["channels"])
    for (list, kind) in [
      ("apps", "apps"), ("keys", "keys"), ("feedback", "entries of the feedback service"),
      ("faults", "faults"),
    ] { rows.append((kind, Self.list(document[list]).count)) }
    rows += [
      ("devices", devices.count), ("rows of the token map", Self.sum(devices, "apps")),
      ("channels", channels.count), ("subscribers", Self.sum(channels, "subscribers")),
    ]
    credentials =
      Self.list(document["keys"]).count + Self.list(document["apps"]).count(where: Self.hasCertificate)
  }

  var isTaken: Bool { (try? check()) != nil }

  /// Throws what is too much.
  func check(_ limits: ImportLimits = .console) throws {
    for (kind, count) in rows where count > limits.rows { throw Self.tooMuch(kind, limits.rows, count) }
    guard credentials <= limits.credentials else {
      throw Self.tooMuch("certificates and keys", limits.credentials, credentials)
    }
  }

  private static func tooMuch(_ kind: String, _ limit: Int, _ count: Int) -> ConsoleError {
    .tooMuch(
      "the body: expected at most \(limit) \(kind), got \(count); the command import sends a larger document in parts, and "
        + "serve --seed-data takes it whole")
  }

  static func hasCertificate(_ app: JSONValue) -> Bool {
    switch app.member("certificate") {
    case nil, .null?: false
    default: true
    }
  }

  static func list(_ value: JSONValue?) -> [JSONValue] {
    if case .array(let values)? = value { values } else { [] }
  }

  private static func sum(_ values: [JSONValue], _ list: String) -> Int {
    values.reduce(0) { $0 + Self.list($1.member(list)).count }
  }
}
