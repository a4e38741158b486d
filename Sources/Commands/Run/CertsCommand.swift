import Credentials
import Platform
import PushModel

/// `certs push`, `certs key`, `certs device`: issues into the certs folder; a running emulator finds it at once.
enum CertsCommand {
  private static let topics = CommonFlags.topic.repeatable
  private static let environments = Flag(
    "environment", .environments, default: "both", "environments it is good for")
  private static let team = Flag("team", .text("TEAM"), "team id, ten characters at Apple").required
  private static let keyId = Flag("key-id", .text("KEY"), "key id, ten characters; made up if absent")

  private static let single = Flag(
    "single", .toggle,
    "for this one topic, which the certificate lists nowhere but in its subject: apns-topic may then be left out"
  )

  static let pushFlags: [any FlagDescription] = [
    topics.required, environments, single, CommonFlags.certsOfEmulator,
  ]
  static let keyFlags: [any FlagDescription] = [
    team, keyId, topics, environments, CommonFlags.certsOfEmulator,
  ]
  static let deviceFlags: [any FlagDescription] = [CommonFlags.udid, CommonFlags.certsOfEmulator]

  static func push(_ settings: Settings) throws -> ExitStatus {
    let (names, isSingle) = (settings.all(topics), settings.isOn(single))
    guard !isSingle || names.count == 1 else {
      throw UsageError("--single expects one --topic, got \(names.count)", command: "certs push")
    }
    let issued = try folder(settings).issuePushCertificate(
      topics: names, environments: settings[environments] ?? .both, isSingle: isSingle, now: now())
    for path in [issued.certificate, issued.key, issued.pkcs12] { try Output.line(path) }
    if !issued.replacedTopics.isEmpty {
      let before = issued.replacedTopics.map(\.name.name).joined(separator: ", ")
      Output.complain("replaced the certificate of this name, which was for \(before)")
    }
    return .success
  }

  static func key(_ settings: Settings) throws -> ExitStatus {
    let issued = try folder(settings).issueTokenKey(
      team: settings[team] ?? "", keyId: settings[keyId], topics: settings.all(topics),
      environments: settings[environments] ?? .both, now: now())
    for path in [issued.key, issued.description] { try Output.line(path) }
    return .success
  }

  static func device(_ settings: Settings) throws -> ExitStatus {
    guard let udid = settings[CommonFlags.udid] else { return .usage }
    let issued = try folder(settings).issueDeviceCertificate(udid: udid, now: now())
    for path in [issued.certificate, issued.key] { try Output.line(path) }
    return .success
  }

  /// The folder, filled first if it is new.
  static func folder(_ settings: Settings) throws -> CertsFolder {
    let running = try? RunningEmulator(settings).certs
    let folder = CertsFolder(path: settings[CommonFlags.certsOfEmulator] ?? running ?? "certs")
    try folder.prepare(now: now())
    return folder
  }

  static func now() -> Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }
}
