import Basics
import PushModel

/// A provider token whose signature is good. An object, because every request on a connection passes the same one on.
public final class VerifiedProviderToken: Sendable {
  public let keyId: String
  public let teamId: String
  public let issuedAt: Timestamp
  /// The topics its key may push to; empty for all of the team's.
  public let topics: Set<Topic>
  /// Where its key may push.
  public let environments: EnvironmentSet
  /// The one other topic-specific key whose tokens may follow on the same connection.
  public let relatedKeyId: String?
  /// SHA-256 over the token: tells tokens apart without keeping them.
  public let fingerprint: [UInt8]
  /// What strict mode has against it, where lenient mode let it pass.
  public let leniency: ProviderTokenRefusal?
  /// What the documents have against it although Apple evidently serves such tokens.
  public let deviation: ProviderTokenRefusal?

  public init(
    _ token: ProviderToken, key: ProviderKeyRecord, fingerprint: [UInt8],
    leniency: ProviderTokenRefusal? = nil
  ) {
    keyId = key.keyId
    teamId = key.teamId
    issuedAt = token.issuedAt
    topics = Set(key.topics)
    environments = key.environments
    relatedKeyId = key.relatedKeyId
    self.fingerprint = fingerprint
    self.leniency = leniency
    deviation = token.deviation
  }

  /// Tells tokens apart where a number will do: the same for the same token, wherever it is shown.
  public var number: UInt32 { fingerprint.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

  /// Whether it is older than a token may be.
  public func isOutdated(at now: Timestamp) -> Bool {
    now > issuedAt.adding(nanoseconds: ProviderTokenVerifier.maximumAgeSeconds * 1_000_000_000)
  }

  /// Whether it was issued further in the future than a token may be.
  public func isAhead(of now: Timestamp) -> Bool {
    issuedAt > now.adding(nanoseconds: ProviderTokenVerifier.maximumAheadSeconds * 1_000_000_000)
  }
}
