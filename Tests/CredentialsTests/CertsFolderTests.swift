import Basics
import COpenSSL
import Foundation
import Platform
import TestSupport
import Testing

import Credentials

@Suite("Certs folder")
struct CertsFolderTests {
  @Test("is filled on first use with keys that only their owner can read")
  func fillsAndProtects() throws {
    let folder = try Fixture.folder()
    for key in [folder.ca.key, folder.server.key, folder.ellipticServer.key, folder.deviceCA.key] {
      #expect(try permissions(of: key) == 0o600)
    }
    for secret in [folder.path, folder.pushFolder, folder.keysFolder, folder.devicesFolder] {
      #expect(try permissions(of: secret) == 0o700)
    }
    #expect(PathCalls.exists(folder.trustFolder))
    #expect(FolderNames.read(folder.path) { $0.hasSuffix(".new") }.isEmpty)
  }

  /// What `prepare` says of a folder that it does not trust.
  private func refusal(_ path: String) -> CredentialsError? {
    #expect(throws: CredentialsError.self) { try CertsFolder(path: path).prepare(now: Fixture.now) }
  }

  @Test("a named pipe in place of the folder or of a file is an error that says so, and nobody waits")
  func pipes() throws {
    let home = ScratchFolder()
    let pipe = home.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(refusal(pipe)?.message == "\(pipe): expected a folder, got a named pipe")
    let certs = home.path + "/certs"
    try FileManager.default.createDirectory(atPath: certs, withIntermediateDirectories: true)
    for name in ["/ca.pem", "/ca.key"] { try #require(mkfifo(certs + name, 0o600) == 0) }
    #expect(refusal(certs)?.message == "\(certs)/ca.pem: expected a plain file, got a named pipe")
  }

  @Test(
    "a folder that everybody can write to is not trusted, and neither is one within",
    arguments: ["", "/trust"])
  func writable(_ inner: String) throws {
    let home = ScratchFolder()
    let path = home.path + "/certs"
    try FileManager.default.createDirectory(atPath: path + inner, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path + inner)
    let error = refusal(path)
    #expect(
      error?.code == .unsuitable
        && error?.message.contains("\(path)\(inner) is writable by every user") == true)
  }

  @Test(
    "a folder of somebody else is not trusted", .enabled(if: geteuid() == 0, "only root can give one away"))
  func foreign() throws {
    let home = ScratchFolder()
    let path = home.path + "/certs"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try #require(chown(path, 65_532, 65_532) == 0)
    let error = refusal(path)
    #expect(error?.code == .unsuitable && error?.message.contains("\(path) belongs to user 65532") == true)
  }

  @Test("keeps what is there")
  func keeps() throws {
    let folder = try Fixture.folder()
    let files = [
      folder.ca.certificate, folder.ca.key, folder.server.certificate, folder.ellipticServer.certificate,
      folder.deviceCA.key,
    ]
    let before = try files.map(contents(of:))
    try CertsFolder(path: folder.path).prepare(now: Fixture.now)
    #expect(try files.map(contents(of:)) == before)
  }

  @Test(
    "names the damaged file",
    arguments: [
      "ca.pem", "ca.key", "server.pem", "server.key", "server-ec.pem", "server-ec.key", "device-ca.key",
    ])
  func namesDamage(_ name: String) throws {
    let copy = try copyOfShared()
    try write(Array("no PEM".utf8), to: copy.path + "/" + name)
    let error = try #require(throws: CredentialsError.self) {
      try CertsFolder(path: copy.path).prepare(now: Fixture.now)
    }
    #expect(error.code == .malformed)
    #expect(error.message.contains("/" + name))
    #expect(try contents(of: copy.path + "/" + name) == Array("no PEM".utf8))
  }

  @Test(
    "names the missing half of a pair", arguments: ["ca.key", "server.pem", "server-ec.key", "device-ca.pem"])
  func namesMissingHalf(_ name: String) throws {
    let copy = try copyOfShared()
    try FileManager.default.removeItem(atPath: copy.path + "/" + name)
    let error = try #require(throws: CredentialsError.self) {
      try CertsFolder(path: copy.path).prepare(now: Fixture.now)
    }
    #expect(error.code == .mismatched)
    #expect(error.message.contains("/\(name) is missing"))
  }

  @Test("refuses a key that belongs to another certificate")
  func refusesForeignKey() throws {
    let copy = try copyOfShared()
    try write(try contents(of: copy.path + "/device-ca.key"), to: copy.path + "/server.key")
    let error = try #require(throws: CredentialsError.self) {
      try CertsFolder(path: copy.path).prepare(now: Fixture.now)
    }
    #expect(error.code == .mismatched)
  }

  @Test("refuses material whose time is over or has not come")
  func refusesExpired() throws {
    let path = try Fixture.folder().path
    for years in [11, -1] as [Int64] {
      let now = Fixture.now.adding(seconds: years * 365 * 86_400)
      let error = try #require(throws: CredentialsError.self) {
        try CertsFolder(path: path).prepare(now: now)
      }
      #expect(error.code == .expired)
      #expect(error.message.contains("ca.pem"))
    }
  }

  /// RFC 5280 4.1.2.5: both moments belong to the time of validity.
  @Test("takes material from its first second to its last")
  func validity() throws {
    let path = try Fixture.folder().path
    func problem(after seconds: Int64) -> CredentialsError.Code? {
      do throws(CredentialsError) {
        try CertsFolder(path: path).prepare(now: Fixture.now.adding(seconds: seconds))
        return nil
      } catch { return error.code }
    }
    let day: Int64 = 86_400
    // From a day before it was made; the server's certificate is the first to end.
    #expect(problem(after: -day) == nil && problem(after: -day - 1) == .expired)
    #expect(problem(after: 825 * day) == nil && problem(after: 825 * day + 1) == .expired)
  }

  @Test("says which folder can't be made")
  func unwritable() throws {
    let home = ScratchFolder()
    try write([], to: home.path + "/file")
    let error = try #require(throws: CredentialsError.self) {
      try CertsFolder(path: home.path + "/file/certs").prepare(now: Fixture.now)
    }
    #expect(error.code == .unwritable)
    #expect(error.message.contains("file/certs"))
  }

  @Test(
    "issues a server certificate for every listener's Apple name, under our root",
    arguments: [
      "localhost", "gateway.push.apple.com", "gateway.sandbox.push.apple.com", "feedback.push.apple.com",
      "feedback.sandbox.push.apple.com", "api.push.apple.com", "api.sandbox.push.apple.com",
      "api.development.push.apple.com", "api-broadcast.push.apple.com",
      "api-broadcast.sandbox.push.apple.com",
      "api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com",
      "courier.push.apple.com", "courier.sandbox.push.apple.com", "17-courier.push.apple.com",
      "3-courier.sandbox.push.apple.com",
    ])
  func serverNames(_ host: String) throws {
    let folder = try Fixture.folder()
    let server = try #require(Certificate.all(pem: try contents(of: folder.server.certificate)).first)
    #expect(X509_check_host(server.handle, host, host.utf8.count, 0, nil) == 1)
    #expect(X509_check_ip_asc(server.handle, "127.0.0.1", 0) == 1)
    #expect(X509_check_ip_asc(server.handle, "::1", 0) == 1)
    #expect(X509_check_host(server.handle, "example.com", 0, 0, nil) == 0)
    let root = try Fixture.root()
    #expect(X509_verify(server.handle, root.key.handle) == 1)
  }

  @Test("a server certificate that is made then is for the names and addresses that were asked for, too")
  func furtherServerNames() throws {
    let folder = try copyOfShared()
    for suffix in [".pem", ".key"] {
      try FileManager.default.removeItem(atPath: folder.path + "/server" + suffix)
    }
    let certs = CertsFolder(path: folder.path)
    try certs.prepare(serverNames: ["apns", "192.0.2.7", "2001:db8::7"], now: Fixture.now)
    for path in [certs.server.certificate, certs.ellipticServer.certificate] {
      let server = try #require(Certificate.all(pem: try contents(of: path)).first)
      for host in ["apns", "localhost"] {
        #expect(X509_check_host(server.handle, host, host.utf8.count, 0, nil) == 1, "\(host)")
      }
      for address in ["192.0.2.7", "2001:db8::7", "127.0.0.1"] {
        #expect(X509_check_ip_asc(server.handle, address, 0) == 1, "\(address)")
      }
      #expect(X509_check_host(server.handle, "192.0.2.7", 0, 0, nil) == 0)
    }
  }

  private func copyOfShared() throws -> ScratchFolder {
    let copy = ScratchFolder()
    let source = try Fixture.folder()
    for name in ["ca", "server", "server-ec", "device-ca"] {
      for suffix in [".pem", ".key"] {
        try write(try contents(of: source.path + "/" + name + suffix), to: copy.path + "/" + name + suffix)
      }
    }
    return copy
  }
}
