import Broker
import PushModel

/// A device of a saved state, with the rows of its token map.
struct SavedDevice: Equatable {
  var udid: UDID
  /// Counts the device's identities; its base token follows from it. nil for what it is.
  var identity: Int32?
  /// Names the key of the present identity; nil for what it is. Not a secret: a digest of a public key.
  var keyFingerprint: [UInt8]?
  var firstSeenAt: Timestamp?
  var lastSeenAt: Timestamp?
  /// In the order in which they were issued.
  var rows: [SavedRow]

  private static let names = ["udid", "identity", "keyFingerprint", "firstSeenAt", "lastSeenAt", "apps"]

  init(_ device: Device) {
    (udid, identity) = (device.udid, device.identity)
    keyFingerprint = device.keyFingerprint.isEmpty ? nil : device.keyFingerprint
    (firstSeenAt, lastSeenAt) = (device.firstSeenAt, device.lastSeenAt)
    rows = []
  }

  init(_ object: JSONObject, environment: Environment) throws {
    try object.check(allowing: Self.names)
    let word = "1 to 64 of A-Z a-z 0-9 . _ -"
    udid = try object.required("udid", word, object.text("udid", word) { UDID($0) })
    identity = try object.integer("identity", 1...Int64(Int32.max)).map { Int32($0) }
    keyFingerprint = try object.text("keyFingerprint", "2 to 64 hexadecimal digits") { text in
      (2...64).contains(text.utf8.count) ? Hex.decode(text) : nil
    }
    (firstSeenAt, lastSeenAt) = (try object.time("firstSeenAt"), try object.time("lastSeenAt"))
    rows = []
    for app in try object.objects("apps") ?? [] {
      rows.append(try SavedRow(app, after: rows, environment: environment))
    }
  }

  /// Without its rows, which may be many.
  var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [("udid", .string(udid.text))]
    if let identity { members.append(("identity", .integer(Int64(identity)))) }
    if let keyFingerprint { members.append(("keyFingerprint", .string(Hex.encode(keyFingerprint)))) }
    if let firstSeenAt { members.append(("firstSeenAt", .string(firstSeenAt.rfc3339))) }
    if let lastSeenAt { members.append(("lastSeenAt", .string(lastSeenAt.rfc3339))) }
    return members
  }
}
