import Credentials
import DeviceDriver
import Phone
import Platform
import PushModel
import SimulatedDevice
import Transport

/// The device of a command: activation over HTTP, output, and when it is enough. A device has a connection to each environment
/// that it is to be in, as an iPhone has, and one phone behind them.
final class DeviceRunner: PhoneListener {
  private let emulator: RunningEmulator
  private let client: ClientLoop
  let device: DevicePhone
  /// The first has key and certificate, which are the device's.
  private let files: [Environment: DeviceFiles]
  /// Each event is a line: JSON for scripts, or words for people.
  private let isJSON: Bool
  private let write: (String) throws -> Void
  private var remaining: Int?
  private var wasConnected = false
  private var failure: (any Error)?
  private var isDone = false
  /// What an activation in this run has brought: all connections are the same device's.
  private var identity: DeviceIdentity?

  /// One with these topics besides the apps that it remembers.
  init(
    _ emulator: RunningEmulator, _ udid: UDID, _ topics: [Topic], in environments: [Environment],
    _ traits: DeviceTraits, _ phone: NewPhone, on client: ClientLoop, isJSON: Bool, count: Int?,
    write: @escaping (String) throws -> Void = { try Output.line($0) }
  ) throws {
    (self.emulator, self.client, remaining) = (emulator, client, count)
    (self.isJSON, self.write) = (isJSON, write)
    let folder = "\(emulator.certs)/devices"
    let files = environments.enumerated().map { index, environment in
      // The second has a state of its own.
      DeviceFiles(folder: folder, udid: udid, stateName: index == 0 ? nil : environment.name)
    }
    let states = try files.map { files in
      var state = try files.state()
      state.add(topics)
      return state
    }
    self.files = Dictionary(uniqueKeysWithValues: zip(environments, files))
    device = DevicePhone(
      Array(zip(environments, states)), identity: files.first?.identity(), traits,
      try CourierRoute(loop: client.loop, ca: try emulator.ca) { try emulator.address("courier") },
      phone: phone)
    device.listener = self
  }

  /// Runs until enough notifications came (success), it is interrupted, or time is over. The latter two are failures if
  /// notifications are still waited for, and the last one also if the device never got through to the emulator.
  func run(limit nanoseconds: Int64?) throws -> ExitStatus {
    client.stop(at: .interrupt, .terminate)
    device.switchOn()
    if !isDone { client.run(limit: nanoseconds) }
    device.switchOff()
    client.flush()
    if let failure { throw failure }
    if client.hasTimedOut { try checkTimeout() }
    return remaining ?? 0 > 0 ? .failure : .success
  }

  private func checkTimeout() throws {
    guard wasConnected else { throw CommandFailure("timed out before the device was connected") }
    guard let remaining, remaining > 0 else { return }
    throw CommandFailure("timed out: \(remaining) notification\(remaining == 1 ? "" : "s") did not come")
  }

  // MARK: What its connections tell

  func activate(_ udid: UDID) throws -> DeviceIdentity? {
    if let identity { return identity }
    let request = try DeviceRequest.make(udid: udid)
    let certificate = try DeviceActivation(emulator: emulator).certificate(for: udid, csrPEM: request.csrPEM)
    try files.values.first?.keep(certificatePEM: certificate, keyPEM: request.keyPEM)
    identity = try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
    return identity
  }

  func keep(_ state: DeviceState, of environment: Environment) throws { try files[environment]?.keep(state) }

  func deviceTold(_ event: DeviceEvent, of environment: Environment) throws {
    let mark = files.count > 1 ? "  (\(environment.name))" : ""
    try write(isJSON ? event.jsonLine(of: environment) : event.textLine + mark)
    if case .connected = event { wasConnected = true }
    guard case .notification = event, let left = remaining, left > 0 else { return }
    remaining = left - 1
    if left == 1 { finish() }
  }

  func phoneTold(_ told: [DevicePhone.Told]) throws {
    for each in told { try write(isJSON ? each.jsonLine : each.textLine) }
  }

  func phoneFailed(_ error: any Error) {
    failure = failure ?? error
    finish()
  }

  private func finish() {
    isDone = true
    client.stop()
  }
}

/// `device`: a simulated iPhone that activates, connects, gets tokens, receives and acknowledges.
enum DeviceCommand {
  private static let topics = CommonFlags.topic.repeatable.required
  private static let count = Flag(
    "count", ValueKind<Int>.number("N", 1...1_000_000_000), "end after N notifications")
  static let keepAlive = Flag("keep-alive", .interval, default: "60s", "time between keep-alives")
  private static let activityType = Flag(
    "activity-type",
    ValueKind<String>(
      "NAME", expects: "1 to \(TokenContext.maximumNameByteCount) characters without spaces"
    ) {
      TokenContext.starting($0) == nil ? nil : $0
    }, "type of attributes of a Live Activity that a push may start"
  ).repeatable
  private static let seed = Flag(
    "seed", ValueKind<UInt64>.number("N", 0...UInt64.max), "seed of the jitter of reconnects")
  private static let environments = Flag(
    "environment", .environments,
    "environment (default: the emulator's); both: a connection and tokens for each"
  )
  static let flags: [any FlagDescription] = [
    CommonFlags.udid, topics, CommonFlags.json, count, CommonFlags.timeout, environments,
    keepAlive, seed, ExplainCommand.version, ExplainCommand.appState, CommonFlags.strictPushType,
    activityType,
    CommonFlags.access, CommonFlags.certsOfEmulator, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard let udid = settings[CommonFlags.udid] else { return .usage }
    let emulator = try RunningEmulator(settings)
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
      on: try ClientLoop(), isJSON: settings.isOn(CommonFlags.json), count: settings[count])
    return try runner.run(limit: settings[CommonFlags.timeout]?.nanoseconds)
  }
}
