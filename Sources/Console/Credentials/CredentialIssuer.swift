import PushModel

/// What providers prove themselves with, as the console sees it: what was issued, and issuing more. Private keys come here once,
/// when they are made for somebody who asks. Implemented by module `Emulator`.
package protocol CredentialIssuer: AnyObject {
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
package enum SavedCredential: Equatable, Sendable {
  case certificate(SavedCertificate)
  case key(SavedKey)
}

extension CredentialIssuer {
  /// All at once.
  package func certificates() -> [IssuedCertificate] { listedCertificates().compactMap(\.self) }
  package func keys() -> [IssuedKey] { listedKeys().compactMap(\.self) }
}

/// What is to be refused from now on.
package enum RevokedCredential: Equatable, Sendable {
  /// By the SHA-256 of its DER form.
  case certificate(sha256: [UInt8])
  case key(String)
}

/// A push certificate that was issued.
package struct IssuedCertificate: Equatable, Sendable {
  package var certificate: SavedCertificate
  /// Of its DER form: the name by which it can be revoked.
  package var sha256: [UInt8]
  package var isRevoked: Bool

  package init(_ certificate: SavedCertificate, sha256: [UInt8], isRevoked: Bool = false) {
    (self.certificate, self.sha256, self.isRevoked) = (certificate, sha256, isRevoked)
  }
}

/// A token key that was made.
package struct IssuedKey: Equatable, Sendable {
  package var key: SavedKey
  package var isRevoked: Bool

  package init(_ key: SavedKey, isRevoked: Bool = false) { (self.key, self.isRevoked) = (key, isRevoked) }
}

/// A push certificate to issue, without its key.
package struct SavedCertificate: Equatable, Sendable {
  /// Names its files.
  package var topic: Topic
  /// Further topics it is good for.
  package var moreTopics: [Topic]
  package var environments: [Environment]
  /// Whether it is for the topic alone, and lists none.
  package var isSingle: Bool

  package init(
    topic: Topic, moreTopics: [Topic] = [], environments: [Environment], isSingle: Bool = false
  ) {
    (self.topic, self.moreTopics) = (topic, moreTopics)
    (self.environments, self.isSingle) = (environments, isSingle)
  }
}

/// A token key to issue, without the key itself.
package struct SavedKey: Equatable, Sendable {
  package var keyId: String
  package var teamId: String
  /// Empty for a key of the whole team.
  package var topics: [Topic]
  package var environments: [Environment]

  package init(keyId: String, teamId: String, topics: [Topic], environments: [Environment]) {
    (self.keyId, self.teamId, self.topics, self.environments) = (keyId, teamId, topics, environments)
  }
}
