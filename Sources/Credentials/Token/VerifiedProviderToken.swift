import Basics
import PushModel

/// A provider token whose signature is good. An object, because every request on a connection passes the same one on.
package final class VerifiedProviderToken: Sendable {
  package let keyId: String
  package let teamId: String
  package let issuedAt: Timestamp
  /// The topics its key may push to; empty for all of the team's.
  package let topics: Set<Topic>
  /// Where its key may push.
  package let environments: EnvironmentSet
  /// The one other topic-specific key whose tokens may follow on the same connection.
  package let relatedKeyId: String?
  /// SHA-256 over the token: tells tokens apart without keeping them.
  package let fingerprint: [UInt8]
  /// What strict mode has against it, where lenient mode let it pass.
  package let leniency: ProviderTokenRefusal?
  /// What the documents have against it although Apple evidently serves such tokens.
  package let deviation: ProviderTokenRefusal?

  package init(
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

  /// Whether it is older than a token may be.
  package func isOutdated(at now: Timestamp) -> Bool {
    now > issuedAt.adding(nanoseconds: ProviderTokenVerifier.maximumAgeSeconds * 1_000_000_000)
  }

  /// Whether it was issued further in the future than a token may be.
  package func isAhead(of now: Timestamp) -> Bool {
    issuedAt > now.adding(nanoseconds: ProviderTokenVerifier.maximumAheadSeconds * 1_000_000_000)
  }
}
