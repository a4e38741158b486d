import COpenSSL

/// Certificate and key in one file, as developers export them from a keychain.
enum PKCS12 {
  /// Rounds of key derivation. The password is empty, so they protect nothing; 2048 is what readers expect.
  private static let iterations: Int32 = 2048

  /// A PKCS#12 file with an empty password.
  ///
  /// Triple DES and a SHA-1 MAC are all that readers from before about 2018 understand, and OpenSSL 3 reads them
  /// without its legacy provider.
  static func encode(_ certificate: Certificate, key: PrivateKey, name: String) throws(CredentialsError)
    -> [UInt8]
  {
    let cipher = NID_pbe_WithSHA1And3_Key_TripleDES_CBC
    // -1 leaves the MAC out; the default one would be SHA-256.
    guard
      let file = PKCS12_create(
        "", name, key.handle, certificate.handle, nil, cipher, cipher, iterations, -1, 0)
    else { throw OpenSSLError.take("make a PKCS#12 file") }
    defer { PKCS12_free(file) }
    guard PKCS12_set_mac(file, "", 0, nil, 0, iterations, EVP_sha1()) == 1,
      let bytes = MemoryBuffer.encoded({ i2d_PKCS12(file, $0) })
    else { throw OpenSSLError.take("write a PKCS#12 file") }
    return bytes
  }
}
