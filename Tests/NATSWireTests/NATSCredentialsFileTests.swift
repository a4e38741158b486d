import Basics
import Testing

import NATSWire

@Suite struct NATSCredentialsFileTests {
  /// Of nobody: the one in the documentation of NATS.
  private static let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
  private static let decorated = """
    -----BEGIN NATS USER JWT-----
    eyJ0eXAi.eyJqdGki.c2lnbmVk
    ------END NATS USER JWT------

    ************************* IMPORTANT *************************
    NKEY Seed printed below can be used to sign and prove identity.
    SUCH words are no seed. NKEYs are sensitive and should be treated as secrets.

    -----BEGIN USER NKEY SEED-----
    \(seed)
    ------END USER NKEY SEED------

    *************************************************************
    """

  @Test func readsWhatNATSWrites() throws {
    let file = try NATSCredentialsFile(text: Self.decorated)
    #expect(file.jwt == "eyJ0eXAi.eyJqdGki.c2lnbmVk")
    #expect(file.seed.count == 32)
    #expect(
      file.credentials(publicKey: [], signature: [0xfb, 0xff])
        == .signed(jwt: "eyJ0eXAi.eyJqdGki.c2lnbmVk", signature: "-_8"))
    let withCarriageReturns = Self.decorated.split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\r\n")
    #expect(try NATSCredentialsFile(text: withCarriageReturns) == file)
    #expect(file.description == "credentials of NATS")
  }

  @Test func readsAKeyAlone() throws {
    let file = try NATSCredentialsFile(text: "  \(Self.seed)\n")
    #expect(file.jwt == nil)
    #expect(Hex.encode(file.seed) == "29497ba00f41dd45936b4cc4bda1decb67c128e69fb3d490ee820daf7c318c0a")
    #expect(NATSKeyText.user(Array(0..<32)) == "UAAACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB63NN")
  }

  @Test(
    arguments: [
      ("", "it has no seed (a line that begins with SU)"),
      (
        "-----BEGIN NATS USER JWT-----\na.b.c\n------END NATS USER JWT------",
        "it has no seed (a line that begins with SU)"
      ),
      // A letter that is another, one that is missing, an account's.
      ("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VA", nil),
      ("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3V", nil),
      ("SAAGNKC24HXG5TD5XKKSWSVFRRKYQGZXF5LCTNXNNWCHO6C4WX3OTDQQNU", nil),
      ("S?", nil),
    ] as [(String, String?)])
  func refusesWhatIsNone(text: String, sentence: String?) {
    let other = "its seed is none of a user's key: 58 letters and digits that begin with SU"
    #expect(throws: NATSCredentialsProblem(sentence ?? other)) { try NATSCredentialsFile(text: text) }
  }
}
