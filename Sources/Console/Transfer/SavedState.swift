import Basics
import Faults
import PushModel

/// Everything that an emulator knows and that a person could have told it, as one document: what `export` writes, and
/// `import` and `--seed-data` read. Parts that are absent are left alone.
struct SavedState: JSONDocument {
  /// Of the document. Another number means that a reader of this one would misunderstand it.
  static let version: Int64 = 1
  /// Most rows of the token map, devices, topics or subscriptions in one document, as a count: a document is held whole while it is
  /// written and read. Larger states are copied as the data folder.
  static let rowLimit = 50_000

  var clock: SavedClock?
  var apps: [SavedApp] = []
  var keys: [SavedKey] = []
  var devices: [SavedDevice] = []
  var channels: [SavedChannel] = []
  /// Tokens whose entries wait in the feedback service, oldest first; nil where the document does not say.
  var feedback: [CustomToken]?
  var faults: [FaultRule] = []

  /// Meant where the document does not say.
  private var environment: Environment

  private static let versions = JSONKind<Int64>.whole(1...Int64.max).described(as: [
    "type": "integer", "enum": [.integer(version)],
  ])
  .narrowed("\(version)") { $0 == version }

  static let form = JSONForm<SavedState>([
    JSONField("version", versions, get: { _ in version }, set: { _, _ in }).needed,
    JSONField("clock", SavedClock.form.kind(.offset(0)), \.clock),
    JSONField(objects: "apps", "SavedApp") { $0.apps.append(try SavedApp($1)) },
    JSONField(objects: "keys", "SavedKey") { $0.keys.append(try SavedKey($1)) },
    JSONField(objects: "devices", "SavedDevice") {
      $0.devices.append(try SavedDevice($1, environment: $0.environment))
    },
    JSONField(objects: "channels", "SavedChannel") {
      $0.channels.append(try SavedChannel($1, environment: $0.environment))
    },
    JSONField("feedback", .list(of: .customToken), \.feedback),
    JSONField(objects: "faults", "FaultRequest") { $0.faults.append(try fault($1)) },
  ])

  /// What examples tell of is in this one.
  static let schema = JSONSchema(
    "State", form.schema,
    example: [
      "version": 1, "apps": [["topic": JSONExample.topic, "certificate": "both"]],
      "devices": [
        ["udid": JSONExample.udid, "apps": [["topic": JSONExample.topic, "token": JSONExample.token]]]
      ],
    ],
    parts: [
      ("SavedApp", SavedApp.form.schema), ("SavedKey", SavedKey.form.schema),
      ("SavedDevice", SavedDevice.form.schema), ("SavedRow", SavedRow.form.schema),
      ("SavedMessage", SavedNotification.form.schema), ("SavedChannel", SavedChannel.form.schema),
      ("SavedSubscriber", SavedSubscriber.form.schema),
    ].map { JSONSchema($0, $1, example: nil) } + [FaultRule.request])

  init(_ object: JSONObject, environment: Environment) throws {
    self.environment = environment
    _ = try object.required("version", Self.versions)
    try Self.form.read(object, into: &self)
    try checkUnique()
  }

  private static func fault(_ object: JSONObject) throws -> FaultRule {
    try object.check(allowing: FaultRule.form.names)
    let name = try object.value("name", .name) ?? object.value("preset", .text)
    return try FaultRule(object, name: try name ?? object.required("name", .name))
  }

  private func checkUnique() throws {
    try Self.check(devices.map(\.udid), "devices", "udid") { $0.text }
    try Self.check(apps.map(\.topic), "apps", "topic") { $0.name }
    try Self.check(keys.map(\.keyId), "keys", "keyId") { $0 }
    try Self.check(faults.map(\.name), "faults", "name") { $0 }
  }

  private static func check<Value: Hashable>(
    _ values: [Value], _ list: String, _ name: String, _ text: (Value) -> String
  ) throws {
    var seen: Set<Value> = []
    for (index, value) in values.enumerated() where !seen.insert(value).inserted {
      throw DocumentError(
        "\(list)[\(index)].\(name)", expected: "one that no earlier entry has", got: .string(text(value)))
    }
  }
}

/// The clock of a saved state: how far it is from the system's, or where it stands still.
enum SavedClock: Equatable, JSONDocument {
  /// In nanoseconds.
  case offset(Int64)
  case frozen(Timestamp)

  /// Offsets taken, in seconds: they keep the clock between 1970 and 2199, as `PUT /api/v1/clock` does.
  static let offsets: ClosedRange<Double> = -1_700_000_000...5_000_000_000

  private static let times = JSONKind<Timestamp>.time.narrowed("a time from 1970 to 2199") {
    $0 >= Console.earliestClock && $0 <= Console.latestClock
  }

  static let form: JSONForm<SavedClock> = makeForm(offsets: offsets)
  /// As the nodes of a cluster are told where the clock is. Who has sent it has seen to it that it leads to those years.
  static let order: JSONForm<SavedClock> = makeForm(offsets: -8e9...8e9)

  private static func makeForm(offsets: ClosedRange<Double>) -> JSONForm<SavedClock> {
    JSONForm([
      JSONField(
        "offset", .number(offsets, expected: "a number of seconds that leads to 1970 to 2199"),
        get: { if case .offset(let nanoseconds) = $0 { Double(nanoseconds) / 1e9 } else { nil } },
        set: { $0 = .offset(Int64(($1 * 1e9).rounded())) }),
      // Behind the offset, beside which it counts.
      JSONField(
        "frozenAt", times, get: { if case .frozen(let moment) = $0 { moment } else { nil } },
        set: { $0 = .frozen($1) }),
    ])
  }

  init(_ clock: any ClockControl) {
    self = clock.frozenAt.map(SavedClock.frozen) ?? .offset(clock.offset)
  }

  func apply(to clock: any ClockControl) {
    switch self {
    case .offset(let nanoseconds):
      if clock.frozenAt != nil { clock.setFrozen(false) }
      clock.advance(nanoseconds: nanoseconds &- clock.offset)
    case .frozen(let moment):
      clock.set(moment)
      clock.setFrozen(true)
      // Some time has passed between the two.
      clock.set(moment)
    }
  }
}
