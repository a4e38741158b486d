import Basics
import COpenSSL
import PushModel

/// What a provider's certificate says about it (`Documentation/provider-api.md#certificates`). Nothing here is
/// verified; that is `ProviderTrust`.
public struct PushCertificateClaims: Hashable, Sendable {
  /// The topics it may push to: those of the topics extension, else the one in the subject's UID; empty if neither
  /// names any.
  public let topics: [PushTopic]
  /// The topic of pushes that name none: the subject's UID.
  public let impliedTopic: Topic?
  /// Where it may be used: as the extensions say, else as the common name's prefix does; empty if neither does.
  public let environments: EnvironmentSet
  public let commonName: String
  /// Subject OU.
  public let teamId: String?
  /// Common name of the issuer.
  public let issuer: String
  public let notBefore: Timestamp
  public let notAfter: Timestamp
  /// SHA-256 over the whole certificate.
  public let fingerprint: [UInt8]

  /// Reads a certificate in DER; nil if it is none. Pure, bounded by `Certificate.maximumByteCount`; made for fuzzing.
  public static func parse(der: [UInt8]) -> PushCertificateClaims? {
    Certificate(der: der).flatMap { PushCertificateClaims($0, der: der) }
  }

  init?(_ certificate: Certificate, der: [UInt8]) {
    guard let notBefore = certificate.notBefore, let notAfter = certificate.notAfter else { return nil }
    let uid = certificate.subjectAttribute(NID_userId).flatMap { Topic($0) }
    impliedTopic = uid
    topics = Self.listedTopics(certificate) ?? uid.map { [PushTopic($0)] } ?? []
    commonName = certificate.subjectAttribute(NID_commonName) ?? ""
    environments =
      Self.markedEnvironments(certificate) ?? PushCertificateKind(commonName: commonName)?.environments ?? []
    teamId = certificate.subjectAttribute(NID_organizationalUnitName)
    issuer = certificate.issuerCommonName
    self.notBefore = notBefore
    self.notAfter = notAfter
    fingerprint = Digests.sha256(der)
  }

  /// Whether it names any topic at all.
  public var namesTopic: Bool { !topics.isEmpty }

  /// Whether it may push to `topic`.
  public func covers(_ topic: Topic) -> Bool { topics.contains { $0.name == topic } }

  /// The topic of an HTTP/2 request that names none: nil when there are several to choose from
  /// (`Documentation/provider-api.md#topics-extension`).
  public var defaultTopic: Topic? { topics.count > 1 ? nil : impliedTopic ?? topics.first?.name }

  private static func listedTopics(_ certificate: Certificate) -> [PushTopic]? {
    certificate.extensionValue(CertificateExtension.topicsIdentifier).flatMap(TopicsExtension.decode)
  }

  private static func markedEnvironments(_ certificate: Certificate) -> EnvironmentSet? {
    let marked = Environment.allCases.filter {
      certificate.extensionValue(CertificateExtension.pushIdentifier($0)) != nil
    }
    return marked.isEmpty ? nil : EnvironmentSet(marked)
  }
}
