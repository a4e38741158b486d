import Basics
import COpenSSL
import TestSupport

import Credentials

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
    try CraftedCertificate.made(
      commonName: commonName, uid: uid, extensions: extensions, by: issuer ?? Fixture.root(), key: key,
      from: Fixture.now.adding(seconds: validSeconds.lowerBound),
      until: Fixture.now.adding(seconds: validSeconds.upperBound))
  }

  /// A CA that nobody here knows.
  static func foreignCA() throws -> KeyPair { try CraftedCertificate.ca(now: Fixture.now) }
}

extension Certificate {
  /// Unsigned and in network order.
  var serialNumber: [UInt8] {
    let number = X509_get0_serialNumber(handle)
    return Array(
      UnsafeBufferPointer(start: ASN1_STRING_get0_data(number), count: Int(ASN1_STRING_length(number))))
  }
}
