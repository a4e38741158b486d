import COpenSSL

/// A private key.
public final class PrivateKey: AsymmetricKey {
  /// Modulus of the RSA keys made here, in bits: what clients of twenty years accept.
  public static let rsaBits = 2048

  /// A new RSA key.
  public static func generateRSA(bits: Int = rsaBits) throws(CredentialsError) -> PrivateKey {
    guard let key = unsafe PrivateKey(taking: shim_generate_rsa(Int32(clamping: bits))) else {
      throw OpenSSLError.take("make an RSA key")
    }
    return key
  }

  /// A new key on P-256, the only curve of provider tokens (`Documentation/provider-api.md#provider-tokens`).
  public static func generateP256() throws(CredentialsError) -> PrivateKey {
    guard let key = unsafe PrivateKey(taking: shim_generate_p256()) else {
      throw OpenSSLError.take("make a P-256 key")
    }
    return key
  }

  /// The key on Ed25519 that a seed of 32 bytes stands for; nil for another count.
  public convenience init?(ed25519Seed seed: [UInt8]) {
    defer { OpenSSLError.clear() }
    unsafe self.init(taking: EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count))
  }

  /// The 32 bytes of the public key on Ed25519; nil for other keys.
  public var ed25519PublicKey: [UInt8]? {
    defer { OpenSSLError.clear() }
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    guard unsafe EVP_PKEY_get_raw_public_key(handle, &bytes, &count) == 1, count == bytes.count else {
      return nil
    }
    return bytes
  }

  /// Reads an unencrypted PEM key; nil for anything else.
  public convenience init?(pem: [UInt8]) {
    defer { OpenSSLError.clear() }
    // Without this callback OpenSSL would ask for the password of an encrypted key on the terminal.
    guard let buffer = MemoryBuffer(pem) else { return nil }
    unsafe self.init(taking: PEM_read_bio_PrivateKey(buffer.handle, nil, { _, _, _, _ in -1 }, nil))
  }

  /// Reads a PEM key that may be encrypted; nil for anything else, or with another password.
  public convenience init?(pem: [UInt8], password: String) {
    defer { OpenSSLError.clear() }
    guard let buffer = MemoryBuffer(pem) else { return nil }
    // Without a callback the last argument is the password, so that nobody is asked on the terminal.
    var password = Array(password.utf8CString)
    unsafe self.init(taking: PEM_read_bio_PrivateKey(buffer.handle, nil, nil, &password))
  }

  /// PKCS#8 PEM, unencrypted. Secret.
  public func pem() throws(CredentialsError) -> [UInt8] {
    guard let buffer = MemoryBuffer(),
      unsafe PEM_write_bio_PKCS8PrivateKey(buffer.handle, handle, nil, nil, 0, nil, nil) == 1
    else { throw OpenSSLError.take("write a key") }
    return buffer.contents
  }

  /// A signature over `message` with the given hash: PKCS#1 v1.5 for RSA, ASN.1 DER for ECDSA. Ed25519 takes none.
  public func signature(over message: [UInt8], hash: String?) throws(CredentialsError) -> [UInt8] {
    guard let context = unsafe Owned(EVP_MD_CTX_new(), EVP_MD_CTX_free) else {
      throw OpenSSLError.take("sign")
    }
    var signature = unsafe [UInt8](repeating: 0, count: max(0, Int(EVP_PKEY_get_size(handle))))
    var count = signature.count
    guard unsafe EVP_DigestSignInit_ex(context.handle, nil, hash, nil, nil, handle, nil) == 1,
      unsafe EVP_DigestSign(context.handle, &signature, &count, message, message.count) == 1
    else { throw OpenSSLError.take("sign") }
    signature.removeLast(signature.count - count)
    return signature
  }
}
