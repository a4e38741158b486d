import Basics
import COpenSSL
import Platform

/// An X.509 certificate.
@safe public final class Certificate {
  /// Largest certificate taken, in bytes of DER. Push certificates have about 1,500; hundreds of topics fit.
  package static let maximumByteCount = 65_536

  /// Owned; freed with this object, so take it only from an object that has a name.
  package let handle: OpaquePointer

  /// Takes over one reference; nil for none.
  package init?(taking handle: OpaquePointer?) {
    guard let handle = unsafe handle else { return nil }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe X509_free(handle) }

  /// Reads one DER certificate that fills `der` to the last byte; nil for anything else.
  public convenience init?(der: [UInt8]) {
    defer { OpenSSLError.clear() }
    guard !der.isEmpty, der.count <= Self.maximumByteCount else { return nil }
    let found = unsafe MemoryBuffer.decoded(der, d2i_X509)
    unsafe self.init(taking: found?.handle)
    guard unsafe found?.isWhole == true else { return nil }
  }

  /// Reads every certificate in a PEM text, in order; other blocks are passed over.
  public static func all(pem: [UInt8]) -> [Certificate] {
    defer { OpenSSLError.clear() }
    guard let buffer = MemoryBuffer(pem) else { return [] }
    var certificates: [Certificate] = []
    while let next = unsafe Certificate(taking: PEM_read_bio_X509(buffer.handle, nil, nil, nil)) {
      certificates.append(next)
    }
    return certificates
  }

  /// The whole certificate in DER.
  public var der: [UInt8] { unsafe MemoryBuffer.encoded { unsafe i2d_X509(handle, $0) } ?? [] }

  /// The whole certificate in PEM.
  public func pem() throws(CredentialsError) -> [UInt8] {
    guard let buffer = MemoryBuffer(), unsafe PEM_write_bio_X509(buffer.handle, handle) == 1 else {
      throw OpenSSLError.take("write a certificate")
    }
    return buffer.contents
  }

  /// The public key, or nil if its kind or parameters are unknown.
  public var publicKey: PublicKey? {
    defer { OpenSSLError.clear() }
    return unsafe PublicKey(taking: X509_get_pubkey(handle))
  }

  /// SubjectPublicKeyInfo in DER: what a key's fingerprint is taken of.
  public var publicKeyInfo: [UInt8] {
    unsafe MemoryBuffer.encoded { unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), $0) } ?? []
  }

  /// Whether `key` is the private half of this certificate's key.
  public func belongs(to key: PrivateKey) -> Bool {
    defer { OpenSSLError.clear() }
    return unsafe X509_check_private_key(handle, key.handle) == 1
  }

  /// Signs it, which nobody else has seen so far. False when OpenSSL refuses.
  func sign(with key: PrivateKey) -> Bool { unsafe X509_sign(handle, key.handle, EVP_sha256()) > 0 }

  /// The first subject attribute of a kind (`NID_…`), as text.
  package func subjectAttribute(_ kind: Int32) -> String? {
    unsafe Self.attribute(kind, of: X509_get_subject_name(handle))
  }

  /// The issuer's common name, or the empty string.
  package var issuerCommonName: String {
    unsafe Self.attribute(NID_commonName, of: X509_get_issuer_name(handle)) ?? ""
  }

  /// First moment of validity, or nil if the field is not a time.
  package var notBefore: Timestamp? { unsafe Self.timestamp(X509_get0_notBefore(handle)) }

  /// Last moment of validity, or nil if the field is not a time.
  package var notAfter: Timestamp? { unsafe Self.timestamp(X509_get0_notAfter(handle)) }

  /// The value of the first extension of a kind, by its object identifier or OpenSSL's word for it.
  package func extensionValue(_ identifier: String) -> [UInt8]? {
    defer { OpenSSLError.clear() }
    guard let object = unsafe Owned(OBJ_txt2obj(identifier, 0), ASN1_OBJECT_free),
      let found = unsafe X509_get_ext(handle, X509_get_ext_by_OBJ(handle, object.handle, -1))
    else { return nil }
    return unsafe Self.bytes(X509_EXTENSION_get_data(found))
  }

  static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    unsafe Array(
      UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
  }

  private static func attribute(_ kind: Int32, of name: OpaquePointer?) -> String? {
    defer { OpenSSLError.clear() }
    let index = unsafe X509_NAME_get_index_by_NID(name, kind, -1)
    guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { return nil }
    var text: UnsafeMutablePointer<UInt8>?
    let count = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
    guard count >= 0, let text = unsafe Owned(text, { unsafe shim_free($0) }) else { return nil }
    return unsafe String(decoding: UnsafeBufferPointer(start: text.handle, count: Int(count)), as: UTF8.self)
  }

  private static func timestamp(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp? {
    defer { OpenSSLError.clear() }
    var (days, seconds): (Int32, Int32) = (0, 0)
    guard let epoch = unsafe Owned(ASN1_TIME_set(nil, 0), ASN1_TIME_free), let time = unsafe time,
      unsafe ASN1_TIME_diff(&days, &seconds, epoch.handle, time) == 1
    else { return nil }
    return Timestamp(seconds: Int64(days) * 86_400 + Int64(seconds))
  }
}
