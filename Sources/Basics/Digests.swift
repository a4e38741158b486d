import COpenSSL

/// Digests of single messages, where speed does not matter.
public enum Digests {
  public static func sha256(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    unsafe SHA256(message, message.count, &digest)
    return digest
  }

  /// For names and what others have made so; it protects nothing.
  public static func sha1(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
    unsafe SHA1(message, message.count, &digest)
    return digest
  }
}
