import COpenSSL

/// A public key out of a certificate or request.
package final class PublicKey {
  /// Owned; freed with this object, so take it only from an object that has a name.
  let handle: OpaquePointer

  /// Takes over one reference.
  init(owning handle: OpaquePointer) { self.handle = handle }

  /// The public half of `key`.
  package convenience init(of key: PrivateKey) {
    EVP_PKEY_up_ref(key.handle)
    self.init(owning: key.handle)
  }

  deinit { EVP_PKEY_free(handle) }

  /// Whether this is an RSA key.
  var isRSA: Bool { EVP_PKEY_is_a(handle, "RSA") == 1 }

  /// Size of the modulus or field, in bits.
  package var bits: Int { Int(EVP_PKEY_get_bits(handle)) }

  /// Whether `signature` over `message` was made with the private half: PKCS#1 v1.5 for RSA, ASN.1 DER for ECDSA.
  func verifies(_ signature: [UInt8], over message: [UInt8], hash: String) -> Bool {
    defer { OpenSSLError.clear() }
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    return EVP_DigestVerifyInit_ex(context, nil, hash, nil, nil, handle, nil) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  static func isP256(_ handle: OpaquePointer) -> Bool {
    defer { OpenSSLError.clear() }
    var name = [CChar](repeating: 0, count: 32)
    guard EVP_PKEY_is_a(handle, "EC") == 1, EVP_PKEY_get_group_name(handle, &name, name.count, nil) == 1
    else {
      return false
    }
    return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } == SN_X9_62_prime256v1
  }
}
