import Basics
import COpenSSL
import Foundation
import TestSupport
import Testing

import Credentials

@Suite("Revocation")
struct RevocationTests {
  private let home = ScratchFolder()
  private let folder: CertsFolder

  init() throws {
    folder = try Fixture.folder(in: home)
    try TestToken.install(in: folder)
  }

  private func issued() throws -> (file: String, der: [UInt8]) {
    let issued = try folder.issuePushCertificate(
      topics: [try topic("com.example.app")], environments: .both, now: Fixture.now)
    let pem = Array(try Data(contentsOf: URL(filePath: issued.certificate)))
    return (issued.certificate, try #require(Certificate.all(pem: pem).first).der)
  }

  @Test("a certificate is refused from the moment of its revocation, also one that was accepted just before")
  func certificate() throws {
    let (file, der) = try issued()
    let trust = try ProviderTrust(folder: folder, isLenient: false, now: Fixture.now)
    func verdict() -> CertificateVerdict {
      trust.verifyChain(leafDER: der, intermediatesDER: [], at: Fixture.now)
    }
    #expect(verdict().isAccepted)
    let standing = try #require(trust.standing(leafDER: der))
    let revocable = try RevocableCertificate(file: file)
    let note = try folder.revoke(revocable.item, name: revocable.name, now: Fixture.now)
    #expect(
      try String(contentsOfFile: note, encoding: .utf8).contains("Apple Push Services: com.example.app"))
    #expect(!standing.isRevoked, "nobody has looked yet")
    #expect(verdict().verificationError == X509_V_ERR_CERT_REVOKED && verdict().problem?.code == .revoked)
    #expect(standing.isRevoked)
    #expect(try folder.restore(revocable.item))
    #expect(verdict().isAccepted && !standing.isRevoked)
    #expect(try !folder.restore(revocable.item))
  }

  @Test("another certificate for the same topic is not revoked with it")
  func renewed() throws {
    let trust = try ProviderTrust(folder: folder, isLenient: false, now: Fixture.now)
    let (file, _) = try issued()
    try folder.revoke(RevocableCertificate(file: file).item, name: "old", now: Fixture.now)
    #expect(folder.pushCertificates().map { folder.isRevoked(.certificate($0.sha256)) } == [true])
    let renewed = try issued()
    #expect(trust.verifyChain(leafDER: renewed.der, intermediatesDER: [], at: Fixture.now).isAccepted)
    #expect(folder.pushCertificates().map { folder.isRevoked(.certificate($0.sha256)) } == [false])
  }

  @Test("lenient mode lets a revoked certificate in, and says so")
  func lenient() throws {
    let (file, der) = try issued()
    try folder.revoke(RevocableCertificate(file: file).item, name: "", now: Fixture.now)
    let trust = try ProviderTrust(folder: folder, isLenient: true, now: Fixture.now)
    let verdict = trust.verifyChain(leafDER: der, intermediatesDER: [], at: Fixture.now)
    #expect(verdict.isAccepted && verdict.problem?.code == .revoked && trust.standing(leafDER: der) == nil)
  }

  @Test("tokens of a revoked key end, also those remembered, until it is taken back")
  func key() throws {
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    func refusal() -> ProviderTokenRefusal? {
      let result = verifier.verify(compact: Array(TestToken.raw.utf8), now: Fixture.now)
      if case .failure(let refusal) = result { return refusal }
      return nil
    }
    #expect(refusal() == nil)
    try folder.revoke(folder.revocableKey(TestToken.keyId), name: TestToken.keyId, now: Fixture.now)
    verifier.pickUpChanges()
    for _ in 1...2 {
      #expect(refusal()?.rejection == .invalidProviderToken)
      #expect(refusal()?.explanation.contains("ABC123DEFG was revoked") == true)
    }
    try folder.restore(.key(TestToken.keyId))
    verifier.pickUpChanges()
    #expect(refusal() == nil)
  }

  @Test("the id of a revoked key is used up")
  func usedUp() throws {
    let key = try folder.issueTokenKey(team: "TEAM", keyId: "KEY1", now: Fixture.now)
    try folder.revoke(.key("KEY1"), name: "", now: Fixture.now)
    for path in [key.key, key.description] { try FileManager.default.removeItem(atPath: path) }
    let error = #expect(throws: CredentialsError.self) {
      try folder.issueTokenKey(team: "TEAM", keyId: "KEY1", now: Fixture.now)
    }
    #expect(error?.code == .exists)
  }

  @Test(
    "what is no digest and no id is not revoked, and names no file",
    arguments: [Revocable.key("../x"), .key(""), .certificate([1, 2]), .certificate([])])
  func malformed(item: Revocable) {
    #expect(throws: CredentialsError.self) { try folder.revoke(item, name: "", now: Fixture.now) }
    #expect(!folder.isRevoked(item))
  }

  @Test(
    "a file with several certificates means the one that its key belongs to; a key without files is none of ours"
  )
  func chosen() throws {
    let (file, der) = try issued()
    let bundle = file.dropLast(4) + ".p12"
    #expect(try RevocableCertificate(file: String(bundle)).item == Revocable(der: der))
    let chain = home.path + "/chain.pem"
    let parts = [folder.ca.certificate, file, file.dropLast(4) + ".key"].map { String($0) }
    let text = try parts.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
    try write(Array(text.utf8), to: chain)
    #expect(try RevocableCertificate(file: chain).item == Revocable(der: der))
    #expect(throws: CredentialsError.self) { try folder.revocableKey("NOSUCHKEY0") }
    #expect(throws: CredentialsError.self) { try RevocableCertificate(file: folder.ca.key) }
  }

  @Test("- names a file, and not standard input")
  func dash() {
    let error = #expect(throws: CredentialsError.self) { try RevocableCertificate(file: "-") }
    #expect(error?.code == .unreadable && error?.message.hasPrefix("-: ") == true)
  }

  @Test("there is an end to what can be revoked, but not to revoking the same again")
  func full() throws {
    let digest = [UInt8](repeating: 7, count: 32)
    try folder.revoke(.certificate(digest), name: "first", now: Fixture.now)
    for number in 1..<1000 { try write([], to: folder.revokedFolder + "/key-K\(number)") }
    let error = #expect(throws: CredentialsError.self) {
      try folder.revoke(.key("ONEMORE"), name: "", now: Fixture.now)
    }
    #expect(error?.code == .unsuitable)
    try folder.revoke(.certificate(digest), name: "again", now: Fixture.now)
    try folder.restore(.key("K1"))
    try folder.revoke(.key("ONEMORE"), name: "", now: Fixture.now)
  }

  private func makeRevokedFolder() throws {
    try FileManager.default.createDirectory(atPath: folder.revokedFolder, withIntermediateDirectories: true)
  }

  @Test("what was revoked before the start is known from the start")
  func before() throws {
    try makeRevokedFolder()
    try write([], to: folder.revokedFolder + "/key-KEY1")
    #expect(Revocations(folder).contains(.key("KEY1")))
  }

  @Test("a change of which the verifier was told is seen at once, however many came just before")
  func told() throws {
    try makeRevokedFolder()
    let verifier = ProviderTokenVerifier(folder: folder, isLenient: false)
    let note = folder.revokedFolder + "/key-" + TestToken.keyId
    for round in 1...12 {
      for isRevoked in [true, false] {
        if isRevoked { try write([], to: note) } else { try FileManager.default.removeItem(atPath: note) }
        verifier.expectChange()
        verifier.pickUpChanges()
        let result = verifier.verify(compact: Array(TestToken.raw.utf8), now: Fixture.now)
        let isRefused = if case .failure = result { true } else { false }
        #expect(isRefused == isRevoked, "round \(round)")
      }
    }
  }

  @Test("a folder that was read and looks as it did is not read again")
  func unread() throws {
    try makeRevokedFolder()
    try write([], to: folder.revokedFolder + "/README.md")
    try setModified(60, folder.revokedFolder)
    let revocations = Revocations(folder)
    // A name of the same length, so that not even the folder's size differs.
    try move("README.md", to: "key-KEY12", in: folder.revokedFolder)
    try setModified(60, folder.revokedFolder)
    revocations.pickUpChanges()
    #expect(revocations.generation == 0)
    try setModified(50, folder.revokedFolder)
    revocations.pickUpChanges()
    #expect(revocations.generation == 1 && revocations.contains(.key("KEY12")))
  }

  @Test("other files in the folder count for nothing")
  func strangers() throws {
    try makeRevokedFolder()
    for name in [
      "README.md", "certificate-zz", "certificate-" + String(repeating: "A", count: 64), "key-", "key-a b",
    ] {
      try write([], to: folder.revokedFolder + "/" + name)
    }
    let revocations = Revocations(folder)
    #expect(revocations.generation == 0)
    try write([], to: folder.revokedFolder + "/key-KEY1")
    revocations.pickUpChanges()
    #expect(revocations.generation == 1 && revocations.contains(.key("KEY1")))
  }
}
