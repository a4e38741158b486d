import Basics
import Platform

/// The 32 bytes under which all tokens are made (`Documentation/credentials.md#device-tokens`). Not shown in
/// any description.
public struct TokenSecret {
  /// Length, in bytes.
  static let byteCount = 32
  /// Name of the file in the data directory.
  public static let fileName = "token.secret"
  /// Keeps the hash of a seed apart from any other use of the same text.
  private static let seedDomain = "apns-emulator token seed 1\0"

  public let bytes: [UInt8]

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// From `--token-seed`: the same text makes the same tokens on every machine.
  public init(seed: String) {
    bytes = Digests.sha256(Array(Self.seedDomain.utf8) + Array(seed.utf8))
  }

  /// A new one, gone with the process.
  public static func random() -> TokenSecret { TokenSecret(bytes: .random(byteCount)) }

  /// The one kept in a data directory as 64 hexadecimal digits; made on first use.
  public static func kept(inFolder folder: String) throws(CredentialsError) -> TokenSecret {
    let path = "\(folder)/\(fileName)"
    let lock = try FolderLock(folder)
    defer { lock.release() }
    guard PathCalls.exists(path) else {
      let secret = random()
      let text = Array((Hex.encode(secret.bytes) + "\n").utf8)
      try FileSystem.write(text, to: path, permissions: FileSystem.secretFile)
      return secret
    }
    let digits = try FileSystem.read(path).filter { $0 > 0x20 }
    guard let bytes = Hex.decode(digits: digits), bytes.count == byteCount else {
      throw CredentialsError(.malformed, "\(path) does not hold \(byteCount) bytes in hexadecimal")
    }
    return TokenSecret(bytes: bytes)
  }
}

extension TokenSecret: CustomStringConvertible, CustomReflectable {
  public var description: String { "token secret" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
