import Basics
import COpenSSL
import Foundation
import PushModel
import TestSupport
import Testing

import Credentials

@Suite("Provider token verifier")
struct ProviderTokenVerifierTests {
  private let home: ScratchFolder
  private let folder: CertsFolder

  init() throws {
    home = ScratchFolder()
    folder = try TestToken.folder(in: home)
  }

  private func verifier(isLenient: Bool = false, documentedOnly: Bool = false) -> ProviderTokenVerifier {
    ProviderTokenVerifier(folder: folder, isLenient: isLenient, documentedOnly: documentedOnly)
  }

  private func verify(
    _ token: String, by verifier: ProviderTokenVerifier? = nil, at now: Timestamp = Fixture.now
  ) -> Result<VerifiedProviderToken, ProviderTokenRefusal> {
    (verifier ?? self.verifier()).verify(compact: Array(token.utf8), now: now)
  }

  private func rejection(_ result: Result<VerifiedProviderToken, ProviderTokenRefusal>) -> Rejection? {
    if case .failure(let refusal) = result { refusal.rejection } else { nil }
  }

  /// `Documentation/provider-api.md#example-token`.
  @Test(
    "the documentation's tokens are good, signed raw and in DER", arguments: [TestToken.raw, TestToken.der])
  func vectors(_ text: String) throws {
    let token = try verify(text).get()
    #expect(token.keyId == "ABC123DEFG" && token.teamId == "DEF123GHIJ")
    #expect(token.issuedAt == Timestamp(seconds: 1_700_000_000))
    #expect(token.topics.isEmpty && token.environments == .both && token.leniency == nil)
    #expect(token.fingerprint.count == 32)
  }

  /// `Documentation/provider-api.md#example-token`: 3599 s is fine, 3601 s is not; 3600 s is ours to choose, and fine.
  @Test("a token ends after an hour, remembered or not")
  func age() throws {
    let verifier = verifier()
    for _ in 0..<2 {
      #expect(rejection(verify(TestToken.raw, by: verifier, at: Fixture.now.adding(seconds: 3600))) == nil)
      #expect(
        rejection(verify(TestToken.raw, by: verifier, at: Fixture.now.adding(seconds: 3601)))
          == .expiredProviderToken)
    }
  }

  @Test("a token from the future is good up to an hour ahead")
  func future() throws {
    #expect(rejection(verify(TestToken.raw, at: Fixture.now.adding(seconds: -3600))) == nil)
    #expect(rejection(verify(TestToken.raw, at: Fixture.now.adding(seconds: -3601))) == .invalidProviderToken)
  }

  @Test("Base64 may be padded and in the standard alphabet")
  func alphabets() throws {
    for token in [TestToken.raw, TestToken.der] {
      let standard = token.replacing("_", with: "/").replacing("-", with: "+")
      #expect(rejection(verify(standard)) == nil)
      let parts = token.split(separator: ".")
      let padding = String(repeating: "=", count: (4 - parts[2].utf8.count % 4) % 4)
      #expect(rejection(verify(token + padding)) == nil)
    }
    let message = [#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1700000000}"#]
      .map { Data($0.utf8).base64EncodedString() }.joined(separator: ".")
    let key = try #require(PrivateKey(pem: TestToken.p8()))
    let signature = try key.signature(over: Array(message.utf8), hash: "SHA256")
    #expect(rejection(verify(message + "." + Data(signature).base64EncodedString())) == nil)
  }

  @Test(
    "iat may be any JSON number, or its digits as a string, which one library sends",
    arguments: ["1700000000.75", "1.7e9", "1700000000.0", #""1700000000""#])
  func numbers(_ iat: String) throws {
    let token = try TestToken.signed(claims: #"{"iss":"DEF123GHIJ","iat":\#(iat)}"#)
    #expect(rejection(verify(token)) == nil)
  }

  /// `Documentation/provider-api.md#what-clients-do`: what a PHP library that asks its key for ES512 sends, SHA-512
  /// over P-256 in 132 bytes.
  @Test(
    "a token labelled ES512 over a P-256 key is taken with a note, unless only what is documented is wanted")
  func mislabelled() throws {
    let header = #"{"alg":"ES512","kid":"ABC123DEFG"}"#
    let token = try TestToken.signed(header: header, hash: "SHA512", scalarByteCount: 66)
    let note = try #require(try verify(token).get().deviation)
    #expect(note.rejection == .invalidProviderToken)
    #expect(note.explanation == #"alg is "ES512", the documents say "ES256" only"#)
    #expect(rejection(verify(token, by: verifier(documentedOnly: true))) == .invalidProviderToken)
    #expect(try verify(TestToken.raw).get().deviation == nil)
  }

  @Test("ES512 means SHA-512, and scalars that P-256 can have")
  func mislabelledBadly() throws {
    let header = #"{"alg":"ES512","kid":"ABC123DEFG"}"#
    #expect(
      rejection(verify(try TestToken.signed(header: header, scalarByteCount: 66))) == .invalidProviderToken)
    let other = try TestToken.signed(
      header: header, key: try .generateP256(), hash: "SHA512", scalarByteCount: 66)
    #expect(rejection(verify(other)) == .invalidProviderToken)
    #expect(rejection(verify(try TestToken.signed(hash: "SHA512"))) == .invalidProviderToken)
    #expect(rejection(verify(try TestToken.signed(scalarByteCount: 66))) == .invalidProviderToken)
    let good = try TestToken.signed(header: header, hash: "SHA512", scalarByteCount: 66)
    let message = good.split(separator: ".").prefix(2).joined(separator: ".")
    for place in [0, 33, 66, 99] {
      var signature = try #require(Base64.decode(good.split(separator: ".")[2].utf8, .webToken))
      signature[place] = 1
      #expect(
        rejection(verify(message + "." + Base64.encodeForURL(signature))) == .invalidProviderToken, "\(place)"
      )
    }
  }

  @Test("iat as a string is taken with a note, unless only what is documented is wanted")
  func textualTime() throws {
    let token = try TestToken.signed(claims: #"{"iss":"DEF123GHIJ","iat":"1700000000"}"#)
    #expect(try verify(token).get().deviation?.explanation == "iat is a string, the documents say a number")
    #expect(rejection(verify(token, by: verifier(documentedOnly: true))) == .invalidProviderToken)
  }

  /// RFC 7515 4.1.11: who does not understand what `crit` lists must refuse, and it must not be empty.
  @Test(
    "a token whose crit lists anything is refused, and so is a crit that lists nothing",
    arguments: [#"["exp"]"#, #"["b64"]"#, "[]", #""exp""#, "null"])
  func critical(_ value: String) throws {
    let token = try TestToken.signed(
      header: #"{"alg":"ES256","kid":"ABC123DEFG","exp":1,"b64":true,"crit":\#(value)}"#)
    guard case .failure(let refusal) = verify(token) else { return #expect(Bool(false), "accepted") }
    #expect(refusal.rejection == .invalidProviderToken && refusal.explanation.contains("crit"))
  }

  @Test("further members in header and claims do no harm")
  func furtherMembers() throws {
    let token = try TestToken.signed(
      header: #"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG","x":{"y":[1]}}"#,
      claims: #"{"iat":1700000000,"exp":1,"iss":"DEF123GHIJ","aud":["a"]}"#)
    #expect(rejection(verify(token)) == nil)
  }

  @Test("a token may have 4096 bytes, and no more", arguments: [(4096, true), (4097, false)])
  func longest(_ count: Int, _ isTaken: Bool) throws {
    let claims = { #"{"iss":"DEF123GHIJ","iat":1700000000,"x":"\#(String(repeating: "y", count: $0))"}"# }
    let tokens = try (2920..<2935).map { try TestToken.signed(claims: claims($0)) }
    let token = try #require(tokens.first { $0.utf8.count == count })
    #expect(rejection(verify(token)) == (isTaken ? nil : .invalidProviderToken))
  }

  @Test(
    "a header that does not say ES256 and a known key is refused, though the signature is good",
    arguments: [
      #"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"alg":"HS256","kid":"ABC123DEFG"}"#,
      #"{"alg":"es256","kid":"ABC123DEFG"}"#, #"{"alg":"ES384","kid":"ABC123DEFG"}"#,
      #"{"kid":"ABC123DEFG"}"#,
      #"{"alg":["ES256"],"kid":"ABC123DEFG"}"#, #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":""}"#,
      #"{"alg":"ES256","kid":17}"#, #"{"alg":"ES256","kid":"../ABC123DEFG"}"#,
      #"{"alg":"ES256","kid":"ZZZ123DEFG"}"#,
      #"{"alg":"ES256","kid":"DEF123GHIJ"}"#, "[]", "", "x",
    ])
  func badHeaders(_ header: String) throws {
    #expect(rejection(verify(try TestToken.signed(header: header))) == .invalidProviderToken)
  }

  @Test(
    "claims without a team of that key and a time are refused, though the signature is good",
    arguments: [
      #"{"iat":1700000000}"#, #"{"iss":"DEF123GHIJ"}"#, #"{"iss":"DEF123GHIJ","iat":"1700000000s"}"#,
      #"{"iss":"DEF123GHIJ","iat":""}"#,
      #"{"iss":"DEF123GHIJ","iat":"+1700000000"}"#, #"{"iss":"DEF123GHIJ","iat":"99999999999"}"#,
      #"{"iss":"DEF123GHIJ","iat":null}"#, #"{"iss":"OTHERTEAM1","iat":1700000000}"#,
      #"{"iss":"ABC123DEFG","iat":1700000000}"#, #"{"iss":"","iat":1700000000}"#, "{", "",
      #"{"iss":"DEF123GHIJ","iat":1e999}"#,
    ])
  func badClaims(_ claims: String) throws {
    #expect(rejection(verify(try TestToken.signed(claims: claims))) == .invalidProviderToken)
  }

  @Test("an ancient token is expired, not invalid")
  func ancient() throws {
    for iat in ["0", "-1e300"] {
      let token = try TestToken.signed(claims: #"{"iss":"DEF123GHIJ","iat":\#(iat)}"#)
      #expect(rejection(verify(token)) == .expiredProviderToken)
    }
  }

  @Test("no single changed bit is accepted")
  func changedBits() throws {
    for token in [TestToken.raw, TestToken.der] {
      let verifier = verifier()
      let bytes = Array(token.utf8)
      for index in bytes.indices {
        var changed = bytes
        changed[index] ^= 1
        let result = verifier.verify(compact: changed, now: Fixture.now)
        #expect(rejection(result) == .invalidProviderToken, "byte \(index)")
      }
    }
    #expect(ERR_peek_error() == 0, "OpenSSL's error queue is left empty")
  }

  @Test("a token cut anywhere is refused")
  func truncations() {
    for count in 0..<TestToken.raw.utf8.count {
      #expect(rejection(verify(String(TestToken.raw.prefix(count)))) == .invalidProviderToken)
    }
  }

  @Test(
    "what is not a token at all is refused",
    arguments: [
      "", ".", "..", "...", "a.b.c", "a.b", TestToken.raw + ".", TestToken.raw + ".x", " " + TestToken.raw,
      String(repeating: "a", count: 100_000), String(repeating: ".", count: 4000),
    ])
  func garbage(_ text: String) { #expect(rejection(verify(text)) == .invalidProviderToken) }

  @Test("a signature of another key, another hash or another curve is refused")
  func foreignSignatures() throws {
    let other = try PrivateKey.generateP256()
    #expect(rejection(verify(try TestToken.signed(key: other))) == .invalidProviderToken)
    let message = TestToken.raw.split(separator: ".").prefix(2).joined(separator: ".")
    let key = try #require(PrivateKey(pem: TestToken.p8()))
    let otherHash = try key.signature(over: Array(message.utf8), hash: "SHA384")
    #expect(rejection(verify(message + "." + Base64.encodeForURL(otherHash))) == .invalidProviderToken)
    let zeros = Base64.encodeForURL([UInt8](repeating: 0, count: 64))
    #expect(rejection(verify(message + "." + zeros)) == .invalidProviderToken)
    let ones = Base64.encodeForURL([UInt8](repeating: 255, count: 64))
    #expect(rejection(verify(message + "." + ones)) == .invalidProviderToken)
  }

  @Test("the reason says what was wrong and shows nothing of the signature")
  func explanations() throws {
    let token = try TestToken.signed(header: #"{"alg":"HS256","kid":"ABC123DEFG"}"#)
    guard case .failure(let refusal) = verify(token) else { return #expect(Bool(false), "accepted") }
    #expect(refusal.explanation.contains("HS256") && refusal.explanation.contains("ES256"))
    #expect(!refusal.description.contains(try #require(token.split(separator: ".").last)))
  }

  @Test("a key that is dropped in while we run is found")
  func droppedIn() throws {
    let home = ScratchFolder()
    let folder = CertsFolder(path: home.path)
    try FileManager.default.createDirectory(atPath: folder.keysFolder, withIntermediateDirectories: true)
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    #expect(rejection(verify(TestToken.raw, by: verifier)) == .invalidProviderToken)
    try write(TestToken.p8(), to: folder.keysFolder + "/AuthKey_ABC123DEFG.p8")
    #expect(
      rejection(verify(TestToken.raw, by: verifier)) == .invalidProviderToken, "its team is not known yet")
    #expect(verifier.ignoredFiles.map(\.code) == [.mismatched])
    try TestToken.install(in: folder)
    #expect(rejection(verify(TestToken.raw, by: verifier)) == nil)
    #expect(verifier.ignoredFiles.isEmpty)
  }

  @Test("a key that is exchanged under the same name is found")
  func exchanged() throws {
    let verifier = verifier()
    let other = try PrivateKey.generateP256()
    let token = try TestToken.signed(key: other)
    #expect(rejection(verify(token, by: verifier)) == .invalidProviderToken)
    try write(other.pem(), to: folder.keysFolder + "/AuthKey_ABC123DEFG.p8")
    let first = try verify(token, by: verifier).get()
    #expect(try verify(token, by: verifier).get() === first, "it is verified once")
    #expect(verifier.verifiedCount == 1)
    #expect(rejection(verify(TestToken.raw, by: verifier)) == .invalidProviderToken)
  }

  @Test("a key of which the verifier was told is found at once, however many came just before")
  func told() throws {
    let verifier = verifier()
    let key = try PrivateKey.generateP256()
    for id in (10..<30).map({ "KEY\($0)" }) {
      try write(key.pem(), to: folder.keysFolder + "/AuthKey_\(id).p8")
      try write(
        Array(#"{"keyId":"\#(id)","teamId":"DEF123GHIJ"}"#.utf8), to: folder.keysFolder + "/\(id).json")
      verifier.expectChange()
      let token = try TestToken.signed(header: #"{"alg":"ES256","kid":"\#(id)"}"#, key: key)
      #expect(rejection(verify(token, by: verifier)) == nil, "\(id)")
    }
  }

  @Test("a file that holds no key is named from the start")
  func ignored() throws {
    try write([], to: folder.keysFolder + "/AuthKey_EMPTY12345.p8")
    #expect(verifier().ignoredFiles.map(\.code) == [.mismatched])
  }

  @Test("a folder that was read and looks as it did is not read again")
  func unread() throws {
    try setModified(60, folder.keysFolder)
    let verifier = verifier()
    let before = verifier.generation
    // A name of the same length, so that not even the folder's size differs.
    try move("AuthKey_ABC123DEFG.p8", to: "AuthKey_ABC123DEFG.no", in: folder.keysFolder)
    try setModified(60, folder.keysFolder)
    verifier.pickUpChanges()
    #expect(verifier.generation == before)
    try setModified(50, folder.keysFolder)
    verifier.pickUpChanges()
    #expect(verifier.generation == before + 1)
  }

  @Test(
    "what other keys have verified is remembered when a key comes, changes or goes; of that key nothing is")
  func onlyWhatChanged() throws {
    let verifier = verifier()
    let before = try verify(TestToken.raw, by: verifier).get()
    let other = try PrivateKey.generateP256()
    let token = try TestToken.signed(header: #"{"alg":"ES256","kid":"OTHER12345"}"#, key: other)
    let (key, record) = (folder.keysFolder + "/AuthKey_OTHER12345.p8", folder.keysFolder + "/OTHER12345.json")
    func describe(_ more: String = "") throws {
      try write(Array(#"{"keyId":"OTHER12345","teamId":"DEF123GHIJ"\#(more)}"#.utf8), to: record)
    }
    func stays() throws -> Bool { try verify(TestToken.raw, by: verifier).get() === before }

    #expect(rejection(verify(token, by: verifier)) == .invalidProviderToken)
    try write(other.pem(), to: key)
    try describe()
    let first = try verify(token, by: verifier).get()
    #expect(try stays(), "a key came")

    try describe(#","topics":["com.example.app"]"#)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: folder.keysFolder)
    verifier.pickUpChanges()
    let second = try verify(token, by: verifier).get()
    #expect(second !== first && second.topics.count == 1)
    #expect(try stays(), "another key changed")

    try FileManager.default.removeItem(atPath: key)
    verifier.pickUpChanges()
    #expect(rejection(verify(token, by: verifier)) == .invalidProviderToken)
    #expect(try stays(), "another key went")

    try folder.revoke(.key("OTHER12345"), name: "", now: Fixture.now)
    verifier.pickUpChanges()
    #expect(rejection(verify(token, by: verifier)) == .invalidProviderToken)
    #expect(try stays(), "another key was revoked")
  }

  @Test("where no key has come, changed or gone, reading the folder again outdates nothing")
  func unchanged() throws {
    let verifier = verifier()
    let before = verifier.generation
    try write([], to: folder.keysFolder + "/README.md")
    verifier.expectChange()
    verifier.pickUpChanges()
    #expect(verifier.generation == before)
  }

  @Test("a refusal is remembered until a key is exchanged, described anew or dropped in")
  func rememberedRefusals() throws {
    let verifier = verifier()
    let other = try PrivateKey.generateP256()
    let exchanged = try TestToken.signed(key: other)
    let team = try TestToken.signed(claims: #"{"iss":"OTHERTEAM1","iat":1700000000}"#, key: other)
    let later = try TestToken.signed(header: #"{"alg":"ES256","kid":"NOTHERE123"}"#, key: other)
    let bad = [exchanged, team, later, "a.b.c"]
    for now in [Fixture.now, Fixture.now.adding(seconds: 7200), Fixture.now] {
      for token in bad { #expect(rejection(verify(token, by: verifier, at: now)) == .invalidProviderToken) }
    }
    try write(other.pem(), to: folder.keysFolder + "/AuthKey_ABC123DEFG.p8")
    #expect(rejection(verify(exchanged, by: verifier)) == nil)
    #expect(rejection(verify(team, by: verifier)) == .invalidProviderToken)
    try TestToken.install(in: folder, record: #"{"keyId":"ABC123DEFG","teamId":"OTHERTEAM1"}"#)
    try write(other.pem(), to: folder.keysFolder + "/AuthKey_ABC123DEFG.p8")
    #expect(rejection(verify(team, by: verifier)) == nil)
    #expect(rejection(verify(later, by: verifier)) == .invalidProviderToken)
    try write(other.pem(), to: folder.keysFolder + "/AuthKey_NOTHERE123.p8")
    try write(
      Array(#"{"keyId":"NOTHERE123","teamId":"DEF123GHIJ"}"#.utf8), to: folder.keysFolder + "/NOTHERE123.json"
    )
    #expect(rejection(verify(later, by: verifier)) == nil)
    #expect(rejection(verify("a.b.c", by: verifier)) == .invalidProviderToken)
  }

  @Test("tokens of a removed key end, also those remembered")
  func removed() throws {
    let verifier = verifier()
    #expect(rejection(verify(TestToken.raw, by: verifier)) == nil)
    try FileManager.default.removeItem(atPath: folder.keysFolder + "/AuthKey_ABC123DEFG.p8")
    verifier.pickUpChanges()
    #expect(rejection(verify(TestToken.raw, by: verifier)) == .invalidProviderToken)
  }

  @Test("topics, environments and the related key come from the description")
  func record() throws {
    try TestToken.install(
      in: folder,
      record: """
        {"keyId":"ABC123DEFG","teamId":"DEF123GHIJ","topics":["com.example.app"],"environments":"sandbox",
         "relatedKeyId":"NEXT456KEY"}
        """)
    let token = try verify(TestToken.raw).get()
    #expect(token.topics == [try topic("com.example.app")])
    #expect(token.environments == .sandbox && token.relatedKeyId == "NEXT456KEY")
  }

  @Test("lenient mode takes a token of an unknown key at its word, never a wrong signature or age")
  func lenient() throws {
    let verifier = verifier(isLenient: true)
    let unknown = try TestToken.signed(header: #"{"alg":"ES256","kid":"NOTHERE123"}"#)
    let token = try verify(unknown, by: verifier).get()
    #expect(token.keyId == "NOTHERE123" && token.teamId == "DEF123GHIJ" && token.environments == .both)
    #expect(token.leniency?.rejection == .invalidProviderToken)
    #expect(
      rejection(verify(unknown, by: verifier, at: Fixture.now.adding(seconds: 3601))) == .expiredProviderToken
    )
    let forged = try TestToken.signed(key: PrivateKey.generateP256())
    #expect(rejection(verify(forged, by: verifier)) == .invalidProviderToken)
  }

  @Test("the same token is verified once, however many others come between")
  func remembered() throws {
    let verifier = verifier()
    let first = try verify(TestToken.raw, by: verifier).get()
    let signer = try ProviderTokenSigner(
      p8Path: folder.keysFolder + "/AuthKey_ABC123DEFG.p8", keyId: TestToken.keyId, teamId: TestToken.team)
    for _ in 0..<20 { #expect(rejection(verify(try signer.token(at: Fixture.now), by: verifier)) == nil) }
    #expect(try verify(TestToken.raw, by: verifier).get() === first)
    #expect(try verify(TestToken.der, by: verifier).get() !== first)
  }

  @Test("an issued key signs tokens that are accepted")
  func issued() throws {
    let folder = try Fixture.folder()
    let issued = try folder.issueTokenKey(
      team: "TEAM123456", topics: [try topic("com.example.app")], environments: .production, now: Fixture.now)
    let signer = try ProviderTokenSigner(p8Path: issued.key, keyId: issued.keyId, teamId: "TEAM123456")
    let text = try signer.token(at: Fixture.now)
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    let token = try verifier.verify(compact: Array(text.utf8), now: Fixture.now).get()
    #expect(token.keyId == issued.keyId && token.environments == .production)
    #expect(text.split(separator: ".").last?.utf8.count == 86, "the raw form, not padded")
  }
}
