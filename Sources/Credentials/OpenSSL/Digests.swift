import COpenSSL

/// Hashes of single messages, where speed does not matter.
enum Digests {
  static func sha256(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(message, message.count, &digest)
    return digest
  }

  static func sha1(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
    SHA1(message, message.count, &digest)
    return digest
  }
}
