import PushModel

/// What providers prove themselves with, as the console sees it: what was issued, and issuing more. Private keys come here once,
/// when they are made for somebody who asks. Implemented by module `Emulator`.
public protocol CredentialIssuer: AnyObject {
  /// The certificate of our CA, in PEM, and the same as a Java trust store.
  func ca() throws -> [UInt8]
  func javaTrustStore() throws -> [UInt8]
  /// Makes and answers late, on the loop. False if too many wait.
  func make(_ order: CertificateOrder, then: @escaping (Result<MadeCertificate, any Error>) -> Void) -> Bool
  func make(_ order: KeyOrder, then: @escaping (Result<MadeKey, any Error>) -> Void) -> Bool
  /// Refuses it from now on; answers late, on the loop. False if too many wait.
  func revoke(_ item: RevokedCredential, then: @escaping (Result<Void, any Error>) -> Void) -> Bool
  /// Push certificates that were issued, by the topic that each is named after. To be read one by one, as each is a file: nil stands
  /// for one that is none.
  func listedCertificates() -> AnyIterator<IssuedCertificate?>
  /// The same of token keys that can be used, and of those that were revoked.
  func listedKeys() -> AnyIterator<IssuedKey?>
  /// Whether there is a token key of that id.
  func hasKey(_ id: String) -> Bool
  /// Makes it before it returns, for as long as that takes: before anybody is served.
  func issue(_ credential: SavedCredential) throws
  /// Makes it beside the loop, and answers late, on the loop. False if too many wait.
  func issue(_ credential: SavedCredential, then: @escaping (Result<Void, any Error>) -> Void) -> Bool
}

/// What a saved state wants issued.
public enum SavedCredential: Equatable, Sendable {
  case certificate(SavedCertificate)
  case key(SavedKey)
}

extension CredentialIssuer {
  /// All at once.
  func certificates() -> [IssuedCertificate] { listedCertificates().compactMap(\.self) }
  func keys() -> [IssuedKey] { listedKeys().compactMap(\.self) }
}

/// What is to be refused from now on.
public enum RevokedCredential: Equatable, Sendable {
  /// By the SHA-256 of its DER form.
  case certificate(sha256: [UInt8])
  case key(String)
}

/// A push certificate that was issued.
public struct IssuedCertificate: Equatable, Sendable {
  public var certificate: SavedCertificate
  /// Of its DER form: the name by which it can be revoked.
  public var sha256: [UInt8]
  public var isRevoked: Bool

  public init(_ certificate: SavedCertificate, sha256: [UInt8], isRevoked: Bool = false) {
    (self.certificate, self.sha256, self.isRevoked) = (certificate, sha256, isRevoked)
  }
}

/// A token key that was made.
public struct IssuedKey: Equatable, Sendable {
  public var key: SavedKey
  public var isRevoked: Bool

  public init(_ key: SavedKey, isRevoked: Bool = false) { (self.key, self.isRevoked) = (key, isRevoked) }
}

/// A push certificate to issue, without its key.
public struct SavedCertificate: Equatable, Sendable {
  /// Names its files.
  public var topic: Topic
  /// Further topics it is good for.
  public var moreTopics: [Topic]
  public var environments: [Environment]
  /// Whether it is for the topic alone, and lists none.
  public var isSingle: Bool

  public init(
    topic: Topic, moreTopics: [Topic] = [], environments: [Environment], isSingle: Bool = false
  ) {
    (self.topic, self.moreTopics) = (topic, moreTopics)
    (self.environments, self.isSingle) = (environments, isSingle)
  }
}

/// A token key to issue, without the key itself.
public struct SavedKey: Equatable, Sendable {
  public var keyId: String
  public var teamId: String
  /// Empty for a key of the whole team.
  public var topics: [Topic]
  public var environments: [Environment]

  public init(keyId: String, teamId: String, topics: [Topic], environments: [Environment]) {
    (self.keyId, self.teamId, self.topics, self.environments) = (keyId, teamId, topics, environments)
  }
}
