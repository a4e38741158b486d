import Credentials
import DeviceDriver
import Phone
import Platform
import PushModel
import SimulatedDevice
import Transport

/// The device of a command: activation over HTTP, files, output, and when it is enough.
final class DeviceRunner: DeviceOwner {
  private let driver: DeviceDriver
  private let emulator: RunningEmulator
  private let files: DeviceFiles
  private let client: ClientLoop
  private let isJSON: Bool
  private var remaining: Int?
  private var wasConnected = false
  private var failure: (any Error)?
  private var isDone = false

  init(
    _ device: consuming SimulatedDevice, emulator: RunningEmulator, files: DeviceFiles,
    environment: Environment, version: IOSVersion, appState: AppState, activityTypes: [String], isJSON: Bool,
    count: Int?
  ) throws {
    (self.emulator, self.files, self.isJSON, remaining) = (emulator, files, isJSON, count)
    let context = try TLSContext.client(ca: try emulator.ca, policy: TLSPolicy())
    client = try ClientLoop()
    driver = DeviceDriver(
      device, identity: files.identity(),
      phone: DevicePhone(version, appState, activityTypes: activityTypes, loop: client.loop),
      loop: client.loop, environment: environment, context: context,
      courier: { try emulator.address("courier") })
    driver.owner = self
  }

  /// Runs until enough notifications came (success), it is interrupted, or time is over. The latter two are failures if
  /// notifications are still waited for, and the last one also if the device never got through to the emulator.
  func run(limit nanoseconds: Int64?) throws -> ExitStatus {
    for number in [SIGINT, SIGTERM] { client.onSignal(number) { [unowned self] in client.stop() } }
    driver.tell(.start)
    if !isDone { client.run(limit: nanoseconds) }
    driver.tell(.stop)
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

  func activate(_ udid: UDID) throws -> DeviceIdentity {
    let request = try DeviceRequest.make(udid: udid)
    let certificate = try DeviceActivation(emulator: emulator).certificate(for: udid, csrPEM: request.csrPEM)
    try files.keep(certificatePEM: certificate, keyPEM: request.keyPEM)
    return try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
  }

  func keep(_ state: DeviceState) throws { try files.keep(state) }

  func deviceTold(_ event: DeviceEvent) throws {
    try Output.line(isJSON ? event.jsonLine : event.textLine)
    if case .connected = event { wasConnected = true }
    guard case .notification = event, let left = remaining else { return }
    remaining = left - 1
    if left == 1 { finish() }
  }

  func phoneTold(_ told: [DevicePhone.Told]) throws {
    for each in told { try Output.line(isJSON ? each.jsonLine : each.textLine) }
  }

  func deviceFailed(_ error: any Error) {
    failure = failure ?? error
    finish()
  }

  private func finish() {
    isDone = true
    client.stop()
  }
}
