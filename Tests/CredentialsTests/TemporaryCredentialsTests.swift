import Basics
import Foundation
import PushModel
import Testing

import Credentials

@Suite("Temporary credentials")
struct TemporaryCredentialsTests {
  @Test("who shares a folder makes no key again, and leaves the folder to who has made it")
  func shared() throws {
    let topic = try topic(Fixture.topic)
    let nonce: [UInt8] = [1, 2, 3]
    var made: TemporaryCredentials? = try TemporaryCredentials()
    let path = try #require(made?.path)
    func all(of credentials: TemporaryCredentials, _ udid: String) throws -> [[UInt8]] {
      let folder = CertsFolder(path: credentials.certs)
      let push = try credentials.certificate(topic, in: folder)
      let key = try credentials.tokenKey(in: folder)
      let phone = try credentials.identity(of: #require(UDID(udid)), in: folder)
      return try [push.certificate, push.key, push.pkcs12, key.key].map {
        Array(try Data(contentsOf: URL(filePath: $0)))
      } + [phone.sign(nonce: nonce)]
    }
    let first = try all(of: #require(made), "phone-1")
    var second: TemporaryCredentials? = TemporaryCredentials(sharing: path)
    // A signature of PKCS#1 v1.5 has no chance in it: the same key makes the same (RFC 8017, 8.2).
    #expect(try all(of: #require(second), "phone-2") == first)
    second = nil
    #expect(FileManager.default.fileExists(atPath: path))
    made = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
