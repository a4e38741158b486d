import Foundation
import PushModel
import TestSupport
import Testing

import Credentials

@Suite("Files of the keys folder that hold no usable key")
struct UnusableKeyTests {
  private let home: ScratchFolder
  private let folder: CertsFolder

  init() throws {
    home = ScratchFolder()
    folder = try TestToken.folder(in: home)
  }

  private func rejection(of token: String, by verifier: ProviderTokenVerifier) -> Rejection? {
    let result = verifier.verify(compact: Array(token.utf8), now: Fixture.now)
    return if case .failure(let refusal) = result { refusal.rejection } else { nil }
  }

  @Test(
    "files that hold no usable key are named and the others count",
    arguments: [
      ("AuthKey_BAD.p8", "nothing", CredentialsError.Code.mismatched)
    ])
  func ignored(_ name: String, _ content: String, _ code: CredentialsError.Code) throws {
    try write(Array(content.utf8), to: folder.keysFolder + "/" + name)
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    #expect(verifier.ignoredFiles.map(\.code) == [code])
    #expect(verifier.ignoredFiles.first?.message.contains(name) == true)
    #expect(rejection(of: TestToken.raw, by: verifier) == nil)
  }

  @Test(
    "a description that is not one makes its key unusable",
    arguments: [
      "", "[]", "{}", #"{"keyId":"ABC123DEFG"}"#, #"{"keyId":"ABC123DEFG","teamId":17}"#,
      #"{"keyId":"ABC123DEFG","teamId":"DEF123GHIJ","topics":"com.example.app"}"#,
      #"{"keyId":"ABC123DEFG","teamId":"DEF123GHIJ","topics":["two words"]}"#,
      #"{"keyId":"ABC123DEFG","teamId":"DEF123GHIJ","environments":["staging"]}"#,
      #"{"keyId":"OTHER","teamId":"DEF123GHIJ"}"#,
    ])
  func badRecords(_ record: String) throws {
    try TestToken.install(in: folder, record: record)
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    #expect(verifier.ignoredFiles.count == 1)
    #expect(rejection(of: TestToken.raw, by: verifier) == .invalidProviderToken)
  }

  @Test("a key on another curve is not used")
  func otherCurve() throws {
    try write(PrivateKey.generateRSA(bits: 1024).pem(), to: folder.keysFolder + "/AuthKey_ABC123DEFG.p8")
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    #expect(verifier.ignoredFiles.map(\.code) == [.malformed])
    #expect(rejection(of: TestToken.raw, by: verifier) == .invalidProviderToken)
  }
}
