import Credentials
import DeviceDriver
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
  private static let environments = Flag(
    "environment", .environments,
    "which of Apple's server names is asked for (else that of the emulator); both: a connection and tokens for each"
  )
  static let flags: [any FlagDescription] = [
    CommonFlags.udid, topics, CommonFlags.json, count, CommonFlags.timeout, environments,
    keepAlive, seed, ExplainCommand.version, ExplainCommand.appState, CommonFlags.strictPushType,
    activityType,
    CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard let udid = settings[CommonFlags.udid] else { return .usage }
    let emulator = try RunningEmulator(settings, certs: settings[CommonFlags.certsOfEmulator])
    let version = settings[ExplainCommand.version] ?? .standard
    if let remark = version.remark { Output.complain("on iOS \(version) \(remark)") }
    var phoneSettings = PhoneSettings(version)
    phoneSettings.isPushTypeStrict = settings.isOn(CommonFlags.strictPushType)
    let runner = try DeviceRunner(
      emulator, udid, settings.all(topics),
      in: settings[environments]?.environments ?? [emulator.environment()],
      DeviceTraits(
        seed: settings[seed] ?? UInt64.random(in: .min ... .max),
        keepAliveNanoseconds: settings[keepAlive]?.nanoseconds ?? 60_000_000_000),
      NewPhone(
        phoneSettings, settings[ExplainCommand.appState] ?? .suspended,
        activityTypes: settings.all(activityType)),
      on: try ClientLoop(), DeviceOutput(isJSON: settings.isOn(CommonFlags.json)), count: settings[count])
    return try runner.run(limit: settings[CommonFlags.timeout]?.nanoseconds)
  }
}
