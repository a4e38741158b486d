import Credentials
import Platform
import PushModel
import SimulatedDevice
import Transport

/// Whose device it is: where its certificate comes from, and what becomes of what it remembers and tells.
public protocol DeviceOwner: AnyObject {
  /// Gets it a certificate. The device is told of an error, and tries again later.
  func activate(_ udid: UDID) throws -> DeviceIdentity
  /// Keeps this for the next time.
  func keep(_ state: DeviceState) throws
  /// Something happened to the device.
  func deviceTold(_ event: DeviceEvent) throws
  /// Something happened on its phone; behind what it follows from.
  func phoneTold(_ told: [DevicePhone.Told]) throws
  /// One of the above, or the device's key, has failed.
  func deviceFailed(_ error: any Error)
}

extension DeviceOwner {
  public func phoneTold(_ told: [DevicePhone.Told]) {}
}

/// Carries out on a loop what a `SimulatedDevice` wants: TLS to the courier, signatures, wake-ups. The rest is its owner's.
public final class DeviceDriver: ConnectionHandler {
  /// To be set before the first `tell`.
  public weak var owner: (any DeviceOwner)?
  private var device: SimulatedDevice
  private let loop: EventLoop
  private let courier: () throws -> SocketAddress
  private let serverName: String
  private let context: TLSContext
  private var identity: DeviceIdentity?
  private var connection: SocketConnection?
  private var wake: LoopEvent?
  private let gate: ConnectGate?
  private var passage = Passage.none
  private let phone: DevicePhone?
  /// The phone's, of this connection; it may have another, to the other environment.
  private let line: DevicePhone.Line
  private var isFirstLine = false
  /// What the device is being told, and what it will be told next.
  private var inputs: [DeviceInput] = []

  /// Where the next connection is with the gate.
  private enum Passage {
    case none, inLine, entered
  }

  /// A device that is switched off. `courier` is asked for at every attempt; `context` knows its authority. One with a
  /// phone has to have been made to say so; one with a gate waits there for its turn to connect. Drivers for two environments may
  /// share a phone: then it is the first one's that learns of apps and tokens.
  public init(
    _ device: consuming SimulatedDevice, identity: DeviceIdentity?, phone: DevicePhone? = nil,
    loop: EventLoop, environment: Environment, context: TLSContext,
    gate: ConnectGate? = nil, courier: @escaping () throws -> SocketAddress
  ) {
    self.device = device
    self.gate = gate
    (self.identity, self.loop, self.context, self.courier) = (identity, loop, context, courier)
    (self.phone, line) = (phone, DevicePhone.Line(environment))
    serverName = environment.host(of: "courier")
    wake = LoopEvent(timerOn: loop) { [unowned self] in
      // Who stands in line has not begun to connect.
      if passage != .inLine { tell(.timePassed) }
    }
    line.onReport = { [unowned self] in tell(.phoneReported($0)) }
    line.onNetwork = { [unowned self] in tell(.listens($0)) }
    isFirstLine = phone?.add(line) ?? false
    guard isFirstLine else { return }
    phone?.onWish = { [unowned self] in tell($0) }
    phone?.onTold = { [unowned self] told in attempt { try owner?.phoneTold(told) } }
    for app in self.device.state.apps where app.topic.app.type == nil { phone?.install(app.topic) }
  }

  /// What the device remembers.
  public var state: DeviceState { device.state }
  /// Whether the service has confirmed the channels that the device listens to.
  public var isSubscribed: Bool { device.isSubscribed }

  /// Tells the device what happened and does what it wants. What happens meanwhile waits its turn, so that actions are
  /// carried out in order.
  public func tell(_ input: DeviceInput) {
    if case .stop = input { phone?.report() }
    inputs.append(input)
    guard inputs.count == 1 else { return }
    while let next = inputs.first {
      for action in device.handle(next, now: SystemClock.now()) { perform(action) }
      inputs.removeFirst()
    }
    // Holds no memory while nothing happens: there are thousands of these.
    inputs = []
  }

  private func perform(_ action: DeviceAction) {
    switch action {
    case .activate(let udid): activate(udid)
    case .connect: connect()
    case .sign(let nonce): sign(nonce)
    case .send(let bytes): connection?.send(bytes)
    case .disconnect: disconnect()
    case .persist(let state): attempt { try owner?.keep(state) }
    case .emit(let event):
      if case .connected = event { leaveGate() }
      attempt { try owner?.deviceTold(event) }
      phone?.hear(of: event, on: line, isFirst: isFirstLine)
    case .orderPhone(let order): phone?.take(order)
    case .scheduleWake(let moment):
      wake?.start(afterNanoseconds: moment.nanoseconds(since: SystemClock.now()))
    }
  }

  private func activate(_ udid: UDID) {
    do {
      identity = try owner?.activate(udid)
      tell(.activated)
    } catch {
      tell(.activationFailed(reason: "\(error)"))
    }
  }

  private func connect() {
    guard let gate else { return open() }
    passage = .inLine
    guard gate.enter(orElse: { [weak self] in self?.takeTurn() ?? false }) else { return }
    passage = .entered
    open()
  }

  private func takeTurn() -> Bool {
    guard passage == .inLine else { return false }
    passage = .entered
    tell(.transportOpening)
    open()
    return true
  }

  private func leaveGate() {
    defer { passage = .none }
    if passage == .entered { gate?.leave() }
  }

  private func open() {
    do {
      connection = try TLSClient.connect(
        loop: loop, to: courier(), serverName: serverName, alpn: ["apns-security-v3"], context: context,
        handler: self)
    } catch {
      leaveGate()
      tell(.transportClosed(reason: "\(error)", isUnreachable: true))
    }
  }

  private func sign(_ nonce: [UInt8]) {
    attempt {
      guard let identity else { throw NoKeyError() }
      tell(.signed(certificate: identity.certificateDER, signature: try identity.sign(nonce: nonce)))
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { owner?.deviceFailed(error) }
  }

  // MARK: Connection

  /// Nothing more is told of this connection.
  private func disconnect() {
    leaveGate()
    let ended = connection
    // Before the close, which may tell of the end at once.
    connection = nil
    ended?.close()
  }

  public func connectionOpened(_ connection: SocketConnection) {
    guard connection === self.connection else { return }
    tell(.transportOpened(date: Timestamp(nanoseconds: SystemClock.wallNanoseconds())))
  }

  public func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    if connection === self.connection { tell(.received(bytes)) }
  }

  public func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard connection === self.connection else { return }
    self.connection = nil
    leaveGate()
    tell(.transportClosed(reason: reason, isUnreachable: !connection.hasConnected))
  }

  private struct NoKeyError: Error, CustomStringConvertible {
    var description: String { "the device has no key" }
  }
}
