import Basics
import Broker
import Console
import Credentials
import ProviderAPI
import PushModel
import Services
import Transport

/// The certs folder as the console sees it.
final class FolderCredentials: CredentialIssuer {
  private let folder: CertsFolder
  private let now: () -> Timestamp
  private let background: BackgroundWork?
  private let verifier: ProviderTokenVerifier

  /// `now` begins the time of what is issued; keys are made in the `background`. The `verifier` hears of each change.
  init(
    _ folder: CertsFolder, verifier: ProviderTokenVerifier, background: BackgroundWork?,
    now: @escaping () -> Timestamp
  ) {
    (self.folder, self.verifier, self.background, self.now) = (folder, verifier, background, now)
  }

  func ca() throws -> [UInt8] { try folder.readRoot() }

  func javaTrustStore() throws -> [UInt8] { try folder.javaTrustStore(now: now()) }

  func make(_ order: CertificateOrder, then: @escaping (Result<MadeCertificate, any Error>) -> Void) -> Bool {
    inBackground({ try Self.make(order, in: $0, $1) }, then)
  }

  func make(_ order: KeyOrder, then: @escaping (Result<MadeKey, any Error>) -> Void) -> Bool {
    inBackground({ try Self.make(order, in: $0, $1) }, then)
  }

  func revoke(_ item: RevokedCredential, then: @escaping (Result<Void, any Error>) -> Void) -> Bool {
    let (item, name): (Revocable, String) =
      switch item {
      case .certificate(let sha256): (.certificate(sha256), "over the console")
      case .key(let id): (.key(id), id)
      }
    return inBackground({ _ = try $0.revoke(item, name: name, now: $1) }, then)
  }

  private func inBackground<Made: Sendable>(
    _ work: @escaping @Sendable (CertsFolder, Timestamp) throws -> Made,
    _ then: @escaping (Result<Made, any Error>) -> Void
  ) -> Bool {
    let (path, now) = (folder.path, now())
    return background?.run({ Result { try work(CertsFolder(path: path), now) } }) {
      [verifier] (made: Result<Made, any Error>) in
      verifier.expectChange()
      then(made)
    } ?? false
  }

  private static func make(_ order: CertificateOrder, in folder: CertsFolder, _ now: Timestamp) throws
    -> MadeCertificate
  {
    let environments = EnvironmentSet(order.environments)
    if let request = order.request {
      let pem = try folder.signPushRequest(
        csrPEM: Array(request.utf8), topics: order.topics, environments: environments,
        isSingle: order.isSingle, now: now)
      return MadeCertificate(certificate: pem, sha256: CertsFolder.digest(pem: pem))
    }
    let issued = try folder.issuePushCertificate(
      topics: order.topics, environments: environments, isSingle: order.isSingle, now: now)
    let text = try folder.read(issued, name: order.topics[0], password: order.password)
    return MadeCertificate(
      certificate: text.certificate, sha256: CertsFolder.digest(pem: text.certificate), privateKey: text.key,
      pkcs12: text.pkcs12)
  }

  private static func make(_ order: KeyOrder, in folder: CertsFolder, _ now: Timestamp) throws -> MadeKey {
    let issued = try folder.issueTokenKey(
      team: order.team, keyId: order.keyId, topics: order.topics,
      environments: EnvironmentSet(order.environments), now: now)
    return MadeKey(keyId: issued.keyId, p8: try folder.read(issued))
  }

  func listedCertificates() -> AnyIterator<IssuedCertificate?> {
    AnyIterator(
      folder.pushCertificateNames().lazy.map { [folder] in folder.pushCertificate(inFile: $0) }.map(issued)
        .makeIterator())
  }

  private func issued(_ listed: CertsFolder.ListedPushCertificate?) -> IssuedCertificate? {
    listed.map {
      IssuedCertificate(
        SavedCertificate(
          topic: $0.topic, moreTopics: $0.moreTopics, environments: $0.environments.environments,
          isSingle: $0.isSingle),
        sha256: $0.sha256, isRevoked: folder.isRevoked(.certificate($0.sha256)))
    }
  }

  func listedKeys() -> AnyIterator<IssuedKey?> {
    AnyIterator(
      folder.tokenKeyNames().lazy.map { [folder] in folder.tokenKey(inFile: $0) }.map(issued).makeIterator())
  }

  private func issued(_ record: ProviderKeyRecord?) -> IssuedKey? {
    record.map {
      IssuedKey(
        SavedKey(
          keyId: $0.keyId, teamId: $0.teamId, topics: $0.topics, environments: $0.environments.environments),
        isRevoked: folder.isRevoked(.key($0.keyId)))
    }
  }

  func hasKey(_ id: String) -> Bool { (try? folder.revocableKey(id)) != nil }

  func issue(_ credential: SavedCredential) throws { try Self.issue(credential, in: folder, now()) }

  func issue(_ credential: SavedCredential, then: @escaping (Result<Void, any Error>) -> Void) -> Bool {
    inBackground({ try Self.issue(credential, in: $0, $1) }, then)
  }

  private static func issue(_ credential: SavedCredential, in folder: CertsFolder, _ now: Timestamp) throws {
    switch credential {
    case .certificate(let certificate):
      try folder.issuePushCertificate(
        topics: [certificate.topic] + certificate.moreTopics,
        environments: EnvironmentSet(certificate.environments),
        isSingle: certificate.isSingle, now: now)
    case .key(let key):
      try folder.issueTokenKey(
        team: key.teamId, keyId: key.keyId, topics: key.topics,
        environments: EnvironmentSet(key.environments), now: now)
    }
  }
}

extension IdentityDerivation: TokenDerivation {}

extension StandingCertificate: CertificateStanding {}

extension ProviderTrust {
  /// What makes a legacy handshake fail, and the log line for it; nil lets the client in.
  ///
  /// A certificate without a topic or an environment passes: its provider gets status 3 for each frame, or a silent
  /// close (`Documentation/binary-protocol.md#error-packet`, `#client-certificate`).
  func handshakeError(
    _ leaf: [UInt8], _ intermediates: [[UInt8]], at now: Timestamp, _ logger: Logger
  ) -> Int32? {
    let verdict = verifyChain(leafDER: leaf, intermediatesDER: intermediates, at: now)
    guard let problem = verdict.problem else { return nil }
    let passes = verdict.isAccepted || problem.code == .namesNoTopic || problem.code == .namesNoEnvironment
    logger.log(
      .warning, passes ? "certificate let through" : "certificate refused",
      [
        ("certificate", .string(verdict.certificate?.commonName ?? "?")),
        ("because", .string(problem.sentence)),
      ])
    return passes ? nil : problem.verificationError
  }
}

/// Topics that push certificates were issued for, read once for each change of their folder: who asks often what the emulator is
/// must not have it read each time.
package final class IssuedTopics {
  private let folder: CertsFolder
  private var watch: FolderWatch
  private var topics: [Topic] = []

  package init(_ folder: CertsFolder) { (self.folder, watch) = (folder, FolderWatch(folder.pushFolder)) }

  /// In the order of their names.
  package func all() -> [Topic] {
    guard watch.hasChanged else { return topics }
    watch.willRead()
    topics = folder.issuedTopics().sorted { $0.name < $1.name }
    return topics
  }
}

extension CertsFolder {
  /// Topics that push certificates were issued for: their files are named after them.
  func issuedTopics() -> [Topic] { pushCertificateNames().compactMap { Topic(String($0.dropLast(4))) } }
}
