import Basics
import PushModel

/// How a connection says who it is.
public enum ProviderIdentity {
  /// By the certificate of its TLS handshake; `authorization` is ignored then
  /// (`Documentation/provider-api.md#request`).
  case certificate(ProviderCertificate)
  /// By a provider token in each request.
  case token(any ProviderTokenChecking)

  /// Whether requests authenticate one by one. Such a connection begins with one stream
  /// (`Documentation/provider-api.md#settings`).
  public var usesTokens: Bool {
    if case .token = self { return true }
    return false
  }

  /// Why a connection of this provider can't go on in `environment`, or nil. The answer to it on HTTP/2 is GOAWAY
  /// with `ErrorBody.bytes` as debug data (`Documentation/provider-api.md#environment-mismatch`).
  public func connectionRejection(in environment: Environment) -> Rejection? {
    guard case .certificate(let certificate) = self else { return nil }
    return certificate.environments.contains(environment) ? nil : .badCertificateEnvironment
  }
}

/// What a verified push certificate allows (`Documentation/provider-api.md#certificates`).
public struct ProviderCertificate {
  /// The topics it lists.
  public let topics: Set<Topic>
  /// The topic of requests that name none: the subject's UID, if the certificate is for a single topic
  /// (`Documentation/provider-api.md#topics-extension`).
  public let impliedTopic: Topic?
  public let environments: Set<Environment>
  /// What strict has against it, where lenient let its handshake pass.
  public let waiver: Waiver?
  /// What may become of it while its connection is open; nil if nothing can.
  public let standing: (any CertificateStanding)?

  public init(
    topics: Set<Topic>, impliedTopic: Topic?, environments: Set<Environment>, waiver: Waiver? = nil,
    standing: (any CertificateStanding)? = nil
  ) {
    (self.topics, self.impliedTopic, self.environments) = (topics, impliedTopic, environments)
    (self.waiver, self.standing) = (waiver, standing)
  }

  /// Push types that only a provider token can use (`Documentation/provider-api.md#topics-extension`, `#push-types`).
  public static let tokenOnly: Set<PushType> = [.location, .liveactivity]

  /// Only what it lists (`Documentation/provider-api.md#topics-extension`): no suffix follows from a bundle id.
  func covers(_ topic: Topic, _ pushType: PushType?) -> Bool {
    if let pushType, Self.tokenOnly.contains(pushType) { return false }
    return topics.contains(topic)
  }
}

/// Whether a certificate that was good in its handshake still is. Implemented by whoever knows what was revoked; asked for each
/// request.
public protocol CertificateStanding: AnyObject {
  var isRevoked: Bool { get }
}

/// What a valid provider token allows (`Documentation/provider-api.md#provider-tokens`).
///
/// Make one for each token and hand out the same object again while the token is the same: topics found allowed are
/// remembered under it.
public final class ProviderGrant {
  public let keyID: String
  public let teamID: String
  /// The topics of a topic-specific key; nil for a key of the whole team.
  public let topics: Set<Topic>?
  /// What strict has against the token, where a lenient verifier took it at its word.
  public let waiver: Waiver?

  public init(keyID: String, teamID: String, topics: Set<Topic>? = nil, waiver: Waiver? = nil) {
    (self.keyID, self.teamID, self.topics, self.waiver) = (keyID, teamID, topics, waiver)
  }

  func covers(_ topic: Topic) -> Bool {
    topics.map { $0.contains(topic) || $0.contains(topic.app.topic) } ?? true
  }
}

/// Judges provider tokens for one connection. Implemented by whoever holds the keys.
///
/// The implementation remembers what the connection is bound to after its first push (team, environment, related keys) and
/// how often it changed tokens (`Documentation/provider-api.md#provider-tokens`). It should verify each token once and
/// answer from memory after that: it is asked for every request.
public protocol ProviderTokenChecking: AnyObject {
  /// Judges the credentials of `authorization: bearer …`, without the scheme. `token` is lent for the call.
  func check(_ token: Span<UInt8>, now: Timestamp) -> ProviderTokenVerdict
}

/// What became of a provider token.
public enum ProviderTokenVerdict {
  case granted(ProviderGrant)
  /// One of the reasons of E. The explanation must not hold the token.
  case refused(Rejection, Explanation)
}

extension ProviderIdentity {
  /// Most topics named in an explanation.
  private static var named: Int { 5 }

  /// What the provider may push to, in words.
  func coverage(_ grant: ProviderGrant?) -> String {
    switch self {
    case .certificate(let certificate): Self.list(certificate.topics)
    case .token: grant?.topics.map(Self.list) ?? "any topic of the team"
    }
  }

  private static func list(_ topics: Set<Topic>) -> String {
    let names = topics.map(\.name).sorted()
    let more = names.count > named ? " or \(names.count - named) more" : ""
    return "one of " + names.prefix(named).joined(separator: ", ") + more
  }
}
