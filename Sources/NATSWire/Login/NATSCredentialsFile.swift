import PushModel

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

  init(_ description: String) { self.description = description }
}
