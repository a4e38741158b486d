import Basics
import Foundation
import TestSupport
import Testing

import Credentials
import Emulator

extension LiveTests {
  @Suite("The provider token that a connection shows again and again")
  struct ConnectionTokensTests {
    @Test("is judged by its age each time, whatever was found before")
    func age() throws {
      let harness = try EmulatorHarness()
      let (token, bearer) = (try harness.offlineToken(), try harness.bearer())
      let client = try HTTP2Client(harness)
      func push() throws -> ProviderAnswer { try client.answer(.push(token.hex, authorization: bearer)) }
      for _ in 0..<2 { #expect(try push().status == 200) }
      harness.clock.advance(nanoseconds: 3_602_000_000_000)
      #expect(try push().text == #"{"reason":"ExpiredProviderToken"}"#)
      harness.clock.advance(nanoseconds: -3_602_000_000_000)
      for _ in 0..<2 { #expect(try push().status == 200) }
      harness.clock.advance(nanoseconds: -3_700_000_000_000)
      #expect(try push().text == #"{"reason":"InvalidProviderToken"}"#)
    }

    @Test("and that lenient mode takes at its word is judged by its key once that is there")
    func lenient() throws {
      let home = ScratchFolder()
      let (certs, away) = (home.path + "/certs", home.path + "/keys")
      try FileManager.default.copyItem(atPath: Site.path(), toPath: certs)
      try FileManager.default.moveItem(atPath: certs + "/keys", toPath: away)
      try FileManager.default.createDirectory(atPath: certs + "/keys", withIntermediateDirectories: true)
      let harness = try EmulatorHarness(certs: certs) { $0.credentials.isLenient = true }
      let signer = try ProviderTokenSigner(
        p8Path: away + "/AuthKey_\(Site.teamKey).p8", keyId: Site.teamKey, teamId: Site.team)
      let bearer = "bearer " + (try signer.token(at: harness.clock.now()))
      let (token, client) = (try harness.offlineToken(), try HTTP2Client(harness))
      func explanation() throws -> String? {
        #expect(try client.answer(.push(token.hex, authorization: bearer)).status == 200)
        let journal = harness.broker.journal
        return journal.detail(journal.nextId - 1)?.explanation
      }
      for _ in 0..<2 { #expect(try explanation()?.contains("is not in the keys folder") == true) }
      for name in try FileManager.default.contentsOfDirectory(atPath: away) {
        try FileManager.default.copyItem(atPath: "\(away)/\(name)", toPath: "\(certs)/keys/\(name)")
      }
      harness.emulator.tokenVerifier.expectChange()
      #expect(try explanation() == nil)
    }
  }
}
