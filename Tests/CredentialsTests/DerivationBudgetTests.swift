import Basics
import COpenSSL
import Foundation
import Testing

import Credentials

/// Files whose key derivation would take hours. Each is made with 65,536 rounds, and then says more in as many bytes.
@Suite("Rounds of a key derivation")
struct DerivationBudgetTests {
  private static let rounds: Int32 = 0x01_0000
  private static let written: [UInt8] = [0x02, 0x03, 0x01, 0x00, 0x00]
  /// 8,388,607.
  private static let tooMany: [UInt8] = [0x02, 0x03, 0x7f, 0xff, 0xff]
  /// 1,000,000: as many as are allowed.
  private static let most: [UInt8] = [0x02, 0x03, 0x0f, 0x42, 0x40]
  private static let password = "secret"

  private func bundle(_ cipher: Int32) throws -> [UInt8] {
    let pair = try TestCertificate.issued(environments: .both)
    let key = try handle(pair.key.pem())
    defer { EVP_PKEY_free(key) }
    let certificate = try pair.certificate.pem().withUnsafeBytes { bytes in
      let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
      defer { BIO_free(buffer) }
      return try #require(PEM_read_bio_X509(buffer, nil, nil, nil))
    }
    defer { X509_free(certificate) }
    // Not within the macro, which would let go of the words before the call.
    let made = PKCS12_create(Self.password, "push", key, certificate, nil, cipher, cipher, Self.rounds, -1, 0)
    let file = try #require(made)
    defer { PKCS12_free(file) }
    return try coded(file, rounds: Self.rounds)
  }

  private func handle(_ pem: [UInt8]) throws -> OpaquePointer {
    try pem.withUnsafeBytes { bytes in
      let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
      defer { BIO_free(buffer) }
      return try #require(PEM_read_bio_PrivateKey(buffer, nil, nil, nil))
    }
  }

  private func coded(_ file: OpaquePointer, rounds: Int32) throws -> [UInt8] {
    try #require(
      PKCS12_set_mac(file, Self.password, Int32(Self.password.utf8.count), nil, 0, rounds, EVP_sha1()) == 1)
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_PKCS12(file, &start)
    defer { shim_free(start) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }

  /// The same file with a code that fits again, which costs a reader one round.
  private func recoded(_ bytes: [UInt8]) throws -> [UInt8] {
    var cursor: UnsafePointer<UInt8>?
    let file = bytes.withUnsafeBufferPointer { buffer in
      cursor = buffer.baseAddress
      return d2i_PKCS12(nil, &cursor, buffer.count)
    }
    defer { PKCS12_free(file) }
    return try coded(#require(file), rounds: 1)
  }

  private func places(_ bytes: [UInt8]) -> [Int] {
    bytes.indices.filter { bytes[$0...].starts(with: Self.written) }
  }

  private func read(_ bytes: [UInt8]) throws(CredentialsError) -> PushIdentity {
    try PushIdentity(bytes, named: "push.p12", password: Self.password)
  }

  private func expectTooMany(_ bytes: [UInt8]) {
    let error = #expect(throws: CredentialsError.self) { try read(bytes) }
    #expect(error?.code == .unsuitable)
    #expect(error?.message.contains("expected at most 1000000 rounds") == true)
  }

  @Test(
    "a PKCS#12 file that wants more than a million is refused, wherever it says so",
    arguments: [NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_aes_256_cbc])
  func bundles(_ cipher: Int32) throws {
    let bytes = try bundle(cipher)
    #expect(try read(bytes).certificatesDER.count == 1)
    let places = places(bytes)
    try #require(places.count == 3, "the certificate's, the key's, the code's")
    for place in places {
      var changed = bytes
      changed.replaceSubrange(place..<place + 5, with: Self.tooMany)
      if place != places.last { changed = try recoded(changed) }
      expectTooMany(changed)
    }
  }

  // MARK: Bags

  private func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.flatMap { $0 }
    return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)] + content
  }

  /// Of type data (RFC 2315, 8).
  private func data(_ content: [UInt8]) -> [UInt8] {
    let type: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
    return der(0x30, type, der(0xa0, der(0x04, content)))
  }

  /// A bag (RFC 7292, 4.2) of the last number of its type.
  private func bag(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
    let type: [UInt8] = [0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, number]
    return der(0x30, type, der(0xa0, value))
  }

  /// A file with a certificate and its key in bags that lie so deep.
  private func nested(_ depth: Int) throws -> [UInt8] {
    let x509: [UInt8] = [0x06, 0x0a, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01]
    let pair = try TestCertificate.issued(environments: .both)
    let lines = String(decoding: try pair.key.pem(), as: UTF8.self).split(separator: "\n")
    let key = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
    let certificate = der(0x30, x509, der(0xa0, der(0x04, pair.certificate.der)))
    var bags = der(0x30, bag(3, certificate), bag(1, Array(key)))
    for _ in 1..<depth { bags = der(0x30, bag(6, bags)) }
    return try recoded(der(0x30, [0x02, 0x01, 0x03], data(der(0x30, data(bags)))))
  }

  @Test("bags may lie four deep, and no deeper")
  func deepBags() throws {
    #expect(try read(nested(4)).certificatesDER.count == 1)
    let error = #expect(throws: CredentialsError.self) { try read(nested(5)) }
    #expect(error?.message.contains("expected bags at most 4 deep") == true)
  }

  private func encryptedKey(_ make: (OpaquePointer) throws -> OpaquePointer?) throws -> [UInt8] {
    let key = try handle(try PrivateKey.generateP256().pem())
    defer { EVP_PKEY_free(key) }
    let clear = try #require(EVP_PKEY2PKCS8(key))
    defer { PKCS8_PRIV_KEY_INFO_free(clear) }
    let secret = try #require(try make(clear))
    defer { X509_SIG_free(secret) }
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509_SIG(secret, &start)
    defer { shim_free(start) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }

  private func pem(_ der: [UInt8]) -> String {
    let name = "ENCRYPTED PRIVATE" + " KEY"
    let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(name)-----\n\(text)\n-----END \(name)-----\n"
  }

  /// Whether a file with a certificate and its key in clear may have more behind it, which nobody deciphers.
  private func isTaken(_ more: String) throws -> Bool {
    let pair = try TestCertificate.issued(environments: .both)
    do throws(CredentialsError) {
      return try read(pair.certificate.pem() + pair.key.pem() + Array(more.utf8)).certificatesDER.count == 1
    } catch {
      #expect(error.code == .unsuitable)
      return false
    }
  }

  @Test("so is a key in PEM, and one of several that want too much together")
  func keys() throws {
    let der = try encryptedKey {
      PKCS8_encrypt(
        -1, EVP_aes_256_cbc(), Self.password, Int32(Self.password.utf8.count), nil, 0, Self.rounds, $0)
    }
    let place = try #require(places(der).first)
    var (tooMany, most) = (der, der)
    tooMany.replaceSubrange(place..<place + 5, with: Self.tooMany)
    most.replaceSubrange(place..<place + 5, with: Self.most)
    expectTooMany(Array(pem(tooMany).utf8))
    expectTooMany(Array((pem(der) + pem(tooMany)).utf8))
    expectTooMany(Array(String(repeating: pem(most), count: 5).utf8))
    #expect(try isTaken(String(repeating: pem(most), count: 4)), "four million")
    let error = #expect(throws: CredentialsError.self) { try read(Array(pem(der).utf8)) }
    #expect(error?.code == .malformed, "it holds no certificate")
  }

  @Test("scrypt is counted by what it does")
  func scrypt() throws {
    let der = try encryptedKey { clear in
      let algorithm = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nil, 0, nil, 16_384, 8, 1)
      return PKCS8_set0_pbe(Self.password, Int32(Self.password.utf8.count), clear, algorithm)
    }
    let lanes: [UInt8] = [0x02, 0x01, 0x08, 0x02, 0x01, 0x01]
    let place = try #require(der.indices.first { der[$0...].starts(with: lanes) })
    var changed = der
    changed[place + 5] = 0x7f
    let error = #expect(throws: CredentialsError.self) { try read(Array(pem(changed).utf8)) }
    #expect(error?.code == .unsuitable && error?.message.contains("scrypt") == true)
    // 16,384 × 8 × 16 is 2²¹, as much as is allowed; ff is a number below zero.
    for (count, expected) in [(0, true), (0x10, true), (0x11, false), (0xff, false)] as [(UInt8, Bool)] {
      changed[place + 5] = count
      #expect(try isTaken(pem(changed)) == expected, "\(count)")
    }
  }
}
