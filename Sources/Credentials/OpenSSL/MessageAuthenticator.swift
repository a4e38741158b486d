import COpenSSL

/// HMAC-SHA256 under one key, with its working memory kept between calls.
@safe public final class MessageAuthenticator {
  public static let byteCount = 32

  /// Owned; freed with this object.
  private let context: OpaquePointer

  public init(key: [UInt8]) throws(CredentialsError) {
    guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { throw OpenSSLError.take("find HMAC") }
    // The context keeps its own reference to the algorithm.
    defer { EVP_MAC_free(algorithm) }
    guard let context = EVP_MAC_CTX_new(algorithm) else { throw OpenSSLError.take("prepare HMAC") }
    guard Self.start(context, key: key) else {
      EVP_MAC_CTX_free(context)
      throw OpenSSLError.take("prepare HMAC")
    }
    self.context = context
  }

  deinit { EVP_MAC_CTX_free(context) }

  /// The code over `message`.
  public func code(over message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Self.byteCount)
    var count = 0
    // No key: begins again with the one it has.
    let succeeded =
      EVP_MAC_init(context, nil, 0, nil) == 1 && EVP_MAC_update(context, message, message.count) == 1
      && EVP_MAC_final(context, &code, &count, code.count) == 1
    // Hashing memory can't fail once the key is set; a short answer would be our mistake.
    precondition(succeeded && count == Self.byteCount)
    return code
  }

  /// Whether `code` is that over `message`, in a time that does not tell where they differ first.
  public func verifies(_ code: [UInt8], over message: [UInt8]) -> Bool {
    let right = self.code(over: message)
    return code.count == right.count && CRYPTO_memcmp(code, right, right.count) == 0
  }

  private static func start(_ context: OpaquePointer, key: [UInt8]) -> Bool {
    // The parameter holds pointers to both names, so both must live until it was used.
    let parameter = Array(OSSL_MAC_PARAM_DIGEST.utf8CString)
    var digest = Array("SHA256".utf8CString)
    return parameter.withUnsafeBufferPointer { parameter in
      digest.withUnsafeMutableBufferPointer { digest in
        var parameters = [
          OSSL_PARAM_construct_utf8_string(parameter.baseAddress, digest.baseAddress, 0),
          OSSL_PARAM_construct_end(),
        ]
        return EVP_MAC_init(context, key, key.count, &parameters) == 1
      }
    }
  }
}
