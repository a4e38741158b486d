import Basics
import COpenSSL
import Platform
import PushModel

/// Where a certificate, with those above it, and its private key lie beside each other, both in PEM.
public struct PairPaths: Equatable, Sendable {
  public let certificate: String
  public let key: String

  /// Two files that differ in what follows the last dot.
  public init(_ base: String) { (certificate, key) = (base + ".pem", base + ".key") }
}

/// A certificate with its private key, as two PEM files beside each other.
public struct KeyPair {
  public var certificate: Certificate
  public var key: PrivateKey

  /// The pair at `paths`, or nil if neither file is there. One that is not valid `now` is an error.
  init?(at paths: PairPaths, now: Timestamp) throws(CredentialsError) {
    try self.init(at: paths)
    try certificate.requireValidity(at: now, path: paths.certificate)
  }

  /// The same, whenever it is valid.
  init?(at paths: PairPaths) throws(CredentialsError) {
    switch (PathCalls.exists(paths.certificate), PathCalls.exists(paths.key)) {
    case (false, false): return nil
    case (true, false): throw Self.incomplete(present: paths.certificate, missing: paths.key)
    case (false, true): throw Self.incomplete(present: paths.key, missing: paths.certificate)
    case (true, true): break
    }
    guard let certificate = Certificate.all(pem: try FileSystem.read(paths.certificate)).first else {
      throw CredentialsError(.malformed, "\(paths.certificate) holds no PEM certificate")
    }
    guard let key = PrivateKey(pem: try FileSystem.read(paths.key)) else {
      throw CredentialsError(.malformed, "\(paths.key) holds no unencrypted PEM key")
    }
    guard certificate.belongs(to: key) else {
      throw CredentialsError(.mismatched, "\(paths.key) is not the key of \(paths.certificate)")
    }
    self.init(certificate: certificate, key: key)
  }

  public init(certificate: Certificate, key: PrivateKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Writes both files, the key first: a certificate without its key would look complete to a reader.
  public func write(to paths: PairPaths) throws(CredentialsError) {
    try FileSystem.write(try key.pem(), to: paths.key, permissions: FileSystem.secretFile)
    try FileSystem.write(try certificate.pem(), to: paths.certificate, permissions: FileSystem.openFile)
  }

  private static func incomplete(present: String, missing: String) -> CredentialsError {
    CredentialsError(
      .mismatched,
      "\(missing) is missing although \(present) is there; restore it, or remove both to make new ones")
  }
}

extension Certificate {
  /// Throws unless `now` lies within the validity.
  func requireValidity(at now: Timestamp, path: String) throws(CredentialsError) {
    guard let notBefore, let notAfter else {
      throw CredentialsError(.malformed, "\(path) has no readable validity")
    }
    guard now <= notAfter else {
      throw CredentialsError(
        .expired, "\(path) expired at \(notAfter.rfc3339); remove it and its key to have new ones made")
    }
    guard now >= notBefore else {
      throw CredentialsError(.expired, "\(path) is not valid before \(notBefore.rfc3339)")
    }
  }
}

/// The certificates that this emulator makes, and what each says.
extension KeyPair {
  /// Our root: RSA and SHA-256, which clients have verified since about 2008.
  public static func root(now: Timestamp) throws(CredentialsError) -> KeyPair {
    let key = try PrivateKey.generateRSA()
    let template = ca(named: "apns-emulator Root CA", now: now)
    let certificate = try template.signed(for: PublicKey(of: key), by: nil, with: key)
    return KeyPair(certificate: certificate, key: key)
  }

  /// Signs device identities and nothing else.
  public static func deviceCA(by root: KeyPair, now: Timestamp) throws(CredentialsError) -> KeyPair {
    try make(ca(named: "apns-emulator Device CA", now: now), by: root)
  }

  /// The server under every name that a client may have dialled, and under `names`, which may be IP addresses too.
  static func server(
    by root: KeyPair, names: [String] = [], now: Timestamp
  ) throws(CredentialsError) -> KeyPair {
    let numbers = names.filter { SocketAddress(host: $0, port: 0).isNumeric }
    // No name has a comma, which would end it for OpenSSL.
    let hosts = names.filter { !numbers.contains($0) && !$0.contains(",") }
    let subject = DistinguishedName((NID_commonName, "localhost"), (NID_organizationName, organization))
    let extensions: [CertificateExtension] = [
      .basicConstraints(isCA: false), .keyUsage(.digitalSignature, .keyEncipherment),
      .extendedKeyUsage(.serverAuthentication),
      .subjectAlternativeNames(
        hosts: ServerNames.hosts + hosts, addresses: ServerNames.addresses + numbers),
    ]
    return try make(template(subject, now: now, days: Lifetime.server, extensions), by: root)
  }

  /// A push certificate as Apple's look (`Documentation/provider-api.md#certificates`), or as they looked before 2015:
  /// with the topic in the subject alone.
  public static func push(
    topics: [Topic], environments: EnvironmentSet, isSingle: Bool = false, team: String, by root: KeyPair,
    now: Timestamp
  ) throws(CredentialsError) -> KeyPair {
    let key = try PrivateKey.generateRSA()
    let certificate = try pushCertificate(
      for: PublicKey(of: key), topics: topics, environments: environments, isSingle: isSingle, team: team,
      by: root, now: now)
    return KeyPair(certificate: certificate, key: key)
  }

  /// The same for a key that is somewhere else.
  static func pushCertificate(
    for key: PublicKey, topics: [Topic], environments: EnvironmentSet, isSingle: Bool, team: String,
    by root: KeyPair, now: Timestamp
  ) throws(CredentialsError) -> Certificate {
    guard let first = topics.first else {
      throw CredentialsError(.unsuitable, "a push certificate needs a topic")
    }
    guard !isSingle || topics.count == 1 else {
      throw CredentialsError(
        .unsuitable, "a certificate of a single topic was asked for with \(topics.count)")
    }
    guard let kind = PushCertificateKind.issued(for: topics, in: environments) else {
      throw CredentialsError(.unsuitable, "a push certificate needs an environment")
    }
    let subject = DistinguishedName(
      (NID_userId, first.name), (NID_commonName, kind.commonName(first)),
      (NID_organizationalUnitName, team),
      (NID_countryName, "US"))
    let extensions =
      [
        .basicConstraints(isCA: false), .extendedKeyUsage(.clientAuthentication),
        .keyUsage(.digitalSignature),
      ]
      + environments.environments.map(CertificateExtension.push)
      + (isSingle ? [] : [.topics(PushTopic.listed(for: topics, isUniversal: kind == .universal))])
    return try template(subject, now: now, days: Lifetime.push, extensions).signed(
      for: key, by: root.certificate, with: root.key)
  }

  /// The certificate of one device for a key that stays with the device
  /// (`Documentation/device-protocol.md#authentication`).
  static func deviceCertificate(
    udid: UDID, publicKey: PublicKey, by ca: KeyPair, now: Timestamp
  ) throws(CredentialsError) -> Certificate {
    let subject = DistinguishedName((NID_commonName, udid.text))
    let extensions: [CertificateExtension] = [
      .basicConstraints(isCA: false), .keyUsage(.digitalSignature, .keyEncipherment),
      .extendedKeyUsage(.clientAuthentication),
    ]
    return try template(subject, now: now, days: Lifetime.device, extensions)
      .signed(for: publicKey, by: ca.certificate, with: ca.key)
  }

  private static let organization = "apns-emulator"

  /// How long certificates hold, in days.
  private enum Lifetime {
    /// Ours, renewed by removing the file.
    static let ca: Int64 = 3650
    /// The longest that Apple's own TLS clients accept of a server.
    static let server: Int64 = 825
    /// About 13 months (`Documentation/provider-api.md#subject`).
    static let push: Int64 = 395
    static let device: Int64 = 1095
  }

  private static func ca(named name: String, now: Timestamp) -> CertificateTemplate {
    let subject = DistinguishedName((NID_commonName, name), (NID_organizationName, organization))
    return template(
      subject, now: now, days: Lifetime.ca,
      [.basicConstraints(isCA: true), .keyUsage(.certificateSigning, .revocationListSigning)])
  }

  /// Valid from a day ago: the clocks of clients differ.
  private static func template(
    _ subject: DistinguishedName, now: Timestamp, days: Int64, _ extensions: [CertificateExtension]
  ) -> CertificateTemplate {
    let day: Int64 = 86_400 * 1_000_000_000
    return CertificateTemplate(
      subject: subject, notBefore: now.adding(nanoseconds: -day),
      notAfter: now.adding(nanoseconds: day * days),
      extensions: extensions)
  }

  private static func make(_ template: CertificateTemplate, by issuer: KeyPair) throws(CredentialsError)
    -> KeyPair
  {
    let key = try PrivateKey.generateRSA()
    let certificate = try template.signed(
      for: PublicKey(of: key), by: issuer.certificate, with: issuer.key)
    return KeyPair(certificate: certificate, key: key)
  }
}

/// The names that the server certificate answers to: this machine, and every Apple host name of the five listeners
/// (`Documentation/coverage.md#environments`; `Documentation/binary-protocol.md#transport`, `#feedback`,
/// `Documentation/provider-api.md#connection`, `#channels-and-broadcast`;
/// `Documentation/device-protocol.md#transport`).
enum ServerNames {
  private static let domains = ["push.apple.com", "sandbox.push.apple.com"]
  private static let services = [
    "gateway", "feedback", "api", "api-broadcast", "api-manage-broadcast", "courier",
  ]

  /// The wildcards cover the numbered courier hosts (`17-courier.push.apple.com`) and whatever comes next; the names
  /// are spelt out as well for clients that do not take a wildcard.
  static let hosts: [String] =
    ["localhost"]
    + domains.flatMap { domain in services.map { "\($0).\(domain)" } }
    + ["api.development.push.apple.com"]
    + (domains + ["development.push.apple.com"]).map { "*.\($0)" }

  static let addresses = ["127.0.0.1", "::1"]
}
