import COpenSSL

/// A key of a kind that has a private and a public half.
@safe public class AsymmetricKey {
  /// Owned; freed with this object, so take it only from an object that has a name. Nothing changes the key.
  package let handle: OpaquePointer

  /// Takes over one reference; nil for none.
  package init?(taking handle: OpaquePointer?) {
    guard let handle = unsafe handle else { return nil }
    unsafe self.handle = unsafe handle
  }

  /// Takes one reference more.
  init(sharing key: AsymmetricKey) {
    unsafe EVP_PKEY_up_ref(key.handle)
    unsafe handle = unsafe key.handle
  }

  deinit { unsafe EVP_PKEY_free(handle) }

  func isOfKind(_ name: String) -> Bool { unsafe EVP_PKEY_is_a(handle, name) == 1 }

  /// Whether this is an RSA key.
  package var isRSA: Bool { isOfKind("RSA") }

  /// Whether this is a key on P-256, the only curve of provider tokens.
  public var isP256: Bool {
    defer { OpenSSLError.clear() }
    var name = [CChar](repeating: 0, count: 32)
    var count = 0
    guard isOfKind("EC"), unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1 else {
      return false
    }
    return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      == SN_X9_62_prime256v1
  }
}

/// A public key out of a certificate or request.
public final class PublicKey: AsymmetricKey {
  /// The public half of `key`.
  public convenience init(of key: PrivateKey) {
    self.init(sharing: key)
  }

  /// Size of the modulus or field, in bits.
  public var bits: Int { unsafe Int(EVP_PKEY_get_bits(handle)) }

  /// Size of an RSA key's exponent, in bits; nil for other keys.
  private var exponentBits: Int? {
    defer { OpenSSLError.clear() }
    var exponent: OpaquePointer?
    guard isRSA, unsafe EVP_PKEY_get_bn_param(handle, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 else {
      return nil
    }
    defer { unsafe BN_free(exponent) }
    return unsafe Int(BN_num_bits(exponent))
  }

  /// Whether this is an RSA key whose modulus has so many bits, and whose use costs no more than its modulus says.
  func isRSA(ofBits modulus: ClosedRange<Int>) -> Bool {
    guard let exponentBits else { return false }
    return exponentBits <= StrangersKey.exponentBits && modulus.contains(bits)
  }

  /// Whether `signature` over `message` was made with the private half: PKCS#1 v1.5 for RSA, ASN.1 DER for ECDSA.
  func verifies(_ signature: [UInt8], over message: [UInt8], hash: String) -> Bool {
    defer { OpenSSLError.clear() }
    guard let context = unsafe Owned(EVP_MD_CTX_new(), EVP_MD_CTX_free) else { return false }
    return unsafe EVP_DigestVerifyInit_ex(context.handle, nil, hash, nil, nil, handle, nil) == 1
      && EVP_DigestVerify(context.handle, signature, signature.count, message, message.count) == 1
  }

  static func == (left: PublicKey, right: PublicKey) -> Bool {
    defer { OpenSSLError.clear() }
    return unsafe EVP_PKEY_eq(left.handle, right.handle) == 1
  }
}

/// Which keys of strangers are used at all (`Documentation/credentials.md#key-limits`): what a signature by a key costs to
/// verify is for its maker to choose, and is paid before anything is known of him.
enum StrangersKey {
  /// Longest RSA exponent, in bits: it is at most 2³². Each bit is one multiplication more, or two; nearly all keys have 65537, of 17
  /// bits. Measured, to verify a signature with a modulus of 2,048 bits: 20 µs for 65537, 41 µs for 32 bits, 1.8 ms for 2,046; with
  /// 3,072 bits: 38 µs, 88 µs, 6.2 ms.
  static let exponentBits = 32
  /// Size of an RSA modulus, in bits: phones had 1,024, and with the upper bound one use costs up to 0.6 ms.
  static let modulusBits = 1024...8192
  /// Size of the field of any other key, in bits: P-521 is the largest in use.
  static let fieldBits = 1...521
  private static let otherKinds = ["EC", "ED25519", "ED448"]

  static func isUsable(_ key: PublicKey) -> Bool {
    if key.isRSA(ofBits: modulusBits) { return true }
    return fieldBits.contains(key.bits) && otherKinds.contains { key.isOfKind($0) }
  }

  /// What is wanted, for error sentences.
  static let sentence =
    "an RSA key of \(modulusBits.lowerBound) to \(modulusBits.upperBound) bits with an exponent of at most \(exponentBits) bits, or a "
    + "key on a curve of at most \(fieldBits.upperBound) bits"
}
