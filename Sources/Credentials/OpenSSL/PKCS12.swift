import COpenSSL

/// Certificate and key in one file, as developers export them from a keychain.
enum PKCS12 {
  /// Rounds of key derivation. The password is mostly empty, so they protect nothing; 2048 is what readers expect.
  private static let iterations: Int32 = 2048

  /// Longest password, in bytes.
  static let longestPassword = 255

  /// A PKCS#12 file, with an empty password unless one is given.
  ///
  /// Triple DES and a SHA-1 MAC are all that readers from before about 2018 understand, and OpenSSL 3 reads them
  /// without its legacy provider.
  static func encode(
    _ certificate: Certificate, above others: [Certificate] = [], key: PrivateKey, name: String,
    password: String = ""
  ) throws(CredentialsError) -> [UInt8] {
    let cipher = NID_pbe_WithSHA1And3_Key_TripleDES_CBC
    // -1 leaves the MAC out; the default one would be SHA-256.
    guard let chain = CertificateStack(others),
      let file = unsafe Owned(
        PKCS12_create(
          password, name, key.handle, certificate.handle, chain.handle, cipher, cipher, iterations, -1, 0),
        PKCS12_free)
    else { throw OpenSSLError.take("make a PKCS#12 file") }
    guard
      unsafe PKCS12_set_mac(
        file.handle, password, Int32(password.utf8.count), nil, 0, iterations, EVP_sha1()) == 1,
      let bytes = unsafe MemoryBuffer.encoded({ unsafe i2d_PKCS12(file.handle, $0) })
    else { throw OpenSSLError.take("write a PKCS#12 file") }
    return bytes
  }

  /// What is in such a file; nil if it is none. Throws for one that would cost more than `DerivationBudget` allows.
  static func decode(
    _ bytes: [UInt8], password: String, file: String
  ) throws(CredentialsError) -> (key: PrivateKey?, certificates: [Certificate])? {
    defer { OpenSSLError.clear() }
    guard let bundle = PKCS12Bundle(bytes) else { return nil }
    var reader = PKCS12Reader(password: password, file: file)
    try reader.read(bundle)
    return (reader.key, reader.certificates)
  }
}
