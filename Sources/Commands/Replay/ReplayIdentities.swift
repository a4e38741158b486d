import Basics
import Capture
import Credentials
import Platform
import PushModel
import Replay
import Transport

/// Who replayed pushes come from: push certificates by topic, and provider tokens signed again.
final class ReplayIdentities: ReplayCredentials {
  /// Age at which a provider token is made again, in seconds: within the hour that it holds, and not too often
  /// (`Documentation/provider-api.md#provider-tokens`).
  private static let renewalAge: Int64 = 45 * 60
  /// Age of a token that must have expired, in seconds.
  private static let expiredAge: Int64 = 2 * 3600

  private struct Key {
    var path: String
    var record: ProviderKeyRecord
    var signer: ProviderTokenSigner?
    var token: (text: String, issuedAt: Timestamp)?
    var expired: String?
  }

  private let settings: Settings
  private let emulator: RunningEmulator
  private let ca: String
  /// Whether a key was named on the command line.
  let hasOwnKey: Bool
  private var contexts: [String: TLSContext] = [:]
  private var keys: [Key] = []
  private var choices: [String: Int] = [:]
  /// The last one that was asked for: mostly the next push is like it.
  private var latest: (digest: String, topic: String, key: Int)?

  init(_ settings: Settings, _ emulator: RunningEmulator) throws {
    (self.settings, self.emulator) = (settings, emulator)
    ca = try settings[ReplayCommand.ca] ?? emulator.ca
    let path = settings[ReplayCommand.key]
    hasOwnKey = path != nil
    if let path {
      let (keyId, team) = try SendCommand.keyAndTeam(path, settings, command: "replay")
      keys = [Key(path: path, record: ProviderKeyRecord(keyId: keyId, teamId: team))]
    } else {
      keys = CertsFolder(path: emulator.certs).tokenKeys().sorted { $0.keyId < $1.keyId }.map {
        Key(path: "\(emulator.certs)/keys/AuthKey_\($0.keyId).p8", record: $0)
      }
    }
  }

  // MARK: Certificates

  /// Whether there is a push certificate for a topic.
  func hasCertificate(_ topic: String) -> Bool {
    settings[ReplayCommand.cert] != nil || PathCalls.isReadable("\(emulator.certs)/push/\(topic).pem")
  }

  /// A context with the certificate of a topic; without one if nil.
  func context(_ topic: String?, maximum: TLSPolicy.Version) throws -> TLSContext {
    let name = "\(maximum.rawValue) \(topic ?? "")"
    if let known = contexts[name] { return known }
    let context: TLSContext
    if let topic {
      context = try SendCommand.context(
        certificate: settings[ReplayCommand.cert] ?? "\(emulator.certs)/push/\(topic).pem",
        key: settings[SendCommand.certKey], ca: ca, maximum: maximum,
        advice: "name one with --cert, or make it with: apns-emulator certs push --topic \(topic)")
    } else {
      var policy = TLSPolicy()
      policy.maximum = maximum
      context = try TLSContext.client(ca: ca, policy: policy)
    }
    contexts[name] = context
    return context
  }

  // MARK: Provider tokens

  /// What to send as `authorization` where the capture has `digest`; nil for nothing.
  ///
  /// What was refused for its token is refused again: no token, one that is none, one that has expired.
  func authorization(_ digest: String, topic: String, _ recorded: CapturedOutcome) throws -> String? {
    guard !digest.isEmpty else { return nil }
    guard digest.hasPrefix(CaptureFormat.digestPrefix),
      recorded.reason != Rejection.invalidProviderToken.reason
    else { return "bearer \(CaptureFormat.unreadable)" }
    let isExpired = recorded.reason == Rejection.expiredProviderToken.reason
    return "bearer " + (try token(key(digest, topic), isExpired: isExpired))
  }

  /// An `authorization` for pushes to a topic that were recorded without one.
  func authorization(topic: String) throws -> String {
    "bearer " + (try token(key("", topic), isExpired: false))
  }

  private func key(_ digest: String, _ topic: String) throws -> Int {
    if hasOwnKey { return 0 }
    if let latest, latest.digest == digest, latest.topic == topic { return latest.key }
    let name = "\(digest) \(topic)"
    if let known = choices[name] {
      latest = (digest, topic, known)
      return known
    }
    let signed = keys.firstIndex {
      digest == CaptureFormat.digestPrefix
        + ProviderToken.digest(keyId: $0.record.keyId, teamId: $0.record.teamId)
    }
    let choice =
      signed
      ?? keys.firstIndex { $0.record.topics.isEmpty || $0.record.topics.contains { $0.name == topic } }
    guard let choice else {
      throw CommandFailure(
        "there is no token key for \(topic) in \(emulator.certs)/keys; name one with --key, or make it with: "
          + "apns-emulator certs key --team TEAM")
    }
    choices[name] = choice
    return choice
  }

  private func token(_ index: Int, isExpired: Bool) throws -> String {
    let now = CertsCommand.now()
    if isExpired {
      if let expired = keys[index].expired { return expired }
      let expired = try signer(index).token(at: now.adding(nanoseconds: -Self.expiredAge * 1_000_000_000))
      keys[index].expired = expired
      return expired
    }
    if let token = keys[index].token, now.seconds - token.issuedAt.seconds < Self.renewalAge {
      return token.text
    }
    let text = try signer(index).token(at: now)
    keys[index].token = (text, now)
    return text
  }

  private func signer(_ index: Int) throws -> ProviderTokenSigner {
    if let known = keys[index].signer { return known }
    let (path, record) = (keys[index].path, keys[index].record)
    let signer = try ProviderTokenSigner(p8Path: path, keyId: record.keyId, teamId: record.teamId)
    keys[index].signer = signer
    return signer
  }
}
