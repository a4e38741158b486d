import Basics
import COpenSSL
import TestSupport
import Testing

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

  /// One of so many bytes in DER, most of them an extension that nobody knows.
  static func made(byteCount: Int) throws -> [UInt8] {
    let key = try PrivateKey.generateP256()
    func der(filler count: Int) throws -> [UInt8] {
      let filler = CertificateExtension("1.2.3.4", der: [UInt8](repeating: 0, count: count))
      return try made(
        commonName: "Apple Push Services: com.example.app", uid: "com.example.app", extensions: [filler],
        key: key
      ).certificate.der
    }
    let filler = byteCount - 2000
    let exact = try der(filler: filler + byteCount - der(filler: filler).count)
    try #require(exact.count == byteCount)
    return exact
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
