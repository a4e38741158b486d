import Broker
import PushModel

/// A device of a saved state, with the rows of its token map.
struct SavedDevice: Equatable, JSONDocument {
  var udid: UDID
  /// Counts the device's identities; its base token follows from it. nil for what it is.
  var identity: Int32?
  /// Names the key of the present identity; nil for what it is. Not a secret: a digest of a public key.
  var keyFingerprint: [UInt8]?
  var firstSeenAt: Timestamp?
  var lastSeenAt: Timestamp?
  /// In the order in which they were issued.
  var rows: [SavedRow] = []

  private var installs = NumberedInstalls()
  /// Meant by rows that do not say.
  private var environment = Environment.sandbox

  init(_ device: Device) {
    (udid, identity) = (device.udid, device.identity)
    keyFingerprint = device.keyFingerprint.isEmpty ? nil : device.keyFingerprint
    (firstSeenAt, lastSeenAt) = (device.firstSeenAt, device.lastSeenAt)
  }

  /// What is written is without its rows, which may be many.
  static let form = JSONForm<SavedDevice>([
    JSONField("udid", .udid, \.udid).needed,
    JSONField("identity", .whole(1...Int64(Device.identities.upperBound)), \.identity),
    JSONField("keyFingerprint", .hex("2 to 64 hexadecimal digits", 1...32), \.keyFingerprint),
    JSONField("firstSeenAt", .time, \.firstSeenAt), JSONField("lastSeenAt", .time, \.lastSeenAt),
    JSONField(objects: "apps", "SavedRow") {
      try $0.addRow($1)
    },
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
    udid = try object.required("udid", .udid)
    self.environment = environment
    try Self.form.read(object, into: &self)
  }
}
