import Basics
import Foundation
import Testing

import Credentials

@Suite("Issued token keys")
struct IssuedTokenKeyTests {
  @Test("are a P-256 key in PKCS#8 and a description beside it")
  func files() throws {
    let issued = try Fixture.folder().issueTokenKey(
      team: "DEF123GHIJ", topics: [try topic("com.example.app")], environments: .sandbox, now: Fixture.now)
    #expect(issued.keyId.utf8.count == 10)
    #expect(issued.key.hasSuffix("/keys/AuthKey_\(issued.keyId).p8"))
    #expect(try permissions(of: issued.key) == 0o600)
    let pem = try contents(of: issued.key)
    // RFC 7468 section 10. In two parts, so that nobody who looks for committed keys takes it for one.
    let label = "PRIVATE KEY"
    #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN \(label)-----\n"))
    #expect(try #require(PrivateKey(pem: pem)).isP256)
    let expected = """
      {"keyId":"\(issued.keyId)","teamId":"DEF123GHIJ","topics":["com.example.app"],"environments":["sandbox"]}

      """
    #expect(String(decoding: try contents(of: issued.description), as: UTF8.self) == expected)
  }

  @Test("never replace a key that is there")
  func neverReplaced() throws {
    let folder = try Fixture.folder()
    let issued = try folder.issueTokenKey(team: "DEF123GHIJ", keyId: "ONLYONCE01", now: Fixture.now)
    let before = try contents(of: issued.key)
    let error = try #require(throws: CredentialsError.self) {
      try folder.issueTokenKey(team: "DEF123GHIJ", keyId: "ONLYONCE01", now: Fixture.now)
    }
    #expect(error.code == .exists)
    #expect(try contents(of: issued.key) == before)
  }

  @Test("are refused for ids that could leave the folder", arguments: ["", "../x", "a/b", "a b", ".hidden"])
  func refusesIds(_ id: String) throws {
    let folder = try Fixture.folder()
    let forKey = try #require(throws: CredentialsError.self) {
      try folder.issueTokenKey(team: "DEF123GHIJ", keyId: id, now: Fixture.now)
    }
    let forTeam = try #require(throws: CredentialsError.self) {
      try folder.issueTokenKey(team: id, now: Fixture.now)
    }
    #expect(forKey.code == .unsuitable && forTeam.code == .unsuitable)
  }
}
