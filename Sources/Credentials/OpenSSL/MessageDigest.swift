import COpenSSL

/// A hash function with its working memory, kept between calls because fetching one costs more than a short hash.
final class MessageDigest {
  /// Owned; freed with this object.
  private let algorithm: OpaquePointer
  private let context: OpaquePointer
  /// Length of a digest, in bytes.
  let byteCount: Int

  static func sha1() throws(CredentialsError) -> MessageDigest { try MessageDigest("SHA1") }
  static func sha256() throws(CredentialsError) -> MessageDigest { try MessageDigest("SHA256") }

  private init(_ name: String) throws(CredentialsError) {
    guard let algorithm = EVP_MD_fetch(nil, name, nil) else { throw OpenSSLError.take("find \(name)") }
    guard let context = EVP_MD_CTX_new() else {
      EVP_MD_free(algorithm)
      throw OpenSSLError.take("prepare \(name)")
    }
    self.algorithm = algorithm
    self.context = context
    byteCount = Int(EVP_MD_get_size(algorithm))
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_free(algorithm)
  }

  /// The digest of `bytes`.
  func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      var written: UInt32 = 0
      let succeeded =
        EVP_DigestInit_ex2(context, algorithm, nil) == 1
        && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
        && EVP_DigestFinal_ex(context, buffer.baseAddress, &written) == 1
      // Hashing memory can't fail once the algorithm is there; a short answer would be our mistake.
      precondition(succeeded && Int(written) == byteCount)
      count = byteCount
    }
  }

  /// The digest of `bytes`.
  func digest(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { digest($0) } }
}
