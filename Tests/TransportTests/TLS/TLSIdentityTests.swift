import Credentials
import Platform
import Testing

@testable import Transport

@Suite("TLS identity")
struct TLSIdentityTests {
  private let certs: CertsFolder

  init() throws { certs = try Keys.folder() }

  private func error(_ body: () throws -> TLSIdentity) throws -> TLSError {
    try #require(throws: TLSError.self) { _ = try body() }
  }

  @Test("a file that is missing, or holds something else, is named")
  func namedFiles() throws {
    let missing = certs.path + "/absent.pem"
    let noCertificate = try error { try TLSIdentity(certificate: missing, key: certs.serverKey) }
    #expect(noCertificate.operation == "read certificate \(missing)")
    let noKey = try error { try TLSIdentity(certificate: certs.serverCertificate, key: missing) }
    #expect(noKey.operation == "read key \(missing)")
    let swapped = try error { try TLSIdentity(certificate: certs.serverKey, key: certs.serverCertificate) }
    #expect(swapped.operation == "read certificate \(certs.serverKey)" && swapped.sentence == "no start line")
    let twice = try error {
      try TLSIdentity(certificate: certs.serverCertificate, key: certs.serverCertificate)
    }
    #expect(twice.operation == "read key \(certs.serverCertificate)")
  }

  @Test("a chain that breaks off in its second certificate is refused, not shortened")
  func brokenChain() throws {
    let (leaf, key) = (try TextFile.read(certs.serverCertificate), try TextFile.read(certs.serverKey))
    let root = try TextFile.read(certs.caCertificate)
    _ = try TLSIdentity(certificatePEM: leaf + root, keyPEM: key)
    let broken = try error { try TLSIdentity(certificatePEM: leaf + root.dropLast(40), keyPEM: key) }
    #expect(broken.operation == "read a certificate")
  }

  @Test("a key of another certificate is refused by each context")
  func foreignKey() throws {
    let identity = try TLSIdentity(certificate: certs.serverCertificate, key: certs.caKey)
    for _ in 1...2 {
      #expect(throws: TLSError.self) { _ = try TLSContext.server([identity], policy: TLSPolicy()) }
    }
  }
}
