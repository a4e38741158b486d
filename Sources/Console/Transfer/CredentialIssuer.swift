import PushModel

/// What providers prove themselves with, as the console sees it: what was issued, and issuing more. Private keys come here once,
/// when they are made for somebody who asks. Implemented by module `Emulator`.
public protocol CredentialIssuer: AnyObject {
  /// The certificate of our authority, in PEM, and the same as a Java trust store.
  func authority() throws -> [UInt8]
  func javaTrustStore() throws -> [UInt8]
  /// Makes and answers late, on the loop. False if too many wait.
  func make(_ order: CertificateOrder, then: @escaping (Result<MadeCertificate, any Error>) -> Void) -> Bool
  func make(_ order: KeyOrder, then: @escaping (Result<MadeKey, any Error>) -> Void) -> Bool
  /// Push certificates that were issued, by the topic that each is named after.
  func certificates() -> [SavedCertificate]
  /// Token keys that can be used.
  func keys() -> [SavedKey]
  func issue(_ certificate: SavedCertificate) throws
  func issue(_ key: SavedKey) throws
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
