import Basics
import COpenSSL
import TestSupport
import Testing

import Credentials

/// `Documentation/credentials.md#key-limits`
@Suite("Keys of strangers")
struct StrangersKeyTests {
  private func refused(_ body: () throws -> [UInt8]) -> CredentialsError? {
    #expect(throws: CredentialsError.self) { try body() }
  }

  @Test("a request for a key with an exponent above 2³² is refused before the key is used")
  func requests() throws {
    let request = try TestKey(exponent: TestKey.longExponent).request
    let folder = try Fixture.folder()
    let errors = [
      refused { try folder.signDeviceRequest(csrPEM: request, udid: udid("phone-1"), now: Fixture.now) },
      refused {
        try folder.signPushRequest(
          csrPEM: request, topics: [topic("com.example.app")], environments: .both, now: Fixture.now)
      },
    ]
    for error in errors {
      #expect(error?.code == .unsuitable)
      #expect(error?.message.contains("an exponent of at most 32 bits") == true)
    }
  }

  @Test("exponents that programs use are taken", arguments: [3, 65537, 0xffff_fff1])
  func usual(_ exponent: UInt) throws {
    let request = try TestKey(exponent: exponent).request
    let pem = try Fixture.folder().signDeviceRequest(
      csrPEM: request, udid: udid("phone-1"), now: Fixture.now)
    #expect(Certificate.all(pem: pem).count == 1)
  }

  @Test("a modulus that is too long to be used for anybody is refused")
  func longModulus() throws {
    // Only the key of the request is looked at: its signature is never verified.
    let request = try TestKey(exponent: 3, bits: 4104, primes: 4).request
    let error = refused {
      try Fixture.folder().signDeviceRequest(csrPEM: request, udid: udid("phone-1"), now: Fixture.now)
    }
    #expect(error?.code == .unsuitable && error?.message.contains("1024 to 4096 bits") == true)
  }

  @Test("a certificate with such a key is accepted of nobody, in lenient mode neither, whoever has signed it")
  func certificates() throws {
    let key = try TestKey(exponent: TestKey.longExponent).key
    let pair = try TestCertificate.made(
      commonName: "Apple Push Services: com.example.app", uid: "com.example.app", key: key)
    for isLenient in [false, true] {
      let trust = try ProviderTrust(folder: Fixture.folder(), isLenient: isLenient, now: Fixture.now)
      let verdict = trust.verifyChain(
        leafDER: pair.certificate.der, intermediatesDER: [], at: Fixture.now)
      #expect(!verdict.isAccepted && verdict.problem?.code == .unfitKey)
      #expect(verdict.verificationError == X509_V_ERR_CERT_REJECTED)
    }
    #expect(DeviceIdentityVerifier.handshakeError(pair.certificate.der) == X509_V_ERR_CERT_REJECTED)
    let usual = try TestCertificate.issued(environments: .both)
    #expect(DeviceIdentityVerifier.handshakeError(usual.certificate.der) == nil)
  }

  @Test("a device with such a key is refused before its signature is looked at")
  func device() throws {
    let ca = try Fixture.folder().loadedDeviceCA(now: Fixture.now)
    let pair = try TestCertificate.made(
      commonName: "phone-1", uid: nil, by: ca, key: TestKey(exponent: TestKey.longExponent).key)
    let identity = try DeviceIdentity(certificatePEM: pair.certificate.pem(), keyPEM: pair.key.pem())
    let nonce = DeviceNonce.make(now: Fixture.now)
    let verifier = try DeviceIdentityVerifier(folder: Fixture.folder(), isLenient: true, now: Fixture.now)
    let result = verifier.verify(
      certificateDER: identity.certificateDER, nonce: nonce, signature: try identity.sign(nonce: nonce),
      now: Fixture.now, at: Instant(nanoseconds: 0))
    let refusal = #expect(throws: DeviceRefusal.self) { try result.get() }
    #expect(refusal?.code == .badCertificate)
  }
}
