import CourierWire
import Credentials
import Platform
import PushModel
import SimulatedDevice
import Transport

/// Carries out what a `SimulatedDevice` wants: activation over HTTP, TLS to the courier, files, output.
final class DeviceRunner: ConnectionHandler {
  private var device: SimulatedDevice
  private let emulator: RunningEmulator
  private let files: DeviceFiles
  private let client: ClientLoop
  private let context: TLSContext
  private let serverName: String
  private let isJSON: Bool
  private var remaining: Int?
  private var wasConnected = false
  private var identity: DeviceIdentity?
  private var connection: TLSConnection?
  private var wake: LoopEvent?
  private var failure: (any Error)?
  private var isDone = false
  /// What the device is being told, and what it will be told next.
  private var inputs: [DeviceInput] = []

  init(
    _ device: consuming SimulatedDevice, emulator: RunningEmulator, files: DeviceFiles,
    environment: Environment,
    isJSON: Bool, count: Int?
  ) throws {
    self.device = device
    (self.emulator, self.files, self.isJSON, remaining) = (emulator, files, isJSON, count)
    serverName = environment == .production ? "courier.push.apple.com" : "courier.sandbox.push.apple.com"
    context = try TLSContext.client(ca: try emulator.ca, policy: TLSPolicy())
    client = try ClientLoop()
    identity = files.identity()
  }

  /// Runs until enough notifications came (success), it is interrupted, or time is over. The latter two are failures if
  /// notifications are still waited for, and the last one also if the device never got through to the emulator.
  func run(limit nanoseconds: Int64?) throws -> ExitStatus {
    let timer = LoopEvent(timerOn: client.loop) { [unowned self] in tell(.timePassed) }
    wake = timer
    for number in [SIGINT, SIGTERM] { client.onSignal(number) { [unowned self] in client.stop() } }
    tell(.start)
    if !isDone { client.run(limit: nanoseconds) }
    tell(.stop)
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

  /// Tells the device what happened and does what it wants. What happens meanwhile waits its turn, so that actions are
  /// carried out in order.
  private func tell(_ input: DeviceInput) {
    inputs.append(input)
    guard inputs.count == 1 else { return }
    while let next = inputs.first {
      for action in device.handle(next, now: SystemClock.now()) { perform(action) }
      inputs.removeFirst()
    }
  }

  private func perform(_ action: DeviceAction) {
    switch action {
    case .activate(let udid): activate(udid)
    case .connect: connect()
    case .sign(let nonce): sign(nonce)
    case .send(let bytes): connection?.send(bytes)
    case .disconnect: disconnect()
    case .persist(let state): attempt { try files.keep(state) }
    case .emit(let event): emit(event)
    case .scheduleWake(let moment):
      wake?.start(afterNanoseconds: moment.nanoseconds(since: SystemClock.now()))
    }
  }

  // MARK: Activation

  private func activate(_ udid: UDID) {
    do {
      let request = try DeviceRequest.make(udid: udid)
      let form = ActivationRequest.formBody(
        udid: udid, csrPEM: String(decoding: request.csrPEM, as: UTF8.self))
      let answer = try emulator.ask(
        "POST", "/deviceservices/deviceActivation?device=iPhone",
        fields: [HTTPField("content-type", "application/x-www-form-urlencoded")], body: form)
      let certificate = try answer.body.withUnsafeBytes { page throws in
        try ActivationResponse.certificatePEM(in: page)
      }
      try files.keep(certificatePEM: Array(certificate.utf8), keyPEM: request.keyPEM)
      identity = try DeviceIdentity(certificatePEM: Array(certificate.utf8), keyPEM: request.keyPEM)
      tell(.activated)
    } catch {
      tell(.activationFailed(reason: "\(error)"))
    }
  }

  // MARK: Connection

  private func connect() {
    do {
      connection = try TLSClient.connect(
        loop: client.loop, to: emulator.address("courier"), serverName: serverName,
        alpn: ["apns-security-v3"],
        context: context, handler: self)
    } catch {
      tell(.transportClosed(reason: "\(error)"))
    }
  }

  private func sign(_ nonce: [UInt8]) {
    attempt {
      guard let identity else { throw CommandFailure("the device has no key") }
      tell(.signed(certificate: identity.certificateDER, signature: try identity.sign(nonce: nonce)))
    }
  }

  /// Nothing more is told of this connection.
  private func disconnect() {
    connection?.close()
    connection = nil
  }

  func connectionOpened(_ connection: TLSConnection) {
    guard connection === self.connection else { return }
    tell(.transportOpened(date: Timestamp(nanoseconds: SystemClock.wallNanoseconds())))
  }

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    if connection === self.connection { tell(.received(bytes)) }
  }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    guard connection === self.connection else { return }
    self.connection = nil
    tell(.transportClosed(reason: reason))
  }

  // MARK: Output

  private func emit(_ event: DeviceEvent) {
    attempt { try Output.line(isJSON ? event.jsonLine : event.textLine) }
    if case .connected = event { wasConnected = true }
    guard case .notification = event, let left = remaining else { return }
    remaining = left - 1
    if left == 1 { finish() }
  }

  private func finish() {
    isDone = true
    client.stop()
  }

  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      failure = failure ?? error
      finish()
    }
  }
}
