import Basics
import Console
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

  /// Of nothing.
  init(environment: Environment) { self.environment = environment }

  init(_ object: JSONObject, environment: Environment) throws {
    self.init(environment: environment)
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
