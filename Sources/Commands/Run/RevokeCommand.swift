import Credentials
import PushModel

/// `certs revoke`: what Apple's portal does when a key is lost. A running emulator refuses it from then on.
enum RevokeCommand {
  static let arguments = [
    Argument(
      ValueKind<String>.file, "the certificate as .pem, .cer or .p12, or a key as AuthKey_KEY.p8"
    ).optional
  ]
  private static let topic = Flag("topic", .topic, "the push certificate that was issued for this topic")
  private static let keyId = Flag("key-id", .text("KEY"), "the token key with this id")
  private static let password = Flag("password", .text("PASSWORD"), "of the .p12")
  private static let undo = Flag("undo", .toggle, "take it back, which Apple does not")
  static let flags: [any FlagDescription] = [topic, keyId, password, undo, CommonFlags.certsOfEmulator]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let folder = try CertsCommand.folder(settings)
    let (item, name) = try chosen(settings, in: folder)
    guard !settings.isOn(undo) else { return try takeBack(item, name, in: folder) }
    try Output.line(try folder.revoke(item, name: name, now: CertsCommand.now()))
    return .success
  }

  private static func takeBack(_ item: Revocable, _ name: String, in folder: CertsFolder) throws -> ExitStatus
  {
    guard try folder.restore(item) else {
      Output.complain("\(name) was not revoked")
      return .failure
    }
    return .success
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
        "one was expected: a FILE, --key-id or --topic", command: "certs revoke")
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
