import Console
import Credentials
import PushModel

/// The certs folder as saved states see it.
final class FolderCredentials: CredentialIssuer {
  private let folder: CertsFolder
  private let now: () -> Timestamp

  /// `now` begins the time of what is issued.
  init(_ folder: CertsFolder, now: @escaping () -> Timestamp) { (self.folder, self.now) = (folder, now) }

  func certificates() -> [SavedCertificate] {
    folder.pushCertificates().map {
      SavedCertificate(
        topic: $0.topic, moreTopics: $0.moreTopics, environments: $0.environments.environments,
        isSingle: $0.isSingle)
    }
  }

  func keys() -> [SavedKey] {
    folder.tokenKeys().map {
      SavedKey(
        keyId: $0.keyId, teamId: $0.teamId, topics: $0.topics, environments: $0.environments.environments)
    }
  }

  func issue(_ certificate: SavedCertificate) throws {
    try folder.issuePushCertificate(
      topics: [certificate.topic] + certificate.moreTopics,
      environments: EnvironmentSet(certificate.environments.map { EnvironmentSet($0) }),
      isSingle: certificate.isSingle, now: now())
  }

  func issue(_ key: SavedKey) throws {
    try folder.issueTokenKey(
      team: key.teamId, keyId: key.keyId, topics: key.topics,
      environments: EnvironmentSet(key.environments.map { EnvironmentSet($0) }), now: now())
  }
}
