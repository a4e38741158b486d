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

extension Registry {
  /// A row as others are told of it.
  public func told(_ id: RegistrationID) -> TokenRow {
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
