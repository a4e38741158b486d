import PushModel

/// Makes provider tokens, as a provider does (`Documentation/provider-api.md#provider-tokens`).
public final class ProviderTokenSigner {
  private let key: PrivateKey
  private let keyId: String
  private let teamId: String

  /// Reads a `.p8` file.
  public init(p8Path: String, keyId: String, teamId: String) throws(CredentialsError) {
    guard let key = PrivateKey(pem: try FileSystem.read(p8Path)), key.isP256 else {
      throw CredentialsError(.malformed, "\(p8Path) is not a P-256 key in PKCS#8 PEM")
    }
    self.key = key
    self.keyId = keyId
    self.teamId = teamId
  }

  /// A token issued at a moment, in compact form with a raw signature. Good for an hour.
  public func token(at now: Timestamp) throws(CredentialsError) -> String {
    let header: JSONValue = ["alg": "ES256", "kid": .string(keyId)]
    let claims: JSONValue = ["iss": .string(teamId), "iat": .integer(now.seconds)]
    let message = Base64.encodeForURL(header.encoded) + "." + Base64.encodeForURL(claims.encoded)
    let der = try key.signature(over: Array(message.utf8), hash: "SHA256")
    guard let signature = ECDSASignature.raw(from: der) else {
      throw CredentialsError(.cryptography, "OpenSSL made an unreadable signature")
    }
    return message + "." + Base64.encodeForURL(signature)
  }
}
