import Credentials
import Phone
import Platform
import PushModel
import SimulatedDevice

/// `device`: a simulated iPhone that activates, connects, gets tokens, receives and acknowledges.
enum DeviceCommand {
  private static let topics = CommonFlags.topic.repeatable.required
  private static let count = Flag(
    "count", ValueKind<Int>.number("N", 1...1_000_000_000), "end after N notifications")
  private static let keepAlive = Flag("keep-alive", .interval, default: "60s", "time between keep-alives")
  private static let activityType = Flag(
    "activity-type",
    ValueKind<String>(
      "NAME", expects: "1 to \(TokenContext.maximumNameByteCount) characters without spaces"
    ) {
      TokenContext.starting($0) == nil ? nil : $0
    }, "type of attributes of the apps' Live Activities: a push may start one"
  ).repeatable
  private static let seed = Flag(
    "seed", ValueKind<UInt64>.number("N", 0...UInt64.max), "drives reconnect jitter")
  static let flags: [any FlagDescription] = [
    CommonFlags.udid, topics, CommonFlags.json, count, CommonFlags.timeout, CommonFlags.environment,
    keepAlive, seed, ExplainCommand.version, ExplainCommand.appState, activityType,
    CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard let udid = settings[CommonFlags.udid] else { return .usage }
    let emulator = try RunningEmulator(settings, certs: settings[CommonFlags.certsOfEmulator])
    let files = DeviceFiles(folder: "\(emulator.certs)/devices", udid: udid)
    let device = SimulatedDevice(
      state: try files.state(), topics: settings.all(topics), isActivated: files.identity() != nil,
      hasPhone: true,
      seed: settings[seed] ?? UInt64.random(in: .min ... .max),
      keepAliveNanoseconds: settings[keepAlive]?.nanoseconds ?? 60_000_000_000)
    let runner = try DeviceRunner(
      device, emulator: emulator, files: files, environment: settings[CommonFlags.environment] ?? .sandbox,
      version: settings[ExplainCommand.version] ?? .standard,
      appState: settings[ExplainCommand.appState] ?? .suspended, activityTypes: settings.all(activityType),
      isJSON: settings.isOn(CommonFlags.json),
      count: settings[count])
    return try runner.run(limit: settings[CommonFlags.timeout]?.nanoseconds)
  }
}
