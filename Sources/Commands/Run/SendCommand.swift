import Basics
import Credentials
import LegacyWire
import Platform
import SimulatedProvider
import Transport

/// `send`: a provider, over HTTP/2 or the legacy gateway. Prints the outcome as JSON; exit 1 if rejected.
enum SendCommand {
  static let topic = CommonFlags.topic.required
  static let token = Flag("token", .hex, "device token").required
  static let payload = Flag("payload", .payload, default: #"{"aps":{"alert":"Hello"}}"#, "payload")
  static let key = Flag("key", .file, "token key (.p8), for HTTP/2")
  static let keyId = Flag(
    "key-id", .text("KEY"), "id of the key (default: KEY in the file name AuthKey_<KEY>.p8)")
  static let team = Flag(
    "team", .text("TEAM"), "team of the key (default: the team in <KEY>.json beside the key)")
  static let cert = Flag(
    "cert", .file, "push certificate (default without --key: <certs>/push/<topic>.pem)")
  static let certKey = Flag(
    "cert-key", .file, "key of the certificate (default: the key in the same file or beside it)")
  static let certPassword = Flag(
    "cert-password", .text("PASSWORD"), "password of the certificate's file, or of its key")
  static let legacy = Flag(
    "legacy", ValueKind<UInt8>.number("0|1|2", 0...2), "send by the binary protocol, with this command of it")
  static let identifier = Flag(
    "identifier", ValueKind<UInt32>.number("N", 0...UInt32.max), default: "1",
    "identifier of the push, with --legacy")
  static let expiration = Flag(
    "expiration", .expiration, "when the push expires: UNIX seconds, 0 for a single try, or +1h")
  static let priority = Flag(
    "priority", ValueKind<UInt8>.number("N", 0...UInt8.max), "apns-priority: 10, 5 or 1")
  static let pushType = Flag("push-type", .text("TYPE"), "apns-push-type")
  static let collapseId = Flag("collapse-id", .text("ID"), "apns-collapse-id")
  static let apnsId = Flag("apns-id", .text("UUID"), "apns-id")
  static let count = Flag(
    "count", ValueKind<Int>.number("N", 1...100_000),
    "send the push N times, and report counts and rate")
  static let wait = Flag(
    "wait", .interval, default: "1s", "how long to wait for an error packet, with --legacy")
  static let timeout = CommonFlags.timeout.defaulting(to: "10s")

  static let flags: [any FlagDescription] = [
    topic, token, payload, key, keyId, team, cert, certKey, certPassword, legacy, identifier, expiration,
    priority,
    pushType,
    collapseId, apnsId, count, wait, timeout, CommonFlags.environment, CommonFlags.certsOfEmulator,
    CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let emulator = try RunningEmulator(settings)
    let payload = try bytes(of: settings[payload])
    warn(of: payload)
    guard let number = settings[legacy], let command = LegacyCommand(rawValue: number) else {
      return try HTTP2Push(settings, emulator, payload: payload).run()
    }
    do {
      return try sendLegacy(command, payload, settings, emulator)
    } catch let refusal as TLSRefusal {
      try Output.line(
        refusal.json([("interface", "gateway"), ("command", command.rawValue.json)]).text)
      return .failure
    }
  }

  /// Apple's service takes any bytes, so ours does; an app gets nothing that it can use.
  static func warn(of payload: [UInt8]) {
    guard !payload.isEmpty else { return }
    switch JSONText.compact(payload)?.first {
    case UInt8(ascii: "{"): break
    case nil:
      Output.complain("the payload is not JSON; it is sent anyway, because Apple does not check it")
    default:
      Output.complain(
        "the payload is JSON, but no object; it is sent anyway, because Apple does not check it")
    }
  }

  private static func sendLegacy(
    _ command: LegacyCommand, _ payload: [UInt8], _ settings: Settings, _ emulator: RunningEmulator
  ) throws -> ExitStatus {
    var push = LegacyPush(
      command: command, token: settings[token] ?? [], payload: payload,
      identifier: settings[identifier] ?? 1)
    push.expiration =
      settings[expiration]?.seconds(from: CertsCommand.now()) ?? (command == .enhanced ? .max : nil)
    push.priority = settings[priority]
    var frames = push.frame
    for number in 1..<UInt32(settings[count] ?? 1) {
      push.identifier = (settings[identifier] ?? 1) &+ number
      frames += push.frame
    }
    let exchange = try Exchange.perform(
      sending: frames, to: emulator.address("gateway"), serverName: serverName("gateway", settings, emulator),
      context: try certificateContext(settings, emulator, maximum: .tls12),
      limit: settings[wait]?.nanoseconds,
      isEnough: { $0.count >= LegacyErrorPacket.byteCount })
    let outcome = LegacyOutcome(received: exchange.received, isClosed: exchange.isClosed)
    var answer = outcome.json(command: command)
    if let count = settings[count] {
      let series = LegacySeries(
        count: count, firstIdentifier: settings[identifier] ?? 1, nanoseconds: exchange.sendingNanoseconds)
      answer = series.json(outcome, command: command)
    }
    try Output.line(answer.text)
    return outcome.isAccepted ? .success : .failure
  }

  static func bytes(of payload: PayloadSource?) throws -> [UInt8] {
    switch payload {
    case .text(let text)?: Array(text.utf8)
    case .file(let path)?: try TextFile.read(path)
    case nil: []
    }
  }

  /// Key id and team of a token key, from the flags, else from the names and files of the keys folder.
  static func keyAndTeam(_ path: String, _ settings: Settings, command: String) throws -> (String, String) {
    do {
      return try ProviderTokenSigner.keyAndTeam(
        ofFile: path, keyId: settings[keyId], team: settings[team])
    } catch {
      throw UsageError("\(error)", command: command)
    }
  }

  /// Apple's name for a listener, which also says the environment.
  static func serverName(_ service: String, _ settings: Settings, _ emulator: RunningEmulator) -> String {
    emulator.environment(settings[CommonFlags.environment]).host(of: service)
  }

  /// A TLS context with the push certificate that the flags name, or the one issued for the topic.
  static func certificateContext(
    _ settings: Settings, _ emulator: RunningEmulator, maximum: TLSPolicy.Version
  ) throws -> TLSContext {
    let name = settings[topic]?.name ?? ""
    return try context(
      certificate: settings[cert] ?? "\(emulator.certs)/push/\(name).pem", key: settings[certKey],
      password: settings[certPassword] ?? "", ca: emulator.ca, maximum: maximum,
      advice: "make one with: apns-emulator certs push --topic \(name)")
  }

  /// A TLS context with the push certificate in a file, whose key is in the same file or beside it unless it is named. `advice` says
  /// what to do if there is none.
  static func context(
    certificate: String, key: String?, password: String = "", ca: @autoclosure () throws -> String,
    maximum: TLSPolicy.Version, advice: String
  ) throws -> TLSContext {
    guard PathCalls.isReadable(certificate) else {
      throw CommandFailure("there is no push certificate \(certificate); \(advice)")
    }
    var policy = TLSPolicy()
    policy.maximum = maximum
    let identity = try PushIdentity(
      file: certificate, key: key ?? keyBeside(certificate), password: password)
    return try TLSContext.client(
      ca: try ca(), certificatePEM: identity.certificatePEM(), keyPEM: identity.keyPEM(), policy: policy)
  }

  /// A key of the same name; nil where there is none.
  private static func keyBeside(_ certificate: String) -> String? {
    let key = String(certificate.dropLast(certificate.hasSuffix(".pem") ? 4 : 0)) + ".key"
    return PathCalls.exists(key) ? key : nil
  }
}
