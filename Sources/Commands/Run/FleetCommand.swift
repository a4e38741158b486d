import Basics
import Platform
import SimulatedDevice

/// `fleet`: thousands of simulated phones in one process, that activate, connect, receive, acknowledge, come and go.
enum FleetCommand {
  private static let devices = Flag("devices", ValueKind<Int>.number("N", 1...1_000_000), "how many phones")
    .required
  private static let topics = CommonFlags.topic.repeatable.required
  private static let name = Flag("name", .udid, default: "fleet", "the phones are called NAME-1, NAME-2, …")
  private static let rate = Flag(
    "rate", ValueKind<Int>.number("N", 1...1_000_000), default: "200",
    "how many phones are switched on in a second"
  )
  private static let duration = Flag("duration", .interval, "end after this time")
  private static let count = Flag(
    "count", ValueKind<Int>.number("N", 1...1_000_000_000), "end after N notifications in all")
  private static let offline = Flag(
    "offline", ValueKind<Int>.number("PERCENT", 0...100), default: "0",
    "percentage of phones that go offline and come back in each --period")
  private static let offlineFor = Flag("offline-for", .interval, default: "10s", "how long they stay offline")
  private static let period = Flag(
    "period", .interval, default: "60s",
    "length of a period; the first one begins when all phones are switched on")
  private static let uninstall = Flag(
    "uninstall", ValueKind<Int>.number("PERCENT", 0...100), default: "0",
    "percentage of phones that lose their apps in the first --period")
  private static let seed = Flag(
    "seed", ValueKind<UInt64>.number("N", 0...UInt64.max),
    "seed of which phones do what and when, and of the jitter of reconnects"
  )
  private static let tokens = Flag(
    "tokens", .file, "write token, topic and phone to this file when every phone has its tokens")
  private static let stamp = Flag(
    "stamp", .text("MEMBER"),
    "measure latency from this member of the payload: UNIX seconds or milliseconds")
  private static let keep = Flag(
    "keep", .toggle, "keep certificate, key and state of each phone for the next time")
  static let flags: [any FlagDescription] = [
    devices, topics, name, rate, duration, count, offline, offlineFor, period, uninstall, tokens, stamp, keep,
    seed, DeviceCommand.keepAlive, CommonFlags.json, CommonFlags.environment, CommonFlags.access,
    CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  /// Files that a process has open besides its phones' connections, as a count: rather too many.
  private static let otherFiles = 64

  static func run(_ settings: Settings) throws -> ExitStatus {
    let seed = settings[seed] ?? UInt64.random(in: .min ... .max)
    var plan = FleetPlan(phones: settings[devices] ?? 1, rate: settings[rate] ?? 200, seed: seed)
    plan.offlinePercent = settings[offline] ?? 0
    plan.offlineNanoseconds = settings[offlineFor]?.nanoseconds ?? plan.offlineNanoseconds
    plan.periodNanoseconds = settings[period]?.nanoseconds ?? plan.periodNanoseconds
    plan.uninstallPercent = settings[uninstall] ?? 0
    guard plan.offlinePercent == 0 || plan.offlineNanoseconds < plan.periodNanoseconds else {
      throw UsageError("--offline-for must be shorter than --period", command: "fleet")
    }
    try checkOpenFiles(plan.phones)
    let emulator = try RunningEmulator(settings)
    let site = FleetSite(
      emulator, name: settings[name]?.text ?? "fleet", topics: settings.all(topics),
      environment: emulator.environment(settings[CommonFlags.environment]),
      keepAliveNanoseconds: settings[DeviceCommand.keepAlive]?.nanoseconds ?? 60_000_000_000,
      keepsFiles: settings.isOn(keep))
    let output = FleetOutput(isJSON: settings.isOn(CommonFlags.json), tokensPath: settings[tokens])
    let runner = try FleetRunner(
      plan, site: site, output: output, count: settings[count], stamp: settings[stamp])
    return try runner.run(limit: settings[duration]?.nanoseconds)
  }

  private static func checkOpenFiles(_ phones: Int) throws {
    let wanted = phones + otherFiles
    guard let limit = SocketCalls.raiseOpenFileLimit(), limit < wanted else { return }
    throw CommandFailure(
      "\(phones) phones need \(wanted) open files, but this process may have only \(limit): raise the limit first (ulimit -Hn "
        + "\(wanted)), or start several smaller fleets, each with a --name of its own")
  }
}
