import COpenSSL

/// HMAC-SHA256 under one key, with its working memory kept between calls.
@safe public final class MessageAuthenticator {
  public static let byteCount = 32

  private let context: Owned<OpaquePointer>

  public init(key: [UInt8]) throws(CredentialsError) {
    // The context keeps its own reference to the algorithm.
    guard let algorithm = unsafe Owned(EVP_MAC_fetch(nil, "HMAC", nil), EVP_MAC_free) else {
      throw OpenSSLError.take("find HMAC")
    }
    guard let context = unsafe Owned(EVP_MAC_CTX_new(algorithm.handle), EVP_MAC_CTX_free),
      unsafe Self.start(context.handle, key: key)
    else { throw OpenSSLError.take("prepare HMAC") }
    unsafe self.context = unsafe context
  }

  /// The code over `message`.
  public func code(over message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Self.byteCount)
    var count = 0
    // No key: begins again with the one it has.
    let succeeded =
      unsafe EVP_MAC_init(context.handle, nil, 0, nil) == 1
      && EVP_MAC_update(context.handle, message, message.count) == 1
      && EVP_MAC_final(context.handle, &code, &count, code.count) == 1
    // Hashing memory can't fail once the key is set; a short answer would be our mistake.
    precondition(succeeded && count == Self.byteCount)
    return code
  }

  /// Whether `code` is that over `message`, in a time that does not tell where they differ first.
  public func verifies(_ code: [UInt8], over message: [UInt8]) -> Bool {
    let right = self.code(over: message)
    return unsafe code.count == right.count && CRYPTO_memcmp(code, right, right.count) == 0
  }

  private static func start(_ context: OpaquePointer, key: [UInt8]) -> Bool {
    // The parameter holds pointers to both names, so both must live until it was used.
    let parameter = Array(OSSL_MAC_PARAM_DIGEST.utf8CString)
    var digest = Array("SHA256".utf8CString)
    return unsafe parameter.withUnsafeBufferPointer { parameter in
      unsafe digest.withUnsafeMutableBufferPointer { digest in
        var parameters = unsafe [
          OSSL_PARAM_construct_utf8_string(parameter.baseAddress, digest.baseAddress, 0),
          OSSL_PARAM_construct_end(),
        ]
        return unsafe EVP_MAC_init(context, key, key.count, &parameters) == 1
      }
    }
  }
}
