import PushModel

/// What a verified push certificate allows (`Documentation/provider-api.md#certificates`).
public struct ProviderCertificate: Sendable {
  /// The topics it lists.
  public let topics: Set<Topic>
  /// The topic of requests that name none: the subject's UID, if the certificate is for a single topic
  /// (`Documentation/provider-api.md#topics-extension`).
  public let impliedTopic: Topic?
  public let environments: Set<Environment>
  /// What strict has against it, where lenient let its handshake pass.
  public let waiver: Waiver?

  public init(
    topics: Set<Topic>, impliedTopic: Topic?, environments: Set<Environment>, waiver: Waiver? = nil
  ) {
    (self.topics, self.impliedTopic, self.environments) = (topics, impliedTopic, environments)
    self.waiver = waiver
  }

  /// Push types that only a provider token can use (`Documentation/provider-api.md#topics-extension`, `#push-types`).
  static let tokenOnly: Set<PushType> = [.location, .liveactivity]
  /// Suffixes that a bundle id may be given without being listed: of those in
  /// `Documentation/provider-api.md#push-types`, neither VoIP and complication, which
  /// `Documentation/provider-api.md#topics-extension` wants listed, nor what is for tokens only.
  static let derivedSuffixes = [PushType.fileprovider, .pushtotalk, .widgets, .controls].map(\.topicSuffix)

  func covers(_ topic: Topic, _ pushType: PushType?) -> Bool {
    if let pushType, Self.tokenOnly.contains(pushType) { return false }
    return topics.contains(topic) || topic.isDerived(from: topics, by: Self.derivedSuffixes)
  }

  /// Why a connection with this certificate can't go on in `environment`, or nil. The answer to it on HTTP/2 is GOAWAY
  /// with `ErrorBody.bytes` as debug data (`Documentation/provider-api.md#environment-mismatch`).
  public func connectionRejection(in environment: Environment) -> Rejection? {
    environments.contains(environment) ? nil : .badCertificateEnvironment
  }
}
