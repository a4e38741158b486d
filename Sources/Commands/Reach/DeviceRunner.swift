import Credentials
import DeviceDriver
import Phone
import Platform
import PushModel
import SimulatedDevice
import Transport

/// The device of a command: activation over HTTP, output, and when it is enough. A device has a connection to each environment
/// that it is to be in, as an iPhone has, and one phone behind them.
final class DeviceRunner {
  /// What everything of the device lives on.
  let client: ClientLoop
  private let emulator: RunningEmulator
  private let context: TLSContext
  private let isJSON: Bool
  private var lines: [DeviceLine] = []
  private var remaining: Int?
  private var wasConnected = false
  private var failure: (any Error)?
  private var isDone = false
  /// What an activation in this run has brought: all connections are the same device's.
  private var identity: DeviceIdentity?

  init(emulator: RunningEmulator, isJSON: Bool, count: Int?) throws {
    (self.emulator, self.isJSON, remaining) = (emulator, isJSON, count)
    context = try TLSContext.client(ca: try emulator.ca, policy: TLSPolicy())
    client = try ClientLoop()
  }

  /// Gives the device a connection to an environment.
  func add(
    _ device: consuming SimulatedDevice, _ files: DeviceFiles, _ phone: DevicePhone,
    _ environment: Environment
  ) throws {
    let driver = DeviceDriver(
      device, identity: files.identity(), phone: phone, loop: client.loop, environment: environment,
      context: context, courier: { [emulator] in try emulator.address("courier") })
    lines.append(DeviceLine(self, driver, files, environment))
  }

  /// Runs until enough notifications came (success), it is interrupted, or time is over. The latter two are failures if
  /// notifications are still waited for, and the last one also if the device never got through to the emulator.
  func run(limit nanoseconds: Int64?) throws -> ExitStatus {
    for number in [SIGINT, SIGTERM] { client.onSignal(number) { [unowned self] in client.stop() } }
    for line in lines { line.driver.tell(.start) }
    if !isDone { client.run(limit: nanoseconds) }
    for line in lines { line.driver.tell(.stop) }
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

  fileprivate func activate(_ udid: UDID, _ files: DeviceFiles) throws -> DeviceIdentity {
    if let identity { return identity }
    let request = try DeviceRequest.make(udid: udid)
    let certificate = try DeviceActivation(emulator: emulator).certificate(for: udid, csrPEM: request.csrPEM)
    try files.keep(certificatePEM: certificate, keyPEM: request.keyPEM)
    let made = try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
    identity = made
    return made
  }

  fileprivate func told(_ event: DeviceEvent, of environment: Environment) throws {
    let mark = lines.count > 1 ? "  (\(environment.name))" : ""
    try Output.line(isJSON ? event.jsonLine(of: environment) : event.textLine + mark)
    if case .connected = event { wasConnected = true }
    guard case .notification = event, let left = remaining, left > 0 else { return }
    remaining = left - 1
    if left == 1 { finish() }
  }

  fileprivate func phoneTold(_ told: [DevicePhone.Told]) throws {
    for each in told { try Output.line(isJSON ? each.jsonLine : each.textLine) }
  }

  fileprivate func failed(_ error: any Error) {
    failure = failure ?? error
    finish()
  }

  private func finish() {
    isDone = true
    client.stop()
  }
}

/// The device's connection to one environment, and what it remembers of it.
private final class DeviceLine: DeviceOwner {
  let driver: DeviceDriver
  private unowned let runner: DeviceRunner
  private let files: DeviceFiles
  private let environment: Environment

  init(_ runner: DeviceRunner, _ driver: DeviceDriver, _ files: DeviceFiles, _ environment: Environment) {
    (self.runner, self.driver, self.files, self.environment) = (runner, driver, files, environment)
    driver.owner = self
  }

  func activate(_ udid: UDID) throws -> DeviceIdentity { try runner.activate(udid, files) }
  func keep(_ state: DeviceState) throws { try files.keep(state) }
  func deviceTold(_ event: DeviceEvent) throws { try runner.told(event, of: environment) }
  func phoneTold(_ told: [DevicePhone.Told]) throws { try runner.phoneTold(told) }
  func deviceFailed(_ error: any Error) { runner.failed(error) }
}
