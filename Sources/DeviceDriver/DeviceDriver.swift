import Basics
import CourierWire
import Credentials
import Platform
import PushModel
import SimulatedDevice
import Transport

/// How the devices of a process get through to the service.
package struct CourierRoute {
  let loop: EventLoop
  let context: TLSContext
  let gate: ConnectGate?
  let courier: () throws -> SocketAddress

  /// `ca` is the path of the CA that they trust; `courier` is asked for at every attempt. With a gate they wait there for their
  /// turn to connect.
  package init(
    loop: EventLoop, ca: String, policy: TLSPolicy = TLSPolicy(), gate: ConnectGate? = nil,
    courier: @escaping () throws -> SocketAddress
  ) throws {
    (self.loop, self.gate, self.courier) = (loop, gate, courier)
    context = try TLSContext.client(ca: ca, policy: policy)
  }
}

/// What a device is like, whenever it is switched on.
package struct DeviceTraits {
  let seed: UInt64
  let keepAliveNanoseconds: Int64

  /// The seed drives all chance of it; devices may share one.
  package init(seed: UInt64, keepAliveNanoseconds: Int64 = CourierLimits.keepAliveNanoseconds) {
    (self.seed, self.keepAliveNanoseconds) = (seed, keepAliveNanoseconds)
  }

  /// Of one device in one environment. Others have other nonces: devices with the same key may connect in the same millisecond, and no
  /// proof is accepted twice. They also wait for other times before they connect again.
  private func seed(of udid: UDID, in environment: Environment) -> UInt64 {
    var choices = SeededChoices(seed: seed, name: "\(udid.text) \(environment.name)")
    return choices.next()
  }

  fileprivate func device(
    _ state: DeviceState, in environment: Environment, isActivated: Bool, hasPhone: Bool
  ) -> SimulatedDevice {
    SimulatedDevice(
      state: state, isActivated: isActivated, hasPhone: hasPhone, seed: seed(of: state.udid, in: environment),
      keepAliveNanoseconds: keepAliveNanoseconds)
  }
}

/// A device in one environment: carries out on a loop what a `SimulatedDevice` wants (TLS to the courier, signatures, wake-ups). The
/// rest is its owner's, who also tells of errors; of that of an activation the device is told, and tries again later.
final class DeviceDriver: ConnectionHandler {
  let environment: Environment
  private weak var owner: DevicePhone?
  private(set) var device: SimulatedDevice
  private let traits: DeviceTraits
  private let hasPhone: Bool
  private let route: CourierRoute
  private var identity: DeviceIdentity?
  private var connection: SocketConnection?
  private var wake: LoopEvent?
  private var passage = Passage.none
  /// What the device is being told, and what it will be told next.
  private var inputs: [DeviceInput] = []

  /// Where the next connection is with the gate.
  private enum Passage {
    case none, inLine, entered
  }

  /// A device that is switched off; without an identity it has to be activated.
  init(
    _ state: DeviceState, in environment: Environment, identity: DeviceIdentity?, _ traits: DeviceTraits,
    hasPhone: Bool, _ route: CourierRoute, owner: DevicePhone
  ) {
    (self.environment, self.identity, self.route, self.owner) = (environment, identity, route, owner)
    (self.traits, self.hasPhone) = (traits, hasPhone)
    device = traits.device(state, in: environment, isActivated: identity != nil, hasPhone: hasPhone)
    wake = LoopEvent(timerOn: route.loop) { [unowned self] in
      // Who stands in line has not begun to connect.
      if passage != .inLine { tell(.timePassed) }
    }
  }

  /// Makes the device, which is switched off, another one that remembers the same.
  func renew() {
    device = traits.device(device.state, in: environment, isActivated: identity != nil, hasPhone: hasPhone)
  }

  /// A person installs an app.
  func install(_ topic: Topic, isOn: Bool) {
    if isOn { tell(.install(topic)) } else { device.add(topic) }
  }

  /// Tells the device what happened and does what it wants. What happens meanwhile waits its turn, so that actions are
  /// carried out in order.
  func tell(_ input: DeviceInput) {
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
    case .persist(let state): owner?.keep(state, of: self)
    case .emit(let event):
      if case .connected = event { leaveGate() }
      owner?.hear(of: event, from: self)
    case .orderPhone(let order): owner?.take(order)
    case .scheduleWake(let moment):
      wake?.start(afterNanoseconds: moment.nanoseconds(since: SystemClock.now()))
    }
  }

  private func activate(_ udid: UDID) {
    do {
      identity = try owner?.activate(udid) ?? identity
      if identity == nil { throw NoKeyError() }
      tell(.activated)
    } catch {
      tell(.activationFailed(reason: "\(error)"))
    }
  }

  private func connect() {
    guard let gate = route.gate else { return open() }
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
    if passage == .entered { route.gate?.leave() }
  }

  private func open() {
    do {
      connection = try TLSClient.connect(
        loop: route.loop, to: route.courier(), serverName: environment.host(of: "courier"),
        alpn: ["apns-security-v3"], context: route.context, handler: self)
    } catch {
      leaveGate()
      tell(.transportClosed(reason: "\(error)", isUnreachable: true))
    }
  }

  private func sign(_ nonce: [UInt8]) {
    do {
      guard let identity else { throw NoKeyError() }
      tell(.signed(certificate: identity.certificateDER, signature: try identity.sign(nonce: nonce)))
    } catch {
      owner?.failed(error)
    }
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

  func connectionOpened(_ connection: SocketConnection) {
    guard connection === self.connection else { return }
    tell(.transportOpened(date: Timestamp(nanoseconds: SystemClock.wallNanoseconds())))
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    if connection === self.connection { tell(.received([UInt8](bytes))) }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard connection === self.connection else { return }
    self.connection = nil
    leaveGate()
    tell(.transportClosed(reason: reason, isUnreachable: !connection.hasConnected))
  }

  private struct NoKeyError: Error, CustomStringConvertible {
    var description: String { "the device has no key" }
  }
}
