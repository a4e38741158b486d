import Basics

/// What a credentials file holds (docs.nats.io, "User credentials"): the user's JWT, and the seed of the key that proves that we
/// are this user. Or the seed alone, for servers that know their users by their keys.
///
///     -----BEGIN NATS USER JWT-----
///     eyJ0eXAi…
///     ------END NATS USER JWT------
///     -----BEGIN USER NKEY SEED-----
///     SUAM…
///     ------END USER NKEY SEED------
public struct NATSCredentialsFile: Equatable, Sendable, CustomStringConvertible {
  /// Nil where the server knows the key.
  public var jwt: String?
  /// Of Ed25519, 32 bytes. Secret.
  public var seed: [UInt8]

  /// Names nothing of what it holds.
  public var description: String { jwt == nil ? "a key of NATS" : "credentials of NATS" }

  public init(text: String) throws(NATSCredentialsProblem) {
    let parts = Self.parts(of: text)
    jwt = parts.jwt
    guard let text = parts.seed else {
      throw NATSCredentialsProblem("it has no seed (a line that begins with SU)")
    }
    guard let seed = NATSKeyText.seed(ofUser: text) else {
      throw NATSCredentialsProblem(
        "its seed is none of a user's key: 58 letters and digits that begin with SU")
    }
    self.seed = seed
  }

  /// What stands between lines of hyphens, or the lines themselves where there are none.
  private static func parts(of text: String) -> (jwt: String?, seed: String?) {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
    // Between the two blocks there are words for people, and a line of stars.
    let isDecorated = lines.contains { $0.hasPrefix("---") }
    var parts: (jwt: String?, seed: String?) = (nil, nil)
    for (index, line) in lines.enumerated() {
      guard !isDecorated || index > 0 && lines[index - 1].hasPrefix("---") else { continue }
      if line.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
        parts.jwt = parts.jwt ?? line
      } else if line.hasPrefix("S") {
        parts.seed = parts.seed ?? line
      }
    }
    return parts
  }

  /// What is shown to a server. `publicKey` and `signature` of the server's nonce are Ed25519's, by the seed.
  public func credentials(publicKey: [UInt8], signature: [UInt8]) -> NATSCredentials {
    let signature = Base64.encodeForURL(signature)
    if let jwt { return .signed(jwt: jwt, signature: signature) }
    return .key(NATSKeyText.user(publicKey), signature: signature)
  }
}

/// Why a credentials file is none. Says nothing of what is in it.
public struct NATSCredentialsProblem: Error, Equatable, Sendable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// Keys as NATS spells them ("NKeys"): Base32 (RFC 4648 6) without padding of a prefix of one byte, or two before a seed, the 32
/// bytes of Ed25519, and a CRC-16 of all that, its low byte first. The prefix makes the first letter: U for a user, S for a seed.
public enum NATSKeyText {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
  /// `U` as the first letter.
  private static let userPrefix: UInt8 = 20 << 3
  /// `S` as the first letter; three bits of whose seed it is share its byte.
  private static let seedPrefix: UInt8 = 18 << 3
  private static let keyBytes = 32

  /// The public key of a user.
  public static func user(_ publicKey: [UInt8]) -> String { text([userPrefix] + publicKey) }

  /// Bytes with their prefix, as they are spelled.
  public static func text(_ bytes: [UInt8]) -> String { base32(bytes + checksum(bytes)) }

  /// The 32 bytes of a user's seed; nil for anything else.
  public static func seed(ofUser text: String) -> [UInt8]? {
    guard let bytes = decode(text), bytes.count == 2 + keyBytes + 2 else { return nil }
    let checked = bytes.dropLast(2)
    guard Array(bytes.suffix(2)) == checksum(Array(checked)), bytes[0] & 0xf8 == seedPrefix,
      (bytes[0] & 7) << 5 | bytes[1] >> 3 == userPrefix
    else { return nil }
    return Array(checked.dropFirst(2))
  }

  /// CRC-16 with the polynomial 0x1021 from 0 on (XMODEM's), low byte first.
  private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    var sum: UInt16 = 0
    for byte in bytes {
      sum ^= UInt16(byte) << 8
      for _ in 0..<8 { sum = sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1 }
    }
    return [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
  }

  private static func base32(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (held, bits): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      (held, bits) = ((held << 8 | UInt32(byte)) & 0xfff, bits + 8)
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int(held >> bits & 31)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(held << (5 - bits) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (held, bits): (UInt32, UInt32) = (0, 0)
    for character in text.utf8 {
      guard let digit = alphabet.firstIndex(of: character) else { return nil }
      (held, bits) = ((held << 5 | UInt32(digit)) & 0xfff, bits + 5)
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: held >> bits))
    }
    return bytes
  }
}
