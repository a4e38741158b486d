import Basics
import LegacyWire
import Transport

/// `feedback`: reads the feedback service until it ends, one JSON line a tuple.
enum FeedbackCommand {
  private static let timeout = CommonFlags.timeout.defaulting(to: "30s")
  private static let cert = Flag(
    "cert", .file, "push certificate; <certs>/push/<topic>.pem if --topic is given instead")
  static let flags: [any FlagDescription] = [
    CommonFlags.topic, cert, SendCommand.certKey, SendCommand.certPassword, timeout, CommonFlags.environment,
    CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard settings[SendCommand.cert] != nil || settings[SendCommand.topic] != nil else {
      throw UsageError(
        "--cert (or --topic, for the certificate issued for it) is missing", command: "feedback")
    }
    let emulator = try RunningEmulator(settings)
    let exchange = try Exchange.perform(
      sending: [], to: emulator.address("feedback"),
      serverName: SendCommand.serverName("feedback", settings, emulator),
      context: try SendCommand.certificateContext(settings, emulator, maximum: .tls12),
      limit: settings[timeout]?.nanoseconds)
    var bytes = exchange.received
    for tuple in FeedbackTuple.take(from: &bytes) { try Output.line(json(tuple).text) }
    guard bytes.isEmpty else {
      throw CommandFailure("the list ended within a tuple: \(Hex.encode(bytes)) was left")
    }
    return .success
  }

  private static func json(_ tuple: FeedbackTuple) -> JSONValue {
    [
      "timestamp": tuple.timestamp.json,
      "time": .string(Timestamp(seconds: Int64(tuple.timestamp)).rfc3339),
      "token": .string(Hex.encode(tuple.token)),
    ]
  }
}
