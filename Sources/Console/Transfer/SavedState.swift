import Faults
import PushModel

/// Everything that an emulator knows and that a person could have told it, as one document: what `export` writes, and
/// `import` and `--seed-data` read. Parts that are absent are left alone.
struct SavedState {
  /// Of the document. Another number means that a reader of this one would misunderstand it.
  static let version: Int64 = 1
  /// Most rows of the token map in one document, as a count: it is read in one turn of the loop, so that a document is
  /// taken whole or not at all. Larger states are copied as the data folder.
  static let rowLimit = 50_000

  var clock: SavedClock?
  var apps: [SavedApp] = []
  var keys: [SavedKey] = []
  var devices: [SavedDevice] = []
  var channels: [SavedChannel] = []
  /// Tokens whose entries wait in the feedback service, oldest first; nil where the document does not say.
  var feedback: [DeviceToken]?
  var faults: [FaultRule] = []

  private static let names = [
    "version", "clock", "apps", "keys", "devices", "channels", "feedback", "faults",
  ]

  /// Reads a document; `environment` is meant where it does not say.
  init(_ object: JSONObject, environment: Environment) throws {
    guard try object.integer("version", 1...Int64.max) == Self.version else {
      throw ConsoleError.bad(
        "version", expected: "\(Self.version)", got: object["version"]?.text ?? "nothing")
    }
    try object.check(allowing: Self.names)
    clock = try object.object("clock").map(SavedClock.init)
    apps = try object.objects("apps")?.map(SavedApp.init) ?? []
    keys = try object.objects("keys")?.map(SavedKey.init) ?? []
    devices = try object.objects("devices")?.map { try SavedDevice($0, environment: environment) } ?? []
    channels = try object.objects("channels")?.map { try SavedChannel($0, environment: environment) } ?? []
    feedback = try Self.tokens(object)
    faults = try object.objects("faults")?.map(Self.fault) ?? []
    try checkUnique()
  }

  private static func tokens(_ object: JSONObject) throws -> [DeviceToken]? {
    try object.strings("feedback")?.enumerated().map { index, text in
      guard let token = DeviceToken(hex: text) else {
        throw ConsoleError.bad("feedback[\(index)]", expected: "64 hexadecimal digits", got: text)
      }
      return token
    }
  }

  private static func fault(_ object: JSONObject) throws -> FaultRule {
    try object.check(allowing: FaultRule.memberNames)
    let word = "1 to 64 of A-Z a-z 0-9 . _ -"
    let name = try object.text("name", word) { UDID($0)?.text } ?? object.string("preset")
    return try FaultRule(object, name: try object.required("name", word, name))
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
      throw ConsoleError.bad(
        "\(list)[\(index)].\(name)", expected: "one that no earlier entry has", got: text(value))
    }
  }
}
