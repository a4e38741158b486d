import COpenSSL

/// SHA-1 with its working memory, kept between calls because fetching an algorithm costs more than a short hash.
final class SHA1Hasher {
  /// Length of a SHA-1 digest, in bytes.
  static let byteCount = Int(SHA_DIGEST_LENGTH)

  /// Owned; freed with this object.
  private let algorithm: OpaquePointer
  private let context: OpaquePointer

  init() throws(CredentialsError) {
    guard let algorithm = EVP_MD_fetch(nil, "SHA1", nil) else { throw OpenSSLError.take("find SHA-1") }
    guard let context = EVP_MD_CTX_new() else {
      EVP_MD_free(algorithm)
      throw OpenSSLError.take("prepare SHA-1")
    }
    self.algorithm = algorithm
    self.context = context
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_free(algorithm)
  }

  /// Lends the 20 bytes of the digest of `message`.
  func withDigest<Result>(of message: UnsafeRawBufferPointer, _ body: (UnsafeRawPointer) -> Result) -> Result
  {
    var digest: (UInt64, UInt64, UInt32) = (0, 0, 0)
    return withUnsafeMutablePointer(to: &digest) { storage in
      let output = UnsafeMutableRawPointer(storage)
      var count: UInt32 = 0
      let succeeded =
        EVP_DigestInit_ex2(context, algorithm, nil) == 1
        && EVP_DigestUpdate(context, message.baseAddress, message.count) == 1
        && EVP_DigestFinal_ex(context, output.assumingMemoryBound(to: UInt8.self), &count) == 1
      // Hashing memory can't fail once the algorithm is there; a short answer would be our mistake.
      precondition(succeeded && Int(count) == Self.byteCount)
      return body(output)
    }
  }
}
