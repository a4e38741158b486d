import PushModel

/// A device as it is told: by the store, a saved state or another node.
public struct DeviceRow: Equatable, Sendable {
  public var udid: UDID
  /// Counts the device's identities; its base token follows from it. nil for what it is.
  public var identity: Int32?
  /// Names the key of the present identity, empty for none; nil for what it is. Not a secret: a digest of a public key.
  public var keyFingerprint: [UInt8]?
  public var firstSeenAt: Timestamp?
  public var lastSeenAt: Timestamp?

  public init(_ udid: UDID) { self.udid = udid }

  public init(_ device: Device) {
    (udid, identity, keyFingerprint) = (device.udid, device.identity, device.keyFingerprint)
    (firstSeenAt, lastSeenAt) = (device.firstSeenAt, device.lastSeenAt)
  }

  public static let form = RowForm<DeviceRow>([
    RowField(1, "udid", .udid, \.udid, JSONField("udid", .udid, \.udid).needed),
    RowField(
      2, "identity", .number(Device.identities, "an identity"), \.identity,
      JSONField("identity", .whole(1...Int64(Device.identities.upperBound)), \.identity)),
    RowField(
      3, "key", .bytes, \.keyFingerprint,
      JSONField(
        "keyFingerprint", .hex("2 to 64 hexadecimal digits", 1...32),
        get: { $0.keyFingerprint?.isEmpty == false ? $0.keyFingerprint : nil },
        set: { $0.keyFingerprint = $1 })),
    RowField(4, "firstSeenAt", .time, \.firstSeenAt, JSONField("firstSeenAt", .time, \.firstSeenAt)),
    RowField(5, "lastSeenAt", .time, \.lastSeenAt, JSONField("lastSeenAt", .time, \.lastSeenAt)),
  ])

  /// What a row is read into.
  public static let blank = DeviceRow(UDID("-").unsafelyUnwrapped)
}

extension TopicEntry {
  public static let form = RowForm<TopicEntry>([
    RowField(1, "hash", .topicHash, \.hash), RowField(2, "name", .optional(.topic), \.name),
  ])

  /// What a row is read into.
  public static let blank = TopicEntry(hash: .zero, name: nil)
}
