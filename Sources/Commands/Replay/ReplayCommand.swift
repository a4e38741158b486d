import Basics
import Capture
import Platform
import Replay

/// `replay`: captured traffic once more, with a report of what came out differently; exit 1 if anything did.
enum ReplayCommand {
  static let file = Argument(
    ValueKind<String>.file, "a file of serve --capture, or - for standard input; rotated files oldest first",
    isRepeatable: true)
  static let to = Flag("to", .endpoint, "where to send the pushes (default: the running emulator)")
  static let form = Flag(
    "as", ValueKind<ReplayOptions.Form>.word, "send all pushes by this protocol (default: each by its own)")
  static let speed = Flag(
    "speed", .speed, default: "1", "how many times the recorded pace, or max for as fast as possible")
  static let mapTopic = Flag("map-topic", .text("OLD=NEW"), "send what was for one topic to another")
    .repeatable
  static let mapToken = Flag("map-token", .text("OLD=NEW"), "send what was for one token to another")
    .repeatable
  static let map = Flag(
    "map", .file, #"JSON file with both mappings: {"topics": {"old": "new"}, "tokens": {"old": "new"}}"#)
  static let ca = Flag("ca", .file, "CA of the service at --to, in PEM (default: the emulator's)")
  static let cert = Flag(
    "cert", .file, "push certificate for all pushes (default: <certs>/push/<topic>.pem)")
  static let key = Flag(
    "key", .file, "token key (.p8) for all pushes (default: the one that signed before)")
  static let allow = Flag("allow-differences", .toggle, "end with 0 although outcomes differ")
  static let differences = Flag(
    "differences", .countOrAll, default: "100", "how many differences to report one by one; all are counted")
  static let timeout = CommonFlags.timeout.defaulting(to: "30s")

  static let flags: [any FlagDescription] = [
    to, form, speed, mapTopic, mapToken, map, cert, SendCommand.certKey, key, SendCommand.keyId,
    SendCommand.team, ca,
    allow, differences, timeout, CommonFlags.json, CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    for path in settings.arguments where path != "-" { try TextFile.checkReadable(path) }
    let emulator = try RunningEmulator(settings)
    let options = try options(settings, emulator)
    let (identities, output) = (try ReplayIdentities(settings, emulator), ReplayOutput(settings))
    let client = try ClientLoop()
    CaptureWait.wait(for: settings.arguments, of: emulator)
    let runner = try ReplayRunner(options, on: client.loop, as: identities, telling: output)
    client.stop(at: .interrupt)
    runner.begin()
    client.run(limit: nil)
    if let failure = runner.failure {
      output.breakOff()
      throw named(failure)
    }
    try output.finish()
    return output.report.isClean || settings.isOn(allow) ? .success : .failure
  }

  private static func options(_ settings: Settings, _ emulator: RunningEmulator) throws -> ReplayOptions {
    let target = settings[to]
    var options = ReplayOptions(settings.arguments) {
      try target ?? emulator.address($0 == .legacy ? "gateway" : "provider")
    }
    (options.target, options.form) = (target, settings[form])
    options.speed = settings[speed] ?? .factor(1)
    options.timeout = settings[timeout]?.nanoseconds ?? .max
    options.warn = { Output.complain($0) }
    options.mapping = try mapping(settings)
    return options
  }

  private static func mapping(_ settings: Settings) throws -> ReplayMapping {
    var mapping = ReplayMapping()
    if let path = settings[map], let problem = mapping.add(file: try TextFile.read(path)) {
      throw CommandFailure("\(path): \(problem)")
    }
    for text in settings.all(mapTopic) where !mapping.addTopic(text) {
      throw UsageError("--map-topic expects two topics such as old=new, got \"\(text)\"", command: "replay")
    }
    for text in settings.all(mapToken) where !mapping.addToken(text) {
      throw UsageError(
        "--map-token expects two tokens in hexadecimal such as old=new, got \"\(text)\"", command: "replay")
    }
    return mapping
  }

  /// With what to do about it.
  private static func named(_ failure: any Error) -> any Error {
    guard case .unreachable(let address, let why)? = failure as? ReplayFailure else { return failure }
    return RunningEmulator.unreachable(address, why)
  }
}

extension ValueKind where Value == ReplayOptions.Speed {
  static let speed = ValueKind("X|max", expects: "a factor such as 1, 0.5 or 10, or max") { text in
    if text == "max" { return .maximum }
    let digits = text.hasSuffix("x") ? text.dropLast() : Substring(text)
    return Double(digits).flatMap { $0 > 0 && $0 <= 1e6 ? .factor($0) : nil }
  }
}

extension ValueKind where Value == Int {
  static let countOrAll = ValueKind("N|all", expects: "a number from 0 to 1000000000, or all") { text in
    text == "all" ? .max : Int(text).flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
  }
}

/// `har`: the requests of a capture as an HTTP archive, on standard output. Frames are left out; they are no HTTP.
enum HARCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    CaptureWait.wait(for: settings.arguments, of: try? RunningEmulator(settings))
    let source = CaptureSource(settings.arguments) { Output.complain($0) }
    var batch = CaptureBatch()
    var start = Timestamp(nanoseconds: 0)
    var separator = ""
    var hosts: [UInt32: String] = [:]
    // Nothing is printed for a file that can't be read at all.
    var lines = HARDocument.head(software: Program.version) + "\n"
    while try source.next(&batch) {
      for entry in batch.entries {
        switch entry.kind {
        case .header: start = Timestamp(rfc3339: batch.starts[Int(entry.detail)]) ?? start
        case .opened:
          let connection = batch.connections[Int(entry.detail)]
          hosts[connection.number] = connection.environment.host(of: "api")
        case .closed: hosts[entry.connection] = nil
        case .request:
          let host = hosts[entry.connection] ?? "localhost"
          lines += separator + HARDocument.entry(entry, of: batch, start: start, host: host).text
          separator = ",\n"
        case .frame, .lost: break
        }
      }
      if !lines.isEmpty { try Output.text(lines) }
      lines = ""
    }
    try Output.line(lines + "\n" + HARDocument.tail)
    return .success
  }
}
