import Basics
import COpenSSL
import Foundation
import Platform
import TestSupport
import Testing

import Credentials

@Suite("Server certificates")
struct ServerPairsTests {
  @Test("a P-256 certificate says the same as the RSA one, under our root, and its key is its owner's")
  func twin() throws {
    let folder = try Fixture.folder()
    let (rsa, elliptic) = (
      try certificate(folder.server.certificate), try certificate(folder.ellipticServer.certificate)
    )
    let key = try #require(PrivateKey(pem: try contents(of: folder.ellipticServer.key)))
    #expect(key.isP256 && elliptic.belongs(to: key))
    #expect(try permissions(of: folder.ellipticServer.key) == 0o600)
    #expect(elliptic.subjectAttribute(NID_commonName) == rsa.subjectAttribute(NID_commonName))
    #expect(elliptic.issuerCommonName == rsa.issuerCommonName)
    #expect(elliptic.notBefore == rsa.notBefore && elliptic.notAfter == rsa.notAfter)
    #expect(elliptic.serialNumber != rsa.serialNumber)
    // Names, purposes, constraints and the issuer's key: RFC 5280 4.2.1.6, 4.2.1.12, 4.2.1.9 and 4.2.1.1.
    for identifier in ["2.5.29.17", "2.5.29.37", "2.5.29.19", "2.5.29.35"] {
      let value = try #require(rsa.extensionValue(identifier))
      #expect(elliptic.extensionValue(identifier) == value)
    }
    // Key usage: an ECDSA key only signs (RFC 8422 3). The key identifiers are of different keys.
    #expect(elliptic.extensionValue("2.5.29.15") == [0x03, 0x02, 0x07, 0x80])
    #expect(elliptic.extensionValue("2.5.29.14") != rsa.extensionValue("2.5.29.14"))
    let root = try Fixture.root()
    #expect(X509_verify(elliptic.handle, root.key.handle) == 1)
    #expect(X509_check_host(elliptic.handle, "api.push.apple.com", 0, 0, nil) == 1)
    let served = try folder.loadedServer(now: Fixture.now)
    #expect(served.reasonAlone == nil)
    #expect(
      served.files.map { [$0.certificate, $0.key] } == [
        [folder.path + "/server.pem", folder.path + "/server.key"],
        [folder.path + "/server-ec.pem", folder.path + "/server-ec.key"],
      ])
  }

  @Test("a folder from before gets the P-256 pair for the names that its server certificate has")
  func fromBefore() throws {
    let copy = try Copy()
    try copy.remove("server.pem", "server.key", "server-ec.pem", "server-ec.key")
    try copy.folder.prepare(serverNames: ["apns"], now: Fixture.now)
    try copy.remove("server-ec.pem", "server-ec.key")
    let before = try contents(of: copy.folder.server.certificate)
    let served = try copy.prepared(after: 100 * 86_400)
    #expect(served.files.count == 2 && served.reasonAlone == nil)
    #expect(try contents(of: copy.folder.server.certificate) == before)
    let (rsa, elliptic) = (
      try certificate(copy.folder.server.certificate), try certificate(copy.folder.ellipticServer.certificate)
    )
    #expect(X509_check_host(elliptic.handle, "apns", 0, 0, nil) == 1)
    #expect(elliptic.notAfter == rsa.notAfter)
  }

  @Test("with a new server certificate comes a new P-256 one, even if the old one's time is over")
  func renewed() throws {
    let copy = try Copy()
    let before = try contents(of: copy.folder.ellipticServer.certificate)
    try copy.remove("server.pem", "server.key")
    #expect(try copy.prepared(after: 900 * 86_400).files.count == 2)
    let elliptic = try certificate(copy.folder.ellipticServer.certificate)
    #expect(try contents(of: copy.folder.ellipticServer.certificate) != before)
    #expect(elliptic.notAfter == (try certificate(copy.folder.server.certificate).notAfter))
  }

  @Test("a P-256 key only signs, in whatever order the RSA certificate has its extensions")
  func usageFirst() throws {
    let copy = try Copy()
    // Digital signature and key encipherment: RFC 5280 4.2.1.3.
    let usage = CertificateExtension("keyUsage", der: [0x03, 0x02, 0x05, 0xa0])
    let pair = try pair(by: Fixture.root(), key: PrivateKey.generateRSA(), first: [usage])
    try copy.install(pair, as: "server")
    #expect(try copy.prepared().files.count == 2)
    let elliptic = try certificate(copy.folder.ellipticServer.certificate)
    #expect(elliptic.extensionValue("2.5.29.15") == [0x03, 0x02, 0x07, 0x80])
  }

  @Test("a server certificate of another authority is served alone, and nothing is made or touched")
  func ownAlone() throws {
    let copy = try Copy()
    let ca = try CraftedCertificate.ca(now: Fixture.now)
    try copy.install(try rsaPair(by: ca), as: "server")
    let before = try contents(of: copy.folder.ellipticServer.certificate)
    var served = try copy.prepared()
    #expect(served.files.map(\.certificate) == [copy.folder.server.certificate])
    #expect(served.reasonAlone?.contains("different CAs") == true)
    #expect(try contents(of: copy.folder.ellipticServer.certificate) == before)
    try copy.remove("server-ec.pem", "server-ec.key")
    served = try copy.prepared()
    #expect(served.files.map(\.certificate) == [copy.folder.server.certificate])
    #expect(served.reasonAlone?.contains("another CA than that of the certs folder") == true)
    #expect(!PathCalls.exists(copy.folder.ellipticServer.certificate))
  }

  @Test("two server certificates of another authority are served beside each other")
  func ownBoth() throws {
    let copy = try Copy()
    let ca = try CraftedCertificate.ca(now: Fixture.now)
    try copy.install(try rsaPair(by: ca), as: "server")
    try copy.install(try ellipticPair(by: ca), as: "server-ec")
    #expect(try copy.prepared().files.count == 2)
    let error = try #require(throws: CredentialsError.self) { try copy.prepared(after: 2 * 365 * 86_400) }
    #expect(error.code == .expired)
  }

  /// The other one's root has the same name as ours.
  @Test("a P-256 certificate of another authority is neither served beside ours nor replaced")
  func foreignBesideOurs() throws {
    let copy = try Copy()
    try copy.install(
      try ellipticPair(by: try CraftedCertificate.ca(now: Fixture.now)), as: "server-ec")
    let before = try contents(of: copy.folder.ellipticServer.certificate)
    let served = try copy.prepared()
    #expect(served.files.count == 1 && served.reasonAlone?.contains("different CAs") == true)
    #expect(try contents(of: copy.folder.ellipticServer.certificate) == before)
  }

  @Test("a server certificate that is not for an RSA key is served alone")
  func notRSA() throws {
    let copy = try Copy()
    try copy.install(try ellipticPair(by: try Fixture.root()), as: "server")
    let served = try copy.prepared()
    #expect(served.files.count == 1 && served.reasonAlone?.contains("not for an RSA key") == true)
  }

  @Test("a pair of our root with a key of another kind is replaced")
  func wrongKind() throws {
    let copy = try Copy()
    for suffix in [".pem", ".key"] {
      try write(try contents(of: copy.path + "/server" + suffix), to: copy.path + "/server-ec" + suffix)
    }
    #expect(try copy.prepared().files.count == 2)
    #expect(PrivateKey(pem: try contents(of: copy.folder.ellipticServer.key))?.isP256 == true)
  }

  @Test("in a folder that can't be written the server certificate is served alone")
  func unwritable() throws {
    let copy = try Copy()
    try copy.remove("server-ec.pem", "server-ec.key")
    // A link that leads into no folder stops even the superuser.
    try FileManager.default.createSymbolicLink(
      atPath: copy.folder.ellipticServer.key, withDestinationPath: "nowhere/server-ec.key")
    let served = try copy.prepared()
    #expect(served.files.count == 1 && served.reasonAlone?.contains("server-ec.key") == true)
  }

  // MARK: Support

  private func certificate(_ path: String) throws -> Certificate {
    try #require(Certificate.all(pem: try contents(of: path)).first)
  }

  private func rsaPair(by ca: KeyPair) throws -> KeyPair {
    try pair(by: ca, key: PrivateKey.generateRSA())
  }

  private func ellipticPair(by ca: KeyPair) throws -> KeyPair {
    try pair(by: ca, key: PrivateKey.generateP256())
  }

  private func pair(
    by ca: KeyPair, key: PrivateKey, first: [CertificateExtension] = []
  ) throws -> KeyPair {
    try CraftedCertificate.made(
      commonName: "apns.example.com",
      extensions: first + [.subjectAlternativeNames(hosts: ["apns.example.com"], addresses: [])], by: ca,
      key: key, from: Fixture.now, until: Fixture.now.adding(seconds: 365 * 86_400))
  }
}

/// A folder of one's own with what the shared one holds.
private struct Copy {
  let scratch = ScratchFolder()

  init() throws {
    let source = try Fixture.folder().path
    for name in ["ca", "server", "server-ec", "device-ca"] {
      for suffix in [".pem", ".key"] {
        try write(try contents(of: source + "/" + name + suffix), to: path + "/" + name + suffix)
      }
    }
  }

  var path: String { scratch.path }
  var folder: CertsFolder { CertsFolder(path: path) }

  /// What is served by an emulator that starts so many seconds later.
  func prepared(after seconds: Int64 = 0) throws -> ServerPairs {
    try folder.loadedServer(now: Fixture.now.adding(seconds: seconds))
  }

  func remove(_ names: String...) throws {
    for name in names { try FileManager.default.removeItem(atPath: path + "/" + name) }
  }

  func install(_ pair: KeyPair, as name: String) throws {
    try pair.write(to: PairPaths("\(path)/\(name)"))
  }
}
