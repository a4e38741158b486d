import Basics
import PushModel

/// A row of the token map as it is told: by the store, a saved state or another node. What a row is of, its device and its topic, each
/// of them says in its own way.
package struct TokenRow: Equatable, Sendable {
  /// What an export calls it.
  package enum State: String, CaseIterable, Sendable {
    /// On the phone.
    case installed
    /// Taken off the phone, which has not reported it yet: pushes are still taken.
    case removed
    /// Reported: 410 and feedback.
    case gone
  }

  /// What the token map calls it; nil for the one that the emulator's secret gives.
  package var token: DeviceToken?
  /// The token as its chooser has it; nil for one that was given. Those of other lengths than devices know always were chosen.
  package var custom: CustomToken?
  /// What of the topic it is for; nil for all of it.
  package var context: TokenContext?
  package var install = Registration.installs.lowerBound
  package var environment = Environment.sandbox
  package var isAbandoned = false
  package var awaitsFeedback = false
  /// nil for now, or what it is already.
  package var issuedAt: Timestamp?
  package var isGone = false
  /// nil for now, if it is gone.
  package var goneAt: Timestamp?

  package init() {}

  package static let form = RowForm<TokenRow>([
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
  package var presented: CustomToken? {
    get { custom ?? token.map { CustomToken($0) } }
    set { (token, custom) = (newValue?.plain, newValue?.plain == nil ? newValue : nil) }
  }

  private var isCustom: Bool {
    get { custom != nil }
    set { if newValue { custom = presented } }
  }

  package var state: State {
    get { isGone ? .gone : isAbandoned ? .removed : .installed }
    set { (isAbandoned, isGone) = (newValue != .installed, newValue == .gone) }
  }
}

extension TokenRow {
  /// Has a row be as told. A saved state may say of one that exists whether it is there, not which install it is.
  func tell(_ row: inout Registration, isNew: Bool, because cause: RowCause, _ now: Timestamp) {
    row.isAbandoned = isAbandoned
    if cause != .imported || isNew { row.install = install }
    row.issuedAt = issuedAt ?? row.issuedAt
    row.goneAt = isGone ? goneAt ?? now : .never
    if cause != .imported { row.awaitsFeedback = awaitsFeedback }
  }
}

extension Registry {
  /// A row as others are told of it.
  package func told(_ id: RegistrationID) -> TokenRow {
    let row = self[id]
    var told = TokenRow()
    (told.token, told.install, told.environment) = (row.token, row.install, row.environment)
    told.context = context(of: id)
    told.custom = row.isCustom ? CustomToken(bytes: bytes(of: id)) : nil
    (told.isAbandoned, told.awaitsFeedback, told.issuedAt) = (
      row.isAbandoned, row.awaitsFeedback, row.issuedAt
    )
    (told.isGone, told.goneAt) = (!row.isActive, row.isActive ? nil : row.goneAt)
    return told
  }
}

/// A device as it is told: by the store, a saved state or another node.
package struct DeviceRow: Equatable, Sendable {
  package var udid: UDID
  /// Counts the device's identities; its base token follows from it. nil for what it is.
  package var identity: Int32?
  /// Names the key of the present identity, empty for none; nil for what it is. Not a secret: a digest of a public key.
  package var keyFingerprint: [UInt8]?
  package var firstSeenAt: Timestamp?
  package var lastSeenAt: Timestamp?

  package init(_ udid: UDID) { self.udid = udid }

  package init(_ device: Device) {
    (udid, identity, keyFingerprint) = (device.udid, device.identity, device.keyFingerprint)
    (firstSeenAt, lastSeenAt) = (device.firstSeenAt, device.lastSeenAt)
  }

  package static let form = RowForm<DeviceRow>([
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
  package static let blank = DeviceRow(UDID("-").unsafelyUnwrapped)
}

extension TopicEntry {
  package static let form = RowForm<TopicEntry>([
    RowField(1, "hash", .topicHash, \.hash), RowField(2, "name", .optional(.topic), \.name),
  ])

  /// What a row is read into.
  package static let blank = TopicEntry(hash: .zero, name: nil)
}
