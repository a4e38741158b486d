import Basics
import Credentials
import Platform
import ProviderAPI
import PushModel

/// `push`: one push to a phone by its name, as `xcrun simctl push` does it on a Mac. What is missing for it (the phone, the
/// app, a certificate) is made first; the push itself is a provider's own, over HTTP/2.
enum PushCommand {
  static let arguments = [
    Argument(ValueKind<UDID>.udid, "the phone, any name; it is created if it is new"),
    Argument(ValueKind<Topic>.topic, "the app's topic, usually its bundle id; an .apns file can name it")
      .optional,
    Argument(ValueKind<PayloadSource>.payload, "the payload; @- is standard input"),
  ]
  private static let environment = Flag(
    "environment", .environment, "environment of the app's token (default: the emulator's)")

  private static let context = Flag(
    "context",
    ValueKind<TokenContext>("CONTEXT", expects: "start:TYPE or activity:ID, as tokens shows them") {
      TokenContext($0)
    }, "token of a Live Activity (default: the one that the payload's event is for)")

  static let flags: [any FlagDescription] = [
    context, SendCommand.pushType, SendCommand.priority, SendCommand.expiration, SendCommand.collapseId,
    SendCommand.apnsId, environment, SendCommand.timeout, CommonFlags.access, CommonFlags.certsOfEmulator,
    CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let words = settings.arguments
    let content = try SimulatorPayload(
      SendCommand.bytes(of: words.last.flatMap(PayloadSource.init)), topic: words.count == 3 ? words[1] : nil)
    SendCommand.warn(of: content.payload)
    let (emulator, standard) = try RunningEmulator(settings)
      .asItSays()
    let phone = InstalledApp(
      udid: words[0], topic: content.topic, environment: settings[environment]?.name ?? standard)
    let row = try row(of: phone, emulator, content, settings[context])
    var push = asSend(content, row, settings)
    if push[SendCommand.pushType].flatMap(PushType.init(name:)).map(ProviderCertificate.tokenOnly.contains)
      == true
    {
      push.say(SendCommand.key, try key(in: emulator.certs))
    } else {
      try issueCertificate(for: content.topic, in: emulator.certs)
    }
    let (answer, isAccepted) = try HTTP2Push(push, emulator, payload: content.payload).perform()
    try tell(answer, of: row)
    if isAccepted, row["online"]?.text == "false" { Output.complain(away(phone)) }
    return isAccepted ? .success : .failure
  }

  private static func row(
    of phone: InstalledApp, _ emulator: RunningEmulator, _ content: SimulatorPayload, _ context: TokenContext?
  ) throws -> JSONValue {
    let rows = try phone.installed(by: emulator)
    guard let context else {
      let contexts = rows.map { $0["context"]?.string.flatMap(TokenContext.init) }
      let place = NamedPush.place(among: contexts, for: content.payload)
      return try place.map { rows[$0] } ?? phone.install(by: emulator)
    }
    guard let row = rows.last(where: { $0["context"]?.string == context.text }) else {
      let known = rows.compactMap { $0["context"]?.string }.joined(separator: ", ")
      throw UsageError(
        "\(phone.udid) has no token of \(phone.topic) for \(context); "
          + "it has \(known.isEmpty ? "no token of a Live Activity" : known)", command: "push")
    }
    return row
  }

  /// The path of a key of this command's own, for what no certificate will do for.
  private static func key(in path: String) throws -> String {
    let (team, keyId) = ("EMULATOR00", "PUSHPUSH00")
    let file = "\(path)/keys/AuthKey_\(keyId).p8"
    guard !PathCalls.isReadable(file) else { return file }
    let folder = CertsFolder(path: path)
    try folder.prepare(now: CertsCommand.now())
    return try folder.issueTokenKey(team: team, keyId: keyId, now: CertsCommand.now()).key
  }

  /// One there already is used as it is.
  private static func issueCertificate(for topic: Topic, in path: String) throws {
    let folder = CertsFolder(path: path)
    guard !PathCalls.isReadable("\(path)/push/\(topic.name).pem") else { return }
    try folder.prepare(now: CertsCommand.now())
    try folder.issuePushCertificate(topics: [topic], environments: .both, now: CertsCommand.now())
  }

  /// The same in the words of `send`.
  private static func asSend(_ content: SimulatorPayload, _ row: JSONValue, _ settings: Settings) -> Settings
  {
    var push = settings
    push.say(SendCommand.topic, content.topic.name)
    push.say(SendCommand.token, row["token"]?.string ?? "")
    push.say(CommonFlags.environment, row["environment"]?.string ?? Environment.sandbox.name)
    guard settings[SendCommand.pushType] == nil else { return push }
    let manner = NamedPush.manner(of: content.payload, to: content.topic)
    push.say(SendCommand.pushType, manner.type.name)
    if let priority = manner.priority, settings[SendCommand.priority] == nil {
      push.say(SendCommand.priority, "\(priority.rawValue)")
    }
    return push
  }

  private static func tell(_ answer: JSONValue, of row: JSONValue) throws {
    guard case .object(let members) = answer else {
      try Output.line(answer.text)
      return
    }
    let target = ["udid", "topic", "environment", "token"].map { ($0, row[$0] ?? .null) }
    try Output.line(JSONValue.object(members + target).text)
  }

  private static func away(_ phone: InstalledApp) -> String {
    "\(phone.udid) is offline, so its notification is stored; to run that phone: "
      + "apns-emulator device --udid \(phone.udid) --topic \(phone.topic.name)"
  }
}

/// The payload of a push, and the topic it is for.
package struct SimulatorPayload: Equatable {
  /// The member of an `.apns` file that names the app. Xcode takes it out before the app sees the payload.
  static let target = "Simulator Target Bundle"

  package let topic: Topic
  package let payload: [UInt8]

  /// Takes bytes apart; throws a usage error if neither `topic` nor the bytes name an app.
  package init(_ bytes: [UInt8], topic name: String?) throws {
    let document = JSONReader.read(bytes, maximumDepth: JSONText.maximumDepth)
    let text = name ?? document?.string(Self.target)
    guard let text else {
      let why = document == nil ? "the payload is not JSON" : "the payload has no \"\(Self.target)\""
      throw UsageError("TOPIC is missing, and \(why)", command: "push")
    }
    guard let topic = Topic(text) else {
      throw UsageError(
        "\"\(Self.target)\" expects a bundle id such as com.example.app, got \"\(text)\"", command: "push")
    }
    self.topic = topic
    guard case .object(let members)? = document, members.contains(where: { $0.0 == Self.target }) else {
      payload = bytes
      return
    }
    payload = JSONValue.object(members.filter { $0.0 != Self.target }).encoded
  }
}

/// An app on a phone, as the console knows it.
private struct InstalledApp {
  let udid: String
  let topic: Topic
  let environment: String

  /// Its rows of the token map, oldest first; none if the app is not installed.
  func installed(by emulator: RunningEmulator) throws -> [JSONValue] {
    let target = "/api/v1/tokens?udid=\(udid)&topic=\(topic.name)"
    return try emulator.document(target, with: "tokens").list("tokens")
      .filter { $0.says("installed") && $0.string("environment") == environment }
  }

  /// Installs the app on the phone, and makes the phone known. Answers the row.
  func install(by emulator: RunningEmulator) throws -> JSONValue {
    let path = "/api/v1/devices/\(udid)/apps/\(topic.name)/install"
    return try emulator.document("\(path)?environment=\(environment)", posting: [])
  }
}
