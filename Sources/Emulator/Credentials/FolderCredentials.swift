import Broker
import Console
import CourierWire
import Credentials
import Platform
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

extension CertsFolder {
  /// Topics that push certificates were issued for: their files are named after them.
  func issuedTopics() -> [Topic] {
    guard let directory = opendir(pushFolder) else { return [] }
    defer { closedir(directory) }
    var topics: [Topic] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasSuffix(".pem"), let topic = Topic(String(name.dropLast(4))) else { continue }
      topics.append(topic)
    }
    return topics
  }
}

extension IdentityDerivation: TokenDerivation {}

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

extension DeviceIdentityVerifier {
  /// Verifies a connect command. By the system's clock: the device signs with its own, which nobody can move.
  ///
  /// A device that was asked for its certificate in the TLS handshake says no more about itself
  /// (`Documentation/device-protocol.md#alpn`, `apns-security-v2`); one that does is believed by what it says.
  func verify(
    _ request: ConnectRequest, handshakeCertificate: [UInt8]?, _ logger: Logger
  ) -> Result<VerifiedDevice, DeviceRefusal> {
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    let result =
      if !request.hasProof {
        verify(handshakeCertificateDER: handshakeCertificate ?? [], now: now)
      } else {
        verify(
          certificateDER: request.certificate ?? [], nonce: request.nonce ?? [],
          signature: request.signature ?? [], now: now, at: SystemClock.now())
      }
    if case .success(let device) = result, let leniency = device.leniency {
      logger.log(
        .warning, "device let through",
        [("udid", .string(device.udid.text)), ("because", .string(leniency.sentence))])
    }
    return result
  }
}

extension ConnectRequest {
  /// Whether it carries anything of a proof of identity.
  fileprivate var hasProof: Bool { certificate != nil || nonce != nil || signature != nil }
}
