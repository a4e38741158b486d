import Basics
import Credentials
import Platform

/// `certs push`, `certs key`, `certs device`: issues into the certs folder; a running emulator finds it at once.
enum CertsCommand {
  private static let topics = CommonFlags.topic.repeatable
  private static let environments = Flag(
    "environment", .environments, default: "both", "environments that it is valid for")
  private static let team = Flag("team", .text("TEAM"), "team id (ten characters at Apple)").required
  private static let keyId = Flag("key-id", .text("KEY"), "key id, ten characters (default: a random one)")

  private static let single = Flag(
    "single", .toggle,
    "issue it for one topic, listed only in the subject: apns-topic may then be left out"
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
      Output.complain("replaced the certificate of the same name, which was for \(before)")
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

/// `certs convert`: what every tutorial on push certificates does with openssl, in either direction.
enum ConvertCommand {
  static let arguments = [
    Argument(ValueKind<String>.file, "certificate and key as .p12 or .pem, or a certificate as .pem or .cer")
  ]
  private static let key = Flag(
    "key", .file, "the key, if it is in a file of its own (.key, .pem or .p12)")
  private static let out = Flag(
    "out", .file, "what to write: NAME.pem (certificate and key), NAME.p12, or NAME.key (the key alone)"
  ).required
  private static let password = Flag("password", .text("PASSWORD"), "password of the files that are read")
  private static let outPassword = Flag(
    "out-password", .text("PASSWORD"), "password of the .p12 that is written (default: empty)")
  static let flags: [any FlagDescription] = [out, key, password, outPassword]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard let file = settings.arguments.first, let target = settings[out] else { return .usage }
    guard let form = Form(target) else {
      throw UsageError(
        "--out expects a name that ends in .pem, .p12 or .key, got \"\(target)\"", command: "certs convert")
    }
    let identity = try PushIdentity(file: file, key: settings[key], password: settings[password] ?? "")
    try PushIdentity.write(bytes(of: identity, form, settings[outPassword] ?? ""), to: target)
    try Output.line(target)
    for line in OpenSSLWords.lines(file: file, key: settings[key], out: target) {
      Output.complain("the same with openssl: \(line)")
    }
    return .success
  }

  private static func bytes(of identity: PushIdentity, _ form: Form, _ password: String) throws -> [UInt8] {
    switch form {
    case .pem: try identity.certificatePEM() + identity.keyPEM()
    case .p12: try identity.pkcs12(password: password)
    case .key: try identity.keyPEM()
    }
  }

  /// What is written, by its name.
  fileprivate enum Form: String {
    case pem, p12, key

    init?(_ file: String) {
      let ending = file.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased() ?? ""
      self.init(rawValue: ending == "pfx" ? "p12" : ending)
    }
  }
}

/// The commands that people find in tutorials for the same. Passwords are asked for, not shown. Pure.
package enum OpenSSLWords {
  package static func lines(file: String, key: String?, out: String) -> [String] {
    let (source, target) = (ConvertCommand.Form(file), ConvertCommand.Form(out))
    guard source != .p12 else {
      return ["openssl pkcs12 -in \(file)\(target == .key ? " -nocerts" : "") -nodes -out \(out)"]
        .filter { _ in target != .p12 }
    }
    let isDER = source == nil
    let certificate = isDER ? "\(file.prefix { $0 != "." }).pem" : file
    let first = isDER ? ["openssl x509 -inform der -in \(file) -out \(certificate)"] : []
    switch target {
    case .p12:
      let inkey = key.map { " -inkey \($0)" } ?? ""
      return first + ["openssl pkcs12 -export -in \(certificate)\(inkey) -out \(out)"]
    case .key: return ["openssl pkey -in \(key ?? file) -out \(out)"]
    case .pem: return first + ["cat \(certificate)\(key.map { " \($0)" } ?? "") > \(out)"]
    case nil: return []
    }
  }
}

/// `certs revoke`: what Apple's portal does when a key is lost. A running emulator refuses it from then on.
enum RevokeCommand {
  static let arguments = [
    Argument(
      ValueKind<String>.file, "the certificate as .pem, .cer or .p12, or a key as AuthKey_KEY.p8"
    ).optional
  ]
  private static let topic = Flag(
    "topic", .topic, "revoke the push certificate that was issued for this topic")
  private static let keyId = Flag("key-id", .text("KEY"), "revoke the token key with this id")
  private static let password = Flag("password", .text("PASSWORD"), "password of the .p12")
  private static let undo = Flag("undo", .toggle, "take the revocation back, which Apple does not")
  static let flags: [any FlagDescription] = [topic, keyId, password, undo, CommonFlags.certsOfEmulator]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let folder = try CertsCommand.folder(settings)
    let (item, name) = try chosen(settings, in: folder)
    guard settings.isOn(undo) else {
      try Output.line(try folder.revoke(item, name: name, now: CertsCommand.now()))
      return .success
    }
    guard try !folder.restore(item) else { return .success }
    Output.complain("nothing to undo: \(name) was not revoked")
    return .failure
  }

  /// The one thing that is named, and what people call it.
  private static func chosen(_ settings: Settings, in folder: CertsFolder) throws -> (Revocable, String) {
    switch (settings.arguments.first, settings[keyId], settings[topic]) {
    case (let file?, nil, nil):
      if let id = keyId(inFile: file) { return (try folder.revocableKey(id), id) }
      return try certificate(file, settings[password])
    case (nil, let id?, nil): return (try folder.revocableKey(id), id)
    case (nil, nil, let topic?):
      return try certificate("\(folder.pushFolder)/\(topic.name).pem", nil)
    default:
      throw UsageError(
        "expected exactly one of FILE, --key-id and --topic", command: "certs revoke")
    }
  }

  private static func certificate(_ file: String, _ password: String?) throws -> (Revocable, String) {
    let certificate = try RevocableCertificate(file: file, password: password ?? "")
    return (certificate.item, certificate.name)
  }

  /// The id in a name like `certs/keys/AuthKey_ABC123DEFG.p8`.
  private static func keyId(inFile path: String) -> String? {
    let name = path.split(separator: "/").last ?? ""
    guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
    return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
  }
}
