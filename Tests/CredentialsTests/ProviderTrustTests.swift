import Basics
import COpenSSL
import Foundation
import PushModel
import TestSupport
import Testing

import Credentials

@Suite("Provider trust")
struct ProviderTrustTests {
  private static let commonName = "Apple Push Services: com.example.app"

  private func trust(_ folder: CertsFolder? = nil, isLenient: Bool = false) throws -> ProviderTrust {
    try ProviderTrust(folder: folder ?? Fixture.folder(), isLenient: isLenient, now: Fixture.now)
  }

  private func verdict(
    _ pair: KeyPair, by trust: ProviderTrust, chain: [KeyPair] = [], at now: Timestamp = Fixture.now
  ) -> CertificateVerdict {
    trust.verifyChain(leafDER: pair.certificate.der, intermediatesDER: chain.map(\.certificate.der), at: now)
  }

  private func foreign(by ca: KeyPair) throws -> KeyPair {
    try TestCertificate.made(commonName: Self.commonName, uid: "com.example.app", by: ca)
  }

  @Test("a push certificate of our own is accepted, also when the chain repeats it")
  func own() throws {
    let pair = try TestCertificate.issued(environments: .sandbox)
    for chain in [[], [pair], [pair, try Fixture.root()]] {
      let verdict = verdict(pair, by: try trust(), chain: chain)
      #expect(verdict.isAccepted && verdict.problem == nil && verdict.verificationError == nil)
      #expect(verdict.environments == .sandbox)
    }
  }

  private func large(_ number: Int, by ca: KeyPair) throws -> KeyPair {
    let filler = CertificateExtension.topics(
      (0..<900).compactMap { Topic("com.example.a-long-name-that-fills-the-list.app-\(number)-\($0)") }.map {
        PushTopic($0)
      })
    return try TestCertificate.made(
      commonName: Self.commonName, uid: "com.example.app", extensions: [filler], by: ca)
  }

  @Test("what is remembered of certificates is bounded in bytes, however large they are")
  func bounded() throws {
    let trust = try trust(isLenient: true)
    let ca = try TestCertificate.foreignCA()
    var most = 0
    var size = 0
    for number in 0..<100 {
      let pair = try large(number, by: ca)
      size = pair.certificate.der.count
      #expect(verdict(pair, by: trust).isAccepted)
      #expect(trust.recentVerdict(leafDER: pair.certificate.der)?.certificate?.topics.count == 900)
      most = max(most, trust.recentCount)
    }
    #expect(size > 50_000, "as large as a handshake may have them")
    #expect(most * size <= ProviderTrust.maximumRecentBytes)
  }

  /// The same certificate with other last bytes: a signature that does not fit is a reason that lenient mode keeps.
  private func expectForgotten(after most: Int, of der: [UInt8]) throws {
    let trust = try trust(isLenient: true)
    var der = der
    for number in 0...most {
      der.replaceSubrange(der.count - 2..<der.count, with: [UInt8(number >> 8), UInt8(number & 0xff)])
      #expect(trust.verifyChain(leafDER: der, intermediatesDER: [], at: Fixture.now).isAccepted)
      #expect(trust.recentCount == (number < most ? number + 1 : 1))
    }
  }

  @Test("1,024 certificates are remembered, or 4 MiB of them, and with one more all are forgotten")
  func forgotten() throws {
    try expectForgotten(after: 1024, of: TestCertificate.issued(environments: .both).certificate.der)
    try expectForgotten(after: 64, of: TestCertificate.made(byteCount: 65_536))
  }

  @Test("certificates of strangers push out nobody's verdict")
  func strangers() throws {
    let trust = try trust()
    let good = try TestCertificate.issued(environments: .both)
    #expect(verdict(good, by: trust).isAccepted && trust.recentCount == 1)
    let ca = try TestCertificate.foreignCA()
    for _ in 0..<3 {
      let stranger = try foreign(by: ca)
      #expect(verdict(stranger, by: trust).problem?.code == .unknownCA)
      #expect(trust.recentVerdict(leafDER: stranger.certificate.der)?.problem?.code == .unknownCA)
    }
    #expect(trust.recentCount == 1)
    #expect(trust.recentVerdict(leafDER: good.certificate.der)?.isAccepted == true)
  }

  @Test("the emulator's clock decides on validity")
  func validity() throws {
    let trust = try trust()
    let pair = try TestCertificate.made(
      commonName: Self.commonName, uid: "com.example.app", validSeconds: -100...100)
    #expect(verdict(pair, by: trust, at: Fixture.now.adding(seconds: 99)).isAccepted)
    let late = verdict(pair, by: trust, at: Fixture.now.adding(seconds: 101))
    #expect(late.problem?.code == .expired)
    #expect(late.verificationError == X509_V_ERR_CERT_HAS_EXPIRED)
    let early = verdict(pair, by: trust, at: Fixture.now.adding(seconds: -101))
    #expect(early.problem?.code == .notYetValid)
    #expect(early.verificationError == X509_V_ERR_CERT_NOT_YET_VALID)
  }

  @Test("an accepted chain is not verified again for a minute, but never past the certificate's end")
  func remembered() throws {
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let ca = try TestCertificate.foreignCA()
    let intermediate = try KeyPair.deviceCA(by: ca, now: Fixture.now)
    try write(try ca.certificate.pem(), to: folder.trustFolder + "/theirs.pem")
    let trust = try trust(folder)
    let long = try foreign(by: intermediate)
    let short = try TestCertificate.made(
      commonName: Self.commonName, uid: "com.example.app", by: intermediate, validSeconds: 0...30)
    for pair in [long, short] { #expect(verdict(pair, by: trust, chain: [intermediate]).isAccepted) }
    // Without its intermediate none can be verified anew.
    for (pair, seconds) in [(long, 0), (short, 0), (short, 30), (long, 31), (long, 60)] as [(KeyPair, Int64)]
    {
      #expect(verdict(pair, by: trust, at: Fixture.now.adding(seconds: seconds)).isAccepted, "\(seconds)")
    }
    #expect(!verdict(short, by: trust, at: Fixture.now.adding(seconds: 31)).isAccepted)
    #expect(!verdict(long, by: trust, at: Fixture.now.adding(seconds: 61)).isAccepted)
  }

  @Test("a foreign authority is unknown, and its name is in the reason")
  func foreignCA() throws {
    let pair = try foreign(by: TestCertificate.foreignCA())
    let verdict = verdict(pair, by: try trust())
    #expect(!verdict.isAccepted && verdict.environments.isEmpty)
    #expect(verdict.problem?.code == .unknownCA)
    #expect(verdict.problem?.sentence.contains("apns-emulator Root CA") == true)
    #expect(verdict.verificationError == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
  }

  @Test("a self-signed certificate is unknown")
  func selfSigned() throws {
    let pair = try CraftedCertificate.made(
      commonName: Self.commonName, uid: "com.example.app", by: nil, from: Fixture.now.adding(seconds: -1),
      until: Fixture.now.adding(seconds: 1))
    #expect(verdict(pair, by: try trust()).problem?.code == .unknownCA)
  }

  @Test(
    "an authority put into the trust folder is accepted without a restart, directly or through an intermediate"
  )
  func trustFolder() throws {
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let trust = try trust(folder)
    let ca = try TestCertificate.foreignCA()
    let direct = try foreign(by: ca)
    #expect(verdict(direct, by: trust).problem?.code == .unknownCA)
    try write(try ca.certificate.pem(), to: folder.trustFolder + "/theirs.pem")
    #expect(verdict(direct, by: trust).isAccepted)
    let intermediate = try KeyPair.deviceCA(by: ca, now: Fixture.now)
    let indirect = try foreign(by: intermediate)
    #expect(verdict(indirect, by: trust).problem?.code == .unknownCA)
    #expect(verdict(indirect, by: trust, chain: [indirect, intermediate]).isAccepted)
  }

  @Test("a trust folder that was read and looks as it did is not read again, whoever comes")
  func unread() throws {
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let ca = try TestCertificate.foreignCA()
    // Of the same length, so that not even the folder's size differs.
    try write(try ca.certificate.pem(), to: folder.trustFolder + "/theirs.txt")
    try setModified(60, folder.trustFolder)
    let trust = try trust(folder)
    let leaf = try foreign(by: ca)
    try move("theirs.txt", to: "theirs.pem", in: folder.trustFolder)
    try setModified(60, folder.trustFolder)
    #expect(verdict(leaf, by: trust).problem?.code == .unknownCA)
    try setModified(50, folder.trustFolder)
    #expect(verdict(leaf, by: trust).isAccepted)
  }

  @Test("the eight certificates after the leaf are looked at, whether the chain repeats the leaf or not")
  func longChain() throws {
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let ca = try TestCertificate.foreignCA()
    try write(try ca.certificate.pem(), to: folder.trustFolder + "/theirs.pem")
    let intermediate = try KeyPair.deviceCA(by: ca, now: Fixture.now)
    let other = try Fixture.root()
    let leaf = try foreign(by: intermediate)
    for repeated in [[], [leaf]] {
      let trust = try trust(folder)
      let chain = { (others: Int) in repeated + [KeyPair](repeating: other, count: others) + [intermediate] }
      #expect(verdict(leaf, by: trust, chain: chain(8)).problem?.code == .unknownCA)
      #expect(verdict(leaf, by: trust, chain: chain(7)).isAccepted)
    }
  }

  @Test("a single certificate put into the trust folder is accepted, its authority is not")
  func trustedLeaf() throws {
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let ca = try TestCertificate.foreignCA()
    let (known, unknown) = (try foreign(by: ca), try foreign(by: ca))
    try write(try known.certificate.pem(), to: folder.trustFolder + "/one.pem")
    let trust = try trust(folder)
    #expect(verdict(known, by: trust).isAccepted)
    #expect(verdict(unknown, by: trust).problem?.code == .unknownCA)
  }

  @Test("what in the trust folder holds no certificate, or can't be read, is named, the others count")
  func damagedTrust() throws {
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let ca = try TestCertificate.foreignCA()
    try write(Array("nothing".utf8), to: folder.trustFolder + "/a-bad.pem")
    try FileManager.default.createDirectory(
      atPath: folder.trustFolder + "/b-folder.pem", withIntermediateDirectories: false)
    try write(try ca.certificate.pem(), to: folder.trustFolder + "/good.pem")
    let trust = try trust(folder)
    #expect(trust.ignoredFiles.map(\.code) == [.malformed, .unreadable])
    for (file, name) in zip(trust.ignoredFiles, ["a-bad.pem", "b-folder.pem"]) {
      #expect(file.message.contains(name))
    }
    #expect(verdict(try foreign(by: ca), by: trust).isAccepted)
  }

  @Test("a certificate that is no push certificate is refused, with the reason")
  func notForPush() throws {
    let trust = try trust()
    let device = try TestCertificate.made(commonName: "phone-1", uid: nil)
    #expect(verdict(device, by: trust).problem == .namesNoTopic)
    let bare = try TestCertificate.made(commonName: "somebody", uid: "com.example.app")
    #expect(verdict(bare, by: trust).problem == .namesNoEnvironment)
    let server = try TestCertificate.made(
      commonName: Self.commonName, uid: "com.example.app",
      extensions: [.extendedKeyUsage(.serverAuthentication)])
    #expect(verdict(server, by: trust).problem?.code == .notForClients)
    let verdicts = [device, bare, server].map { verdict($0, by: trust) }
    #expect(verdicts.allSatisfy { $0.verificationError == X509_V_ERR_INVALID_PURPOSE })
  }

  @Test("lenient mode takes whatever names a topic and keeps the reason")
  func lenient() throws {
    let trust = try trust(isLenient: true)
    let unknown = verdict(try foreign(by: TestCertificate.foreignCA()), by: trust)
    #expect(unknown.isAccepted && unknown.verificationError == nil)
    #expect(unknown.problem?.code == .unknownCA)
    let bare = verdict(try TestCertificate.made(commonName: "x", uid: "com.example.app"), by: trust)
    #expect(bare.isAccepted && bare.environments == .both && bare.problem == .namesNoEnvironment)
    let topicless = verdict(try TestCertificate.made(commonName: "x", uid: nil), by: trust)
    #expect(!topicless.isAccepted && topicless.problem == .namesNoTopic)
    let garbage = trust.verifyChain(leafDER: [0x30, 0x00], intermediatesDER: [], at: Fixture.now)
    #expect(!garbage.isAccepted && garbage.problem == .malformed)
  }

  @Test("a changed signature is not our authority's")
  func forged() throws {
    var der = try TestCertificate.issued(environments: .both).certificate.der
    der[der.count - 1] ^= 1
    let verdict = try trust().verifyChain(leafDER: der, intermediatesDER: [], at: Fixture.now)
    #expect(!verdict.isAccepted && verdict.problem?.code == .unverifiable)
    #expect(verdict.verificationError == X509_V_ERR_CERT_SIGNATURE_FAILURE)
  }

  @Test("the verdict of a handshake can be asked for again")
  func recent() throws {
    let trust = try trust()
    let pair = try TestCertificate.issued(environments: .both)
    #expect(trust.recentVerdict(leafDER: pair.certificate.der) == nil)
    let verdict = verdict(pair, by: trust)
    #expect(trust.recentVerdict(leafDER: pair.certificate.der) == verdict)
  }
}
