import Credentials
import Platform
import Testing

import Transport

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
    let noCertificate = try error { try TLSIdentity(certificate: missing, key: certs.server.key) }
    #expect(noCertificate.operation == "read certificate \(missing)")
    let noKey = try error { try TLSIdentity(certificate: certs.server.certificate, key: missing) }
    #expect(noKey.operation == "read key \(missing)")
    let swapped = try error { try TLSIdentity(certificate: certs.server.key, key: certs.server.certificate) }
    #expect(
      swapped.operation == "read certificate \(certs.server.key)" && swapped.sentence == "no start line")
    let twice = try error {
      try TLSIdentity(certificate: certs.server.certificate, key: certs.server.certificate)
    }
    #expect(twice.operation == "read key \(certs.server.certificate)")
  }

  @Test("a chain that breaks off in its second certificate is refused, not shortened")
  func brokenChain() throws {
    let (leaf, key) = (try TextFile.read(certs.server.certificate), try TextFile.read(certs.server.key))
    let root = try TextFile.read(certs.ca.certificate)
    _ = try TLSIdentity(certificatePEM: leaf + root, keyPEM: key)
    let broken = try error { try TLSIdentity(certificatePEM: leaf + root.dropLast(40), keyPEM: key) }
    #expect(broken.operation == "read a certificate")
  }

  @Test("a key of another certificate is refused by each context")
  func foreignKey() throws {
    let identity = try TLSIdentity(certificate: certs.server.certificate, key: certs.ca.key)
    for _ in 1...2 {
      #expect(throws: TLSError.self) { _ = try TLSContext.server([identity], policy: TLSPolicy()) }
    }
  }
}
