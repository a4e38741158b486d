import COpenSSL
import PushModel

@testable import Credentials

/// Certificates as others might have made them.
enum TestCertificate {
  /// One that the product issues.
  static func issued(environments: EnvironmentSet) throws -> KeyPair {
    try KeyPair.push(
      topics: [topic(Fixture.topic)], environments: environments, team: "DEF123GHIJ", by: Fixture.root(),
      now: Fixture.now)
  }

  /// One with a free choice of subject, extensions and issuer; signed by our root unless told.
  static func made(
    commonName: String, uid: String?, extensions: [CertificateExtension] = [], by issuer: KeyPair? = nil,
    key: PrivateKey? = nil, validSeconds: ClosedRange<Int64> = -3600...3600
  ) throws -> KeyPair {
    var subject = DistinguishedName((NID_commonName, commonName))
    if let uid { subject.attributes.append(.init(kind: NID_userId, text: uid)) }
    let template = CertificateTemplate(
      subject: subject, notBefore: Fixture.now.adding(seconds: validSeconds.lowerBound),
      notAfter: Fixture.now.adding(seconds: validSeconds.upperBound), extensions: extensions)
    let key = try key ?? PrivateKey.generateP256()
    let signer = try issuer ?? Fixture.root()
    return KeyPair(certificate: try template.signed(for: PublicKey(of: key), by: signer.issuer), key: key)
  }

  /// An authority that nobody here knows.
  static func foreignAuthority() throws -> KeyPair { try KeyPair.root(now: Fixture.now) }
}
