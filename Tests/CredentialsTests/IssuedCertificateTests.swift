import COpenSSL
import Foundation
import Platform
import PushModel
import TestSupport
import Testing

import Credentials

@Suite("Issued certificates")
struct IssuedCertificateTests {
  @Test("a push certificate comes as PEM, key and PKCS#12 with an empty password")
  func push() throws {
    let folder = try Fixture.folder()
    let issued = try folder.issuePushCertificate(
      topics: [try topic("com.example.p12")], environments: .both, now: Fixture.now)
    #expect(issued.certificate == folder.pushFolder + "/com.example.p12.pem")
    #expect(try permissions(of: issued.key) == 0o600)
    #expect(try permissions(of: issued.pkcs12) == 0o600)
    let certificate = try #require(Certificate.all(pem: try contents(of: issued.certificate)).first)
    let key = try #require(PrivateKey(pem: try contents(of: issued.key)))
    #expect(key.isRSA && certificate.belongs(to: key))
    let bundle = try unpacked(try contents(of: issued.pkcs12))
    #expect(bundle.certificate.der == certificate.der)
    #expect(bundle.certificate.belongs(to: bundle.key))
  }

  @Test("the password of a PKCS#12 file may have 255 bytes, no more and no zero byte")
  func password() throws {
    let folder = try Fixture.folder()
    let name = try topic("com.example.password")
    let issued = try folder.issuePushCertificate(topics: [name], environments: .both, now: Fixture.now)
    let longest = String(repeating: "x", count: 255)
    let bundle = try folder.read(issued, name: name, password: longest).pkcs12
    #expect(try PushIdentity(bundle, named: "push.p12", password: longest).certificatesDER.count == 1)
    for password in [longest + "x", "a\0b"] {
      #expect(throws: CredentialsError(.unsuitable, "")) {
        try folder.read(issued, name: name, password: password)
      }
    }
  }

  @Test("issuing a push certificate again takes what is asked for now")
  func pushAgain() throws {
    let folder = try Fixture.folder()
    let topics = [try topic("com.example.again")]
    try folder.issuePushCertificate(topics: topics, environments: .sandbox, now: Fixture.now)
    let issued = try folder.issuePushCertificate(topics: topics, environments: .production, now: Fixture.now)
    let pem = try #require(Certificate.all(pem: try contents(of: issued.certificate)).first)
    #expect(PushCertificateClaims.parse(der: pem.der)?.environments == .production)
    #expect(
      FolderNames.read(folder.pushFolder) { $0.hasPrefix("com.example.again") }.count
        == 3)
  }

  @Test("issuing a push certificate again for other topics tells which those of the old one were")
  func replacedTopics() throws {
    let folder = try Fixture.folder()
    let topics = [try topic("com.example.replaced"), try topic("com.example.dropped")]
    func replaced(_ topics: [Topic]) throws -> [Topic] {
      try folder.issuePushCertificate(topics: topics, environments: .both, now: Fixture.now).replacedTopics
        .map(\.name)
    }
    #expect(try replaced(topics) == [], "there was none")
    #expect(try replaced(topics) == [], "they are the same")
    #expect(try Set(replaced([topics[0]])).isSuperset(of: topics))
  }

  @Test("of a file with several certificates the one of its key comes first")
  func ownFirst() throws {
    let pair = try TestCertificate.issued(environments: .both)
    let root = try Fixture.root().certificate
    let text = try root.pem() + pair.certificate.pem() + pair.key.pem()
    #expect(try PushIdentity(text, named: "push.pem").certificatesDER == [pair.certificate.der, root.der])
  }

  @Test("what is secret is written for its owner alone, and over nothing that is there")
  func secretFile() throws {
    let home = ScratchFolder()
    let path = home.path + "/key.pem"
    try PushIdentity.write([1], to: path)
    #expect(try contents(of: path) == [1] && permissions(of: path) == 0o600)
    #expect(throws: CredentialsError(.exists, "")) { try PushIdentity.write([2], to: path) }
    #expect(try contents(of: path) == [1])
  }

  /// `Documentation/provider-api.md#topics-extension`
  @Test(
    "a universal certificate lists VoIP and complication unasked, its app's other suffixes when they are asked for",
    arguments: [
      (["", ".voip-ptt"], ["", ".voip", ".complication", ".voip-ptt"]),
      (["", ".voip", ".pushkit.fileprovider"], ["", ".voip", ".complication", ".pushkit.fileprovider"]),
      (
        ["", ".push-type.widgets", ".push-type.controls"],
        ["", ".voip", ".complication", ".push-type.widgets", ".push-type.controls"]
      ), ([".voip-ptt"], [".voip-ptt"]), (["", "-two"], ["", "-two"]), (["", ".other"], ["", ".other"]),
      (["", ".location-query"], ["", ".location-query"]),
    ])
  func suffixes(_ asked: [String], _ listed: [String]) throws {
    let app = "com.example.suffixes"
    let home = ScratchFolder()
    let folder = try Fixture.folder(in: home)
    let issued = try folder.issuePushCertificate(
      topics: asked.map { try topic(app + $0) }, environments: .both, now: Fixture.now)
    let leaf = try #require(Certificate.all(pem: contents(of: issued.certificate)).first)
    #expect(PushCertificateClaims.parse(der: leaf.der)?.topics.map(\.name.name) == listed.map { app + $0 })
    let found = try #require(folder.pushCertificates().first { $0.topic.name == app + asked[0] })
    let again = try folder.issuePushCertificate(
      topics: [found.topic] + found.moreTopics, environments: .both, now: Fixture.now)
    let copy = try #require(Certificate.all(pem: contents(of: again.certificate)).first)
    #expect(PushCertificateClaims.parse(der: copy.der)?.topics.map(\.name.name) == listed.map { app + $0 })
  }

  /// `Documentation/provider-api.md#topics-extension`: one that lists several topics implies none.
  @Test("a single certificate names its topic in the subject alone, which pushes then need not name")
  func single() throws {
    let folder = try Fixture.folder()
    let topics = [try topic("com.example.single")]
    func parsed(isSingle: Bool) throws -> PushCertificateClaims {
      let issued = try folder.issuePushCertificate(
        topics: topics, environments: .both, isSingle: isSingle, now: Fixture.now)
      let pem = try #require(Certificate.all(pem: try contents(of: issued.certificate)).first)
      #expect((pem.extensionValue(CertificateExtension.topicsIdentifier) == nil) == isSingle)
      #expect(folder.pushCertificates().first { $0.topic == topics[0] }?.isSingle == isSingle)
      return try #require(PushCertificateClaims.parse(der: pem.der))
    }
    let single = try parsed(isSingle: true)
    #expect(single.topics.map(\.name) == topics && single.defaultTopic == topics[0])
    #expect(single.environments == .both)
    #expect(try parsed(isSingle: false).defaultTopic == nil)
    #expect(throws: CredentialsError(.unsuitable, "")) {
      try folder.issuePushCertificate(
        topics: topics + [try topic("com.example.second")], environments: .both, isSingle: true,
        now: Fixture.now)
    }
  }

  @Test("a push certificate without topic or environment is refused")
  func pushRefused() throws {
    let folder = try Fixture.folder()
    #expect(throws: CredentialsError(.unsuitable, "")) {
      try folder.issuePushCertificate(topics: [], environments: .both, now: Fixture.now)
    }
    #expect(throws: CredentialsError(.unsuitable, "")) {
      try folder.issuePushCertificate(topics: [try topic("a")], environments: [], now: Fixture.now)
    }
  }

  @Test("issuing prepares an empty folder first")
  func preparesFirst() throws {
    let home = ScratchFolder()
    let folder = CertsFolder(path: home.path + "/certs")
    try folder.issueTokenKey(team: "DEF123GHIJ", keyId: "ABC123DEFG", now: Fixture.now)
    #expect(PathCalls.exists(folder.ca.certificate) && PathCalls.exists(folder.server.key))
  }

  @Test("a device certificate is RSA, named by its UDID and signed by the device CA")
  func device() throws {
    let folder = try Fixture.folder()
    let issued = try folder.issueDeviceCertificate(udid: try udid("phone-7"), now: Fixture.now)
    #expect(issued.certificate == folder.devicesFolder + "/phone-7.pem")
    #expect(try permissions(of: issued.key) == 0o600)
    let certificate = try #require(Certificate.all(pem: try contents(of: issued.certificate)).first)
    #expect(certificate.subjectAttribute(NID_commonName) == "phone-7")
    #expect(certificate.publicKey?.isRSA == true && certificate.publicKey?.bits == 2048)
    let ca = try folder.loadedDeviceCA(now: Fixture.now)
    #expect(X509_verify(certificate.handle, ca.key.handle) == 1)
  }

  @Test("a device's request is signed for the key in it, under the UDID that was asked for")
  func request() throws {
    let folder = try Fixture.folder()
    for bits in [1024, 2048] {
      let key = try PrivateKey.generateRSA(bits: bits)
      let request = try CertificateRequest(subject: DistinguishedName((NID_commonName, "whoever")), key: key)
      let pem = try folder.signDeviceRequest(
        csrPEM: request.pem(), udid: try udid("phone-8"), now: Fixture.now)
      let certificate = try #require(Certificate.all(pem: pem).first)
      #expect(certificate.subjectAttribute(NID_commonName) == "phone-8")
      #expect(certificate.belongs(to: key))
    }
  }

  @Test("a request that is damaged, too weak, too strong or not RSA is refused")
  func requestRefused() throws {
    let folder = try Fixture.folder()
    let subject = DistinguishedName((NID_commonName, "x"))
    let sign = { (pem: [UInt8]) in
      try folder.signDeviceRequest(csrPEM: pem, udid: try udid("phone-9"), now: Fixture.now)
    }
    #expect(throws: CredentialsError(.malformed, "")) { try sign(Array("no request".utf8)) }
    for key in [try PrivateKey.generateP256(), try PrivateKey.generateRSA(bits: 512)] {
      let pem = try CertificateRequest(subject: subject, key: key).pem()
      #expect(throws: CredentialsError(.unsuitable, "")) { try sign(pem) }
    }
  }

  @Test("a request may have 16,384 bytes of PEM, empty lines included")
  func longestRequest() throws {
    let pem = try CertificateRequest(
      subject: DistinguishedName((NID_commonName, "x")), key: PrivateKey.generateRSA(bits: 1024)
    ).pem()
    let sign = { (count: Int) in
      try Fixture.folder().signDeviceRequest(
        csrPEM: [UInt8](repeating: 0x0a, count: count - pem.count) + pem, udid: udid("phone-9"),
        now: Fixture.now)
    }
    #expect(try Certificate.all(pem: sign(16_384)).count == 1)
    #expect(throws: CredentialsError(.malformed, "")) { try sign(16_385) }
  }

  /// OpenSSL signs with Ed25519 only where no hash is named beside it.
  @Test("what OpenSSL does not sign is an error, never a certificate or a request without a signature")
  func unsigned() throws {
    let key = try #require(PrivateKey(ed25519Seed: [UInt8](repeating: 1, count: 32)))
    let issuer = KeyPair(certificate: try Fixture.root().certificate, key: key)
    #expect(throws: CredentialsError(.cryptography, "")) {
      try TestCertificate.made(commonName: "x", uid: nil, by: issuer)
    }
    #expect(throws: CredentialsError(.cryptography, "")) {
      try CertificateRequest(subject: DistinguishedName((NID_commonName, "x")), key: key)
    }
  }

  @Test("a request whose signature does not fit its key is refused")
  func requestForged() throws {
    let folder = try Fixture.folder()
    let key = try PrivateKey.generateRSA()
    let pem = try CertificateRequest(subject: DistinguishedName((NID_commonName, "x")), key: key).pem()
    var lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").map(String.init)
    // The last full line of Base64 lies inside the signature.
    let line = lines.count - 3
    lines[line] = String(lines[line].reversed())
    let forged = Array((lines.joined(separator: "\n") + "\n").utf8)
    #expect(throws: CredentialsError(.mismatched, "")) {
      try folder.signDeviceRequest(csrPEM: forged, udid: try udid("phone-9"), now: Fixture.now)
    }
  }

  private func unpacked(_ bytes: [UInt8]) throws -> KeyPair {
    let file = try #require(
      bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return d2i_PKCS12(nil, &cursor, buffer.count)
      })
    defer { PKCS12_free(file) }
    var (key, certificate): (OpaquePointer?, OpaquePointer?)
    try #require(PKCS12_parse(file, "", &key, &certificate, nil) == 1)
    return KeyPair(
      certificate: try #require(Certificate(taking: certificate)), key: try #require(PrivateKey(taking: key)))
  }
}
