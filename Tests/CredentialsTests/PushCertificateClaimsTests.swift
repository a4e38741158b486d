import Basics
import COpenSSL
import Testing

import Credentials

@Suite("Push certificate")
struct PushCertificateClaimsTests {
  @Test(
    "says what it was issued for",
    arguments: [
      (EnvironmentSet.sandbox, "Apple Development IOS Push Services: com.example.app"),
      (.production, "Apple Production IOS Push Services: com.example.app"),
      (.both, "Apple Push Services: com.example.app"),
    ])
  func issued(_ environments: EnvironmentSet, _ commonName: String) throws {
    let pair = try TestCertificate.issued(environments: environments)
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.environments == environments)
    #expect(certificate.commonName == commonName)
    #expect(certificate.impliedTopic?.name == "com.example.app")
    #expect(certificate.teamId == "DEF123GHIJ")
    #expect(certificate.issuer == "apns-emulator Root CA")
    #expect(certificate.covers(try topic("com.example.app")))
    #expect(!certificate.covers(try topic("com.example.other")))
    #expect(certificate.notBefore < Fixture.now && Fixture.now < certificate.notAfter)
    #expect(certificate.fingerprint.count == 32)
    #expect(pair.certificate.serialNumber.count == 16)
    #expect(certificate.namesTopic)
  }

  /// `Documentation/provider-api.md#subject`.
  @Test(
    "a certificate for one topic of a special kind has that kind's name",
    arguments: [
      ("com.example.app.voip", "VoIP Services: com.example.app.voip"),
      ("com.example.app.complication", "WatchKit Services: com.example.app.complication"),
      ("web.com.example", "Website Push ID: web.com.example"),
      ("pass.com.example", "Pass Type ID: pass.com.example"),
      ("com.apple.mgmt.External.0a1b", "APSP:0a1b"),
    ])
  func special(_ name: String, _ commonName: String) throws {
    let pair = try KeyPair.push(
      topics: [try topic(name)], environments: .both, team: "T", by: Fixture.root(), now: Fixture.now)
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.commonName == commonName)
    #expect(certificate.impliedTopic?.name == name && certificate.topics.map(\.name.name) == [name])
    #expect(certificate.environments == .both)
  }

  @Test("a universal one carries Apple's extension bytes and has no default topic")
  func universal() throws {
    let pair = try TestCertificate.issued(environments: .both)
    let value = try bytes(CertificateExtensionTests.topicsValue)
    #expect(pair.certificate.extensionValue(CertificateExtension.topicsIdentifier) == value)
    #expect(try contains(pair, "3010 060a2a864886f76364060301 0402 0500"))
    #expect(try contains(pair, "3010 060a2a864886f76364060302 0402 0500"))
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.topics.map(\.kinds) == [["app"], ["voip"], ["complication"]])
    #expect(certificate.defaultTopic == nil)
  }

  @Test("one for a single environment lists its one topic, which is the default")
  func single() throws {
    let pair = try TestCertificate.issued(environments: .production)
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.topics == [PushTopic(name: try topic("com.example.app"), kinds: ["app"])])
    #expect(certificate.defaultTopic == certificate.impliedTopic)
    #expect(try !contains(pair, "060a2a864886f76364060301"))
  }

  @Test("is a client certificate with digital signature as its only, critical, key usage")
  func usage() throws {
    let pair = try TestCertificate.issued(environments: .both)
    #expect(try contains(pair, "30 0e 06 03 551d0f 01 01 ff 04 04 03020780"))
    #expect(try contains(pair, "30 13 06 03 551d25 04 0c 300a 0608 2b06010505070302"))
    #expect(X509_check_ca(pair.certificate.handle) == 0)
  }

  @Test(
    "without extensions the common name's prefix tells the environment and UID the topic",
    arguments: PushCertificateKind.allCases)
  func prefixOnly(_ kind: PushCertificateKind) throws {
    let pair = try TestCertificate.made(commonName: kind.prefix + "com.example.old", uid: "com.example.old")
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(PushCertificateKind(commonName: certificate.commonName) == kind)
    #expect(certificate.environments == kind.environments)
    #expect(certificate.topics.map(\.name.name) == ["com.example.old"])
  }

  @Test("extensions outrank the prefix and the subject")
  func extensionsFirst() throws {
    let listed = [PushTopic(name: try topic("com.example.listed"), kinds: ["app"])]
    let pair = try TestCertificate.made(
      commonName: "Apple Development IOS Push Services: com.example.app", uid: "com.example.app",
      extensions: [.push(.production), .topics(listed)])
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.environments == .production)
    #expect(certificate.topics == listed)
    #expect(certificate.impliedTopic?.name == "com.example.app")
  }

  @Test("with a UID alone has a topic and no environment")
  func uidOnly() throws {
    let pair = try TestCertificate.made(commonName: "somebody", uid: "com.example.app")
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.namesTopic && certificate.environments.isEmpty)
    #expect(PushCertificateKind(commonName: certificate.commonName) == nil)
  }

  @Test("with neither extension nor a usable UID names no topic", arguments: [nil, "", "two words", "a\0b"])
  func noTopic(_ uid: String?) throws {
    let pair = try TestCertificate.made(commonName: "somebody", uid: uid)
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(!certificate.namesTopic && certificate.impliedTopic == nil && certificate.defaultTopic == nil)
  }

  @Test("with a damaged topics extension has the topic of its UID")
  func damagedExtension() throws {
    let damaged = CertificateExtension(CertificateExtension.topicsIdentifier, der: [0x30, 0x05, 0x0c])
    let pair = try TestCertificate.made(commonName: "x", uid: "com.example.app", extensions: [damaged])
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.topics.map(\.name.name) == ["com.example.app"])
  }

  @Test("a topic longer than X.520 allows a name is written whole")
  func longTopic() throws {
    let name = "com.example." + String(repeating: "x", count: 143)
    let pair = try KeyPair.push(
      topics: [try topic(name)], environments: .both, team: "T", by: Fixture.root(), now: Fixture.now)
    let certificate = try #require(PushCertificateClaims.parse(der: pair.certificate.der))
    #expect(certificate.commonName == "Apple Push Services: " + name)
    #expect(certificate.impliedTopic?.name == name)
  }

  @Test("bytes cut at any length, or followed by others, are no certificate")
  func truncations() throws {
    let der = try TestCertificate.issued(environments: .both).certificate.der
    for count in 0..<der.count { #expect(PushCertificateClaims.parse(der: Array(der.prefix(count))) == nil) }
    #expect(PushCertificateClaims.parse(der: der + [0]) == nil)
    #expect(ERR_peek_error() == 0, "OpenSSL's error queue is left empty")
  }

  @Test("no single changed byte traps")
  func mutations() throws {
    let der = try TestCertificate.issued(environments: .both).certificate.der
    var read = 0
    for index in der.indices {
      for mask in [0x01, 0x80, 0xff] as [UInt8] {
        var changed = der
        changed[index] ^= mask
        if PushCertificateClaims.parse(der: changed) != nil { read += 1 }
      }
    }
    #expect(read > 0 && read < der.count * 3)
  }

  @Test("garbage is no certificate")
  func garbage() {
    var generator = SystemRandomNumberGenerator()
    for count in [0, 1, 2, 100, 2000] {
      let noise = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      #expect(PushCertificateClaims.parse(der: noise) == nil)
    }
  }

  @Test("a certificate may have 65,536 bytes, and no more", arguments: [(65_536, true), (65_537, false)])
  func largest(_ count: Int, _ isTaken: Bool) throws {
    #expect((PushCertificateClaims.parse(der: try TestCertificate.made(byteCount: count)) != nil) == isTaken)
  }

  @Test("an attribute of the subject that is there and empty is the empty text, not none")
  func emptyAttribute() throws {
    let certificate = try TestCertificate.made(commonName: "", uid: nil).certificate
    #expect(certificate.subjectAttribute(NID_commonName) == "")
    #expect(certificate.subjectAttribute(NID_userId) == nil)
  }

  private func contains(_ pair: KeyPair, _ hex: String) throws -> Bool {
    pair.certificate.der.contains(try bytes(hex))
  }
}
