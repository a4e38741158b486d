import Basics
import LegacyWire
import Transport

/// `feedback`: reads the feedback service until it ends, one JSON line a tuple.
enum FeedbackCommand {
  private static let timeout = CommonFlags.timeout.defaulting(to: "30s")
  private static let cert = Flag(
    "cert", .file, "push certificate (default with --topic: <certs>/push/<topic>.pem)")
  static let flags: [any FlagDescription] = [
    CommonFlags.topic, cert, SendCommand.certKey, SendCommand.certPassword, timeout, CommonFlags.environment,
    CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard settings[SendCommand.cert] != nil || settings[SendCommand.topic] != nil else {
      throw UsageError(
        "--cert FILE or --topic TOPIC is missing; --topic uses the push certificate issued for it",
        command: "feedback")
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
      throw CommandFailure(
        "the feedback service closed within a tuple: expected whole tuples, got \(Hex.encode(bytes)) at the end"
      )
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
