import Basics
import Broker
import Console
import PushModel

/// A device of a saved state, with the rows of its token map.
struct SavedDevice: Equatable, JSONDocument {
  var told: DeviceRow
  /// In the order in which they were issued.
  var rows: [SavedRow] = []

  private var installs = NumberedInstalls()
  /// Meant by rows that do not say.
  private var environment = Environment.sandbox

  var udid: UDID { told.udid }

  init(_ device: Device) { told = DeviceRow(device) }

  /// What is written is without its rows, which may be many.
  static let form = JSONForm<SavedDevice>(
    DeviceRow.form.members.map { $0.of(\.told) } + [
      JSONField(objects: "apps", "SavedRow") { try $0.addRow($1) }
    ])

  private mutating func addRow(_ object: JSONObject) throws {
    guard rows.count < Registry.rowsPerDevice else {
      throw DocumentError(
        "\(object.place): expected at most \(Registry.rowsPerDevice) rows of a device, got more")
    }
    let row = try SavedRow(object, after: installs, environment: environment)
    installs.note(row)
    rows.append(row)
  }

  init(_ object: JSONObject, environment: Environment) throws {
    told = DeviceRow(try object.required("udid", .udid))
    self.environment = environment
    try Self.form.read(object, into: &self)
  }
}

/// A row of the token map in a saved state: one install of one app on one device.
struct SavedRow: Equatable, JSONDocument {
  /// Its name, or, where only a device has said it, its hash.
  var topic: TopicEntry
  var told = TokenRow()
  var message: SavedNotification?
  /// Where it stands in a document, for what is said about it.
  var place = ""

  private static let hashes = JSONKind<TopicHash>.spelled(
    "40 hexadecimal digits", ["type": "string", "pattern": "^[0-9A-Fa-f]{40}$"],
    { Hex.decode($0).flatMap { TopicHash(bytes: $0) } }, { $0.hex })

  /// App, context and environment are read before the others, as the number of the install follows from them.
  static let form = JSONForm<SavedRow>(
    [
      JSONField("topic", .topic, get: { $0.topic.name }, set: { _, _ in }),
      JSONField(
        "topicHash", hashes, get: { $0.topic.name == nil ? $0.topic.hash : nil }, set: { _, _ in }),
    ] + TokenRow.form.members.map { $0.of(\.told) } + [
      JSONField("message", SavedNotification.kind, \.message)
    ],
    rules: [("anyOf", [["required": ["topic"]], ["required": ["topicHash"]]])])

  init(_ told: TokenRow, of topic: TopicEntry, message: SavedNotification?) {
    (self.told, self.topic, self.message) = (told, topic, message)
  }

  /// Reads a row; what is left out follows from the emulator's environment and the device's `earlier` rows.
  init(_ object: JSONObject, after earlier: NumberedInstalls, environment standard: Environment) throws {
    place = object.place
    topic = try Self.topic(object)
    told.context = try object.value("context", .tokenContext)
    told.environment = try object.value("environment", .environment) ?? standard
    let installs = earlier.numbers(of: topic, told)
    told.install = Registration.nextInstall(after: installs)
    try Self.form.read(object, into: &self)
    guard !installs.contains(told.install) else {
      throw DocumentError(
        object.path("install"), expected: "a number that no earlier row of the app has",
        got: .integer(Int64(told.install)))
    }
    try check(object)
  }

  private static func topic(_ object: JSONObject) throws -> TopicEntry {
    if let name = try object.value("topic", .topic) { return TopicEntry(name) }
    if let hash = try object.value("topicHash", hashes) { return TopicEntry(hash: hash, name: nil) }
    return TopicEntry(try object.required("topic", .topic))
  }

  private func check(_ object: JSONObject) throws {
    if told.goneAt != nil, !told.isGone {
      throw DocumentError(
        object.path("goneAt"), expected: "none unless state is gone", got: .string(told.state.rawValue))
    }
    if try object.value("chosen", .flag) == true, told.presented == nil {
      throw DocumentError("\(object.path("chosen")): expected a token beside it, got none")
    }
    if message != nil, told.isGone {
      throw DocumentError("\(object.path("message")): expected none for an app that is gone, got one")
    }
  }
}

/// Which installs of each app a device's rows are, as far as they are read. By app, since a device may have thousands of rows.
struct NumberedInstalls: Equatable {
  private struct App: Hashable {
    let topic: TopicEntry
    let context: TokenContext?
    let environment: Environment

    init(_ topic: TopicEntry, _ row: TokenRow) {
      (self.topic, context, environment) = (topic, row.context, row.environment)
    }
  }

  private var numbers: [App: [Int32]] = [:]

  func numbers(of topic: TopicEntry, _ row: TokenRow) -> [Int32] { numbers[App(topic, row)] ?? [] }

  mutating func note(_ row: SavedRow) {
    numbers[App(row.topic, row.told), default: []].append(row.told.install)
  }
}
