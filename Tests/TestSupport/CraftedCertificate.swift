import Basics
import COpenSSL
import Credentials

/// Certificates as others might have made them, with a free choice of what they say.
package enum CraftedCertificate {
  /// A certificate of `issuer`, or one that is its own issuer, for a new key on P-256 unless one is given.
  package static func made(
    commonName: String, uid: String? = nil, extensions: [CertificateExtension] = [], by issuer: KeyPair?,
    key: PrivateKey? = nil, from notBefore: Timestamp, until notAfter: Timestamp
  ) throws -> KeyPair {
    let template = CertificateTemplate(
      subject: subject(commonName, uid), notBefore: notBefore, notAfter: notAfter, extensions: extensions)
    let key = try key ?? PrivateKey.generateP256()
    let certificate = try template.signed(
      for: PublicKey(of: key), by: issuer?.certificate, with: issuer?.key ?? key)
    return KeyPair(certificate: certificate, key: key)
  }

  private static func subject(_ commonName: String, _ uid: String?) -> DistinguishedName {
    guard let uid else { return DistinguishedName((NID_commonName, commonName)) }
    return DistinguishedName((NID_commonName, commonName), (NID_userId, uid))
  }

  /// An authority that nobody knows.
  package static func ca(now: Timestamp) throws -> KeyPair { try KeyPair.root(now: now) }
}
