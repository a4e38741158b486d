import Basics
import PushModel

/// A row of the token map as it is told: by the store, a saved state or another node. What a row is of, its device and its topic, each
/// of them says in its own way.
public struct TokenRow: Equatable, Sendable {
  /// What an export calls it.
  public enum State: String, CaseIterable, Sendable {
    /// On the phone.
    case installed
    /// Taken off the phone, which has not reported it yet: pushes are still taken.
    case removed
    /// Reported: 410 and feedback.
    case gone
  }

  /// What the token map calls it; nil for the one that the emulator's secret gives.
  public var token: DeviceToken?
  /// The token as its chooser has it; nil for one that was given. Those of other lengths than devices know always were chosen.
  public var custom: CustomToken?
  /// What of the topic it is for; nil for all of it.
  public var context: TokenContext?
  public var install = Registration.installs.lowerBound
  public var environment = Environment.sandbox
  public var isAbandoned = false
  public var awaitsFeedback = false
  /// nil for now, or what it is already.
  public var issuedAt: Timestamp?
  public var isGone = false
  /// nil for now, if it is gone.
  public var goneAt: Timestamp?

  public init() {}

  public static let form = RowForm<TokenRow>([
    RowField(
      5, "context", .optional(.tokenContext), \.context, table: "token_context",
      JSONField("context", .tokenContext, \.context)),
    RowField(
      8, "environment", .environment, \.environment, JSONField("environment", .environment, \.environment)),
    RowField(
      7, "install", .number(Registration.installs, "an install"), \.install,
      JSONField("install", .whole(1...Int64(Registration.installs.upperBound)), \.install)),
    RowField(1, "token", .token, \.token, JSONField("token", .customToken, \.presented)),
    RowField(
      6, "token", .optional(.customToken), \.custom, table: "chosen_token",
      JSONField(flag: "chosen", \.isCustom)),
    RowField(document: JSONField("state", .word, \.state)),
    RowField(9, "abandoned", .flag, \.isAbandoned), RowField(10, "feedback", .flag, \.awaitsFeedback),
    RowField(11, "issuedAt", .time, \.issuedAt, JSONField("issuedAt", .time, \.issuedAt)),
    RowField(
      12, "goneAt", .time, get: { $0.isGone ? $0.goneAt ?? .never : .never },
      set: { ($0.isGone, $0.goneAt) = ($1 != .never, $1 == .never ? nil : $1) },
      JSONField("goneAt", pastTimes, \.goneAt)),
  ])

  /// The end of time is how the token map says that a token is not gone.
  private static let pastTimes = JSONKind<Timestamp>.time.narrowed("a time before 2262") { $0 < .never }

  /// The token as providers present it.
  public var presented: CustomToken? {
    get { custom ?? token.map { CustomToken($0) } }
    set { (token, custom) = (newValue?.plain, newValue?.plain == nil ? newValue : nil) }
  }

  private var isCustom: Bool {
    get { custom != nil }
    set { if newValue { custom = presented } }
  }

  public var state: State {
    get { isGone ? .gone : isAbandoned ? .removed : .installed }
    set { (isAbandoned, isGone) = (newValue != .installed, newValue == .gone) }
  }
}

extension TokenRow {
  /// A row as others are told of it.
  public init(_ id: RegistrationID, of registry: Registry) {
    let row = registry[id]
    (token, install, environment) = (row.token, row.install, row.environment)
    context = registry.context(of: id)
    custom = row.isCustom ? CustomToken(bytes: registry.bytes(of: id)) : nil
    (isAbandoned, awaitsFeedback, issuedAt) = (row.isAbandoned, row.awaitsFeedback, row.issuedAt)
    (isGone, goneAt) = (!row.isActive, row.isActive ? nil : row.goneAt)
  }

  /// Has a row be as told. A saved state may say of one that exists whether it is there, not which install it is.
  func tell(_ row: inout Registration, isNew: Bool, because cause: RowCause, _ now: Timestamp) {
    row.isAbandoned = isAbandoned
    if cause != .imported || isNew { row.install = install }
    row.issuedAt = issuedAt ?? row.issuedAt
    row.goneAt = isGone ? goneAt ?? now : .never
    if cause != .imported { row.awaitsFeedback = awaitsFeedback }
  }
}

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
  public static let blank = DeviceRow(.placeholder)
}
