import Basics
import COpenSSL
import Foundation
import Testing

import Credentials

@Suite("Device identity")
struct DeviceIdentityTests {
  /// Everything a connect command proves itself with.
  private struct Proof {
    var certificate: [UInt8]
    var nonce: [UInt8]
    var signature: [UInt8]
  }

  private func identity(
    _ name: String = "phone-1", bits: Int = 2048, by ca: KeyPair? = nil,
    validSeconds: ClosedRange<Int64> = -3600...3600
  ) throws -> DeviceIdentity {
    let ca = try ca ?? Fixture.folder().loadedDeviceCA(now: Fixture.now)
    let pair = try TestCertificate.made(
      commonName: name, uid: nil, by: ca, key: PrivateKey.generateRSA(bits: bits),
      validSeconds: validSeconds)
    return try DeviceIdentity(certificatePEM: pair.certificate.pem(), keyPEM: pair.key.pem())
  }

  private func proof(_ identity: DeviceIdentity, at time: Timestamp = Fixture.now) throws -> Proof {
    let nonce = DeviceNonce.make(now: time)
    return Proof(
      certificate: identity.certificateDER, nonce: nonce, signature: try identity.sign(nonce: nonce))
  }

  private func verify(
    _ proof: Proof, isLenient: Bool = false,
    tolerance: Int64 = DeviceIdentityVerifier.defaultToleranceSeconds,
    at now: Timestamp = Fixture.now
  ) throws -> Result<VerifiedDevice, DeviceRefusal> {
    let verifier = try DeviceIdentityVerifier(
      folder: Fixture.folder(), isLenient: isLenient, toleranceSeconds: tolerance, now: Fixture.now)
    return verifier.verify(
      certificateDER: proof.certificate, nonce: proof.nonce, signature: proof.signature, now: now,
      at: Instant(nanoseconds: 0))
  }

  private func refusal(_ result: Result<VerifiedDevice, DeviceRefusal>) -> DeviceRefusal.Code? {
    if case .failure(let refusal) = result { refusal.code } else { nil }
  }

  @Test("a device is believed with a key of 1024 or 2048 bits", arguments: [(1024, 130), (2048, 258)])
  func believed(_ bits: Int, _ signatureLength: Int) throws {
    let proof = try proof(try identity(bits: bits))
    #expect(proof.nonce.count == 17 && proof.nonce[0] == 0)
    #expect(proof.signature.count == signatureLength)
    #expect(Array(proof.signature.prefix(2)) == [1, 1])
    let device = try verify(proof).get()
    #expect(device.udid.text == "phone-1")
    #expect(device.keyFingerprint.count == 32)
    #expect(device.leniency == nil)
  }

  /// `Documentation/device-protocol.md#authentication`, `#hex-examples`: time 1700000000000 is 0x18bcfe56800.
  @Test("a nonce holds the time in milliseconds after a zero")
  func nonce() throws {
    let sample = try bytes("00 0000018bcfe56800 1122334455667788")
    #expect(DeviceNonce.time(of: sample) == Timestamp(seconds: 1_700_000_000))
    #expect(DeviceNonce.make(now: Fixture.now).prefix(9) == sample.prefix(9))
    #expect(DeviceNonce.time(of: try bytes("00 ffffffffffffffff 1122334455667788"))?.nanoseconds == .max)
  }

  @Test("activation: the request's key gets a certificate that then proves the device")
  func activation() throws {
    let request = try DeviceRequest.make(udid: try udid("phone-2"))
    let pem = try Fixture.folder().signDeviceRequest(
      csrPEM: request.csrPEM, udid: try udid("phone-2"), now: Fixture.now)
    let identity = try DeviceIdentity(certificatePEM: pem, keyPEM: request.keyPEM)
    #expect(identity.name == "phone-2")
    #expect(try verify(try proof(identity)).get().udid.text == "phone-2")
  }

  @Test("an identity is read from its files")
  func files() throws {
    let issued = try Fixture.folder().issueDeviceCertificate(udid: try udid("phone-3"), now: Fixture.now)
    let identity = try DeviceIdentity.load(pem: issued.certificate, key: issued.key)
    #expect(try verify(try proof(identity)).get().udid.text == "phone-3")
    #expect(throws: CredentialsError(.unreadable, "")) {
      try DeviceIdentity.load(pem: issued.certificate, key: issued.key + ".missing")
    }
    #expect(throws: CredentialsError(.mismatched, "")) {
      try DeviceIdentity.load(pem: issued.certificate, key: try Fixture.folder().deviceCA.key)
    }
  }

  @Test(
    "a nonce of another length or beginning is refused",
    arguments: [
      "", "00", "00 0000018bcfe56800 11223344556677", "00 0000018bcfe56800 1122334455667788 00",
      "01 0000018bcfe56800 1122334455667788",
    ])
  func badNonce(_ hex: String) throws {
    let identity = try identity()
    let nonce = try bytes(hex)
    let proof = Proof(
      certificate: identity.certificateDER, nonce: nonce, signature: try identity.sign(nonce: nonce))
    #expect(refusal(try verify(proof)) == .badNonce)
    #expect(refusal(try verify(proof, isLenient: true)) == .badNonce)
  }

  @Test("a nonce may be 15 minutes off, not more, in both directions")
  func clock() throws {
    let identity = try identity()
    for direction in [-1, 1] as [Int64] {
      let near = try proof(identity, at: Fixture.now.adding(seconds: 900 * direction))
      #expect(refusal(try verify(near)) == nil)
      let far = try proof(identity, at: Fixture.now.adding(seconds: 901 * direction))
      #expect(refusal(try verify(far)) == .badClock)
      #expect(refusal(try verify(far, tolerance: 0)) == nil)
      #expect(refusal(try verify(far, tolerance: 1000)) == nil)
      #expect(try verify(far, isLenient: true).get().leniency?.code == .badClock)
    }
    let endOfTime = try bytes("00 ffffffffffffffff 1122334455667788")
    let proof = Proof(
      certificate: identity.certificateDER, nonce: endOfTime, signature: try identity.sign(nonce: endOfTime))
    #expect(refusal(try verify(proof)) == .badClock)
  }

  @Test("a proof is believed once, whatever the date is meanwhile; lenient mode keeps the reason")
  func repeated() throws {
    let identity = try identity()
    let proof = try proof(identity)
    // A tolerance of 0: the clock is not looked at.
    for (isLenient, tolerance) in [(false, 900), (true, 900), (false, 0)] as [(Bool, Int64)] {
      let verifier = try DeviceIdentityVerifier(
        folder: Fixture.folder(), isLenient: isLenient, toleranceSeconds: tolerance, now: Fixture.now)
      let verify = { (proof: Proof, date: Int64, real: Int64) in
        verifier.verify(
          certificateDER: proof.certificate, nonce: proof.nonce, signature: proof.signature,
          now: Fixture.now.adding(seconds: date), at: Instant(nanoseconds: real * 1_000_000_000))
      }
      #expect(try verify(proof, 0, 0).get().leniency == nil)
      for (date, real) in [(0, 1), (900, 900), (-900, 1000), (0, 1799)] as [(Int64, Int64)] {
        let again = verify(proof, date, real)
        if isLenient {
          #expect(try again.get().leniency?.code == .repeated)
        } else {
          #expect(refusal(again) == .repeated)
        }
      }
      #expect(
        try verify(self.proof(identity), 0, 1799).get().leniency == nil, "a fresh one is as good as ever")
    }
  }

  @Test("a proof that was refused is not remembered")
  func refusedThenGood() throws {
    let proof = try proof(try identity(), at: Fixture.now.adding(seconds: 1000))
    let verifier = try DeviceIdentityVerifier(folder: Fixture.folder(), isLenient: false, now: Fixture.now)
    let verify = { (date: Int64) in
      verifier.verify(
        certificateDER: proof.certificate, nonce: proof.nonce, signature: proof.signature,
        now: Fixture.now.adding(seconds: date), at: Instant(nanoseconds: 0))
    }
    #expect(refusal(verify(0)) == .badClock)
    #expect(try verify(500).get().udid.text == "phone-1")
  }

  @Test("a certificate of the handshake is believed for itself, under the same rules")
  func handshake() throws {
    let verify = { (certificate: [UInt8], isLenient: Bool) in
      try DeviceIdentityVerifier(folder: Fixture.folder(), isLenient: isLenient, now: Fixture.now).verify(
        handshakeCertificateDER: certificate, now: Fixture.now)
    }
    let good = try identity()
    let device = try verify(good.certificateDER, false).get()
    #expect(device.udid.text == "phone-1" && device.leniency == nil)
    #expect(try device.keyFingerprint == self.verify(proof(good)).get().keyFingerprint, "the same identity")
    let foreign = try identity(by: TestCertificate.foreignCA()).certificateDER
    #expect(refusal(try verify(foreign, false)) == .unknownCA)
    #expect(try verify(foreign, true).get().leniency?.code == .unknownCA)
    let expired = try identity(validSeconds: -100...(-50)).certificateDER
    #expect(refusal(try verify(expired, false)) == .expired)
    let elliptic = try TestCertificate.made(commonName: "phone-1", uid: nil).certificate.der
    for certificate in [[], [0x30, 0], elliptic] as [[UInt8]] {
      #expect(refusal(try verify(certificate, true)) == .badCertificate)
    }
  }

  @Test("a signature of another kind is refused", arguments: ["", "01", "0102", "0001"])
  func badSignatureKind(_ prefix: String) throws {
    var proof = try proof(try identity())
    proof.signature.replaceSubrange(0..<2, with: try bytes(prefix))
    if prefix.count < 4 { proof.signature = try bytes(prefix) }
    #expect(refusal(try verify(proof)) == .badSignatureKind)
  }

  @Test("a changed nonce, signature or certificate does not fit, in lenient mode neither")
  func badSignature() throws {
    let good = try proof(try identity())
    var changedNonce = good
    changedNonce.nonce[16] ^= 1
    var changedSignature = good
    changedSignature.signature[100] ^= 1
    var short = good
    short.signature.removeLast()
    var otherKey = good
    otherKey.certificate = try identity().certificateDER
    for proof in [changedNonce, changedSignature, short, otherKey] {
      #expect(refusal(try verify(proof)) == .badSignature)
      #expect(refusal(try verify(proof, isLenient: true)) == .badSignature)
    }
  }

  @Test("in strict mode issuer, validity and clock are looked at before a signature is")
  func issuerFirst() throws {
    var foreign = try proof(try identity(by: TestCertificate.foreignCA()))
    foreign.signature[100] ^= 1
    #expect(refusal(try verify(foreign)) == .unknownCA)
    var expired = try proof(try identity(validSeconds: -100...(-50)))
    expired.signature[100] ^= 1
    #expect(refusal(try verify(expired)) == .expired)
    var late = try proof(try identity(), at: Fixture.now.adding(seconds: -901))
    late.signature[100] ^= 1
    #expect(refusal(try verify(late)) == .badClock)
    for proof in [foreign, expired, late] {
      #expect(refusal(try verify(proof, isLenient: true)) == .badSignature)
    }
  }

  @Test("SHA-256 in place of SHA-1 is refused")
  func otherHash() throws {
    let folder = try Fixture.folder()
    let issued = try folder.issueDeviceCertificate(udid: try udid("phone-4"), now: Fixture.now)
    let key = try #require(PrivateKey(pem: try contents(of: issued.key)))
    let certificate = try #require(Certificate.all(pem: try contents(of: issued.certificate)).first)
    let nonce = DeviceNonce.make(now: Fixture.now)
    let signature = [1, 1] + (try key.signature(over: nonce, hash: "SHA256"))
    let proof = Proof(certificate: certificate.der, nonce: nonce, signature: signature)
    #expect(refusal(try verify(proof)) == .badSignature)
  }

  @Test("a certificate of another authority is refused; lenient mode keeps the reason")
  func foreign() throws {
    let proof = try proof(try identity(by: TestCertificate.foreignCA()))
    #expect(refusal(try verify(proof)) == .unknownCA)
    let device = try verify(proof, isLenient: true).get()
    #expect(device.udid.text == "phone-1" && device.leniency?.code == .unknownCA)
  }

  @Test("a certificate out of its time is refused; lenient mode keeps the reason")
  func expired() throws {
    let proof = try proof(try identity(validSeconds: -100...(-50)))
    #expect(refusal(try verify(proof)) == .expired)
    #expect(try verify(proof, isLenient: true).get().leniency?.code == .expired)
  }

  @Test("in lenient mode a device without a usable name is called after its key")
  func nameless() throws {
    let proof = try proof(try identity("two words"))
    #expect(refusal(try verify(proof)) == .badCertificate)
    let device = try verify(proof, isLenient: true).get()
    let certificate = try #require(Certificate(der: proof.certificate))
    #expect(device.udid.text == Hex.encode(Digests.sha1(certificate.publicKeyInfo)))
    #expect(device.udid.text.utf8.count == 40)
  }

  @Test("an unfit certificate is refused before its signature is looked at")
  func unfit() throws {
    var proof = try proof(try identity())
    let certificate = proof.certificate
    for count in stride(from: 0, to: certificate.count, by: 7) {
      proof.certificate = Array(certificate.prefix(count))
      #expect(refusal(try verify(proof, isLenient: true)) == .badCertificate)
    }
    let elliptic = try TestCertificate.made(commonName: "phone-1", uid: nil)
    proof.certificate = elliptic.certificate.der
    #expect(refusal(try verify(proof, isLenient: true)) == .badCertificate)
    #expect(ERR_peek_error() == 0, "OpenSSL's error queue is left empty")
  }
}
