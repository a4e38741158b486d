import Basics
import PushModel

/// What one connection's provider tokens must have in common: the first accepted one binds the connection to its team
/// and key family (`Documentation/provider-api.md#key-kinds`).
///
/// What can't follow is refused before it is counted as an update: a token of an unrelated key is always a different
/// token, and with the counting first (`Documentation/provider-api.md#order-of-checks` step 3) its own reason could
/// hardly be seen.
public struct ProviderConnectionBinding {
  /// Where observations and documents disagree.
  public struct Options: Equatable, Sendable {
    public var updates = TokenUpdatePolicy()
    /// The reason for a key of the other environment: the word on the wire, or `.badEnvironmentKeyIdInToken` as
    /// documented (`Documentation/provider-api.md#open-questions`).
    public var otherEnvironment = Rejection.badEnvironmentKeyInToken
    /// The reason for a token of another team; `.forbidden` is conceivable
    /// (`Documentation/provider-api.md#open-questions`).
    public var otherTeam = Rejection.invalidProviderToken

    public init() {}
  }

  private let options: Options
  private let teamUpdates: TeamTokenUpdates
  private var updates = TokenUpdateLog()
  private var bound: VerifiedProviderToken?
  private var latest: VerifiedProviderToken?
  /// A token too many has come: the connection is unusable until time has passed, whichever token comes
  /// (`Documentation/provider-api.md#renewal`).
  private var isHeldUp = false

  /// Not bound yet. `teamUpdates` is shared by all connections.
  public init(options: Options = Options(), teamUpdates: TeamTokenUpdates = TeamTokenUpdates()) {
    self.options = options
    self.teamUpdates = teamUpdates
  }

  /// Nil if a verified token may be used on this connection, which serves one environment; otherwise the reason.
  public mutating func admit(
    _ token: VerifiedProviderToken, environment: Environment, now: Timestamp
  ) -> ProviderTokenRefusal? {
    if token === latest { return nil }
    if let refusal = conflict(token, environment) ?? excess(token, now) { return refusal }
    record(token, now)
    bound = bound ?? token
    latest = token
    return nil
  }

  private func conflict(_ token: VerifiedProviderToken, _ environment: Environment) -> ProviderTokenRefusal? {
    if let bound, bound.teamId != token.teamId {
      return ProviderTokenRefusal(
        options.otherTeam, "the connection is bound to team \(bound.teamId), the token is of \(token.teamId)")
    }
    guard token.environments.contains(environment) else {
      return ProviderTokenRefusal(
        options.otherEnvironment,
        "key \(token.keyId) is for \(token.environments.name), the connection for \(environment.name)")
    }
    if let bound, !Self.isRelated(bound, token) {
      return ProviderTokenRefusal(
        .unrelatedKeyIdInToken,
        "the connection is bound to key \(bound.keyId), the token is of key \(token.keyId)")
    }
    return nil
  }

  /// The same key, keys for the whole team, or topic-specific keys of which one names the other.
  private static func isRelated(_ left: VerifiedProviderToken, _ right: VerifiedProviderToken) -> Bool {
    left.keyId == right.keyId || left.topics.isEmpty && right.topics.isEmpty
      || left.relatedKeyId == right.keyId || right.relatedKeyId == left.keyId
  }

  private mutating func excess(_ token: VerifiedProviderToken, _ now: Timestamp) -> ProviderTokenRefusal? {
    let policy = options.updates
    guard policy.scope != .off else { return nil }
    let log = policy.scope == .team ? teamUpdates[token.teamId] : updates
    isHeldUp = isHeldUp && log.isFull(policy, now: now) || !log.allows(token.fingerprint, policy, now: now)
    guard isHeldUp else { return nil }
    latest = nil
    return ProviderTokenRefusal(
      .tooManyProviderTokenUpdates,
      "more than \(policy.tokensPerInterval) different tokens within \(policy.intervalSeconds) s")
  }

  private mutating func record(_ token: VerifiedProviderToken, _ now: Timestamp) {
    switch options.updates.scope {
    case .connection: updates.record(token.fingerprint, options.updates, now: now)
    case .team: teamUpdates[token.teamId].record(token.fingerprint, options.updates, now: now)
    case .off: break
    }
  }
}
