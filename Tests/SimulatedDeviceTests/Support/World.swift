import Basics
import CourierWire
import PushModel
import SimulatedDevice
import Testing

/// A device, a courier and a clock, joined in memory. Carries out what the device wants as its owner would.
final class World {
  private enum Happening {
    case input(DeviceInput)
    case bytes([UInt8])
  }

  var device: SimulatedDevice
  let courier = TestCourier()
  private(set) var now = Instant(nanoseconds: 5_000_000_000)
  /// The date, which has nothing to do with how time passes.
  var date = Timestamp(seconds: 1_700_000_000)
  private(set) var events: [DeviceEvent] = []
  /// For the phone, if it has one.
  private(set) var orders: [PhoneOrderCommand] = []
  private(set) var lastPersisted: DeviceState?
  private(set) var activations = 0
  private(set) var connects = 0
  /// How the world behaves.
  var isReachable = true
  /// Where it is not reachable, nobody takes connections.
  var isNobodyThere = false
  var activationFailure: String?
  /// Bytes arrive in pieces of this size.
  var pieceSize = Int.max
  private var wake: Instant?
  private var isTransportOpen = false
  private var happenings: [Happening] = []

  init(
    topics: [String] = ["com.example.app"], state: DeviceState? = nil, isActivated: Bool = true,
    hasPhone: Bool = false, seed: UInt64 = 1
  ) throws {
    let udid = try #require(UDID("device-1"))
    var state = state ?? DeviceState(udid: udid)
    state.add(topics.compactMap(Topic.init))
    device = SimulatedDevice(state: state, isActivated: isActivated, hasPhone: hasPhone, seed: seed)
  }

  var isConnected: Bool { device.isConnected }
  var state: DeviceState { device.state }

  /// Forgets the events so far and gives them.
  func takeEvents() -> [DeviceEvent] {
    defer { events = [] }
    return events
  }

  func give(_ input: DeviceInput) {
    happenings.append(.input(input))
    run()
  }

  /// The courier sends something of its own accord.
  func send(_ bytes: [UInt8]) {
    happenings.append(.bytes(bytes))
    run()
  }

  /// The connection breaks.
  func breakConnection(_ reason: String = "broken") {
    isTransportOpen = false
    courier.connectionLost()
    give(.transportClosed(reason: reason))
  }

  /// Lets time pass; the device is woken when it asked to be, the courier sends when it may.
  func advance(by nanoseconds: Int64) {
    let end = now.adding(nanoseconds: nanoseconds)
    while true {
      let moments = [wake, isTransportOpen ? courier.pause.end : nil].compactMap(\.self)
      guard let next = moments.filter({ $0 > now && $0 <= end }).min() else { break }
      now = next
      tick()
    }
    now = end
    tick()
  }

  /// Lets time pass until the device is woken, and answers how long that was in milliseconds.
  func advanceToWake() -> Int64 {
    guard let wake else { return 0 }
    let before = now
    advance(by: wake.nanoseconds - now.nanoseconds)
    return now.nanoseconds(since: before) / 1_000_000
  }

  func advance(seconds: Int64) { advance(by: seconds * 1_000_000_000) }

  /// Enough for the quiet time after an answer.
  func settle() { advance(by: 2 * CourierLimits.quietNanoseconds) }

  private func tick() {
    if let wake, now >= wake {
      self.wake = nil
      give(.timePassed)
    }
    if isTransportOpen { send(courier.takeOutput(at: now)) }
  }

  private func run() {
    while !happenings.isEmpty {
      switch happenings.removeFirst() {
      case .input(let input): carryOut(device.handle(input, now: now))
      case .bytes(let bytes): receive(bytes)
      }
    }
    if isTransportOpen, courier.hasHungUp { breakConnection("hung up") }
  }

  private func receive(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, isTransportOpen {
      let piece = Array(rest.prefix(pieceSize))
      rest = rest.dropFirst(pieceSize)
      carryOut(device.handle(.received(piece), now: now))
    }
  }

  private func carryOut(_ actions: [DeviceAction]) {
    for action in actions {
      switch action {
      case .activate: activate()
      case .connect: connect()
      case .sign(let nonce):
        happenings.append(.input(.signed(certificate: [0x30], signature: [1, 1] + nonce)))
      case .send(let bytes): happenings.append(.bytes(courier.receive(bytes, at: now)))
      case .disconnect:
        isTransportOpen = false
        courier.connectionLost()
      case .persist(let state): lastPersisted = state
      case .emit(let event): events.append(event)
      case .orderPhone(let order): orders.append(order)
      case .scheduleWake(let at): wake = at
      }
    }
  }

  private func activate() {
    activations += 1
    let result = activationFailure.map { DeviceInput.activationFailed(reason: $0) } ?? .activated
    happenings.append(.input(result))
  }

  private func connect() {
    connects += 1
    guard isReachable else {
      return happenings.append(
        .input(.transportClosed(reason: "connection refused", isUnreachable: isNobodyThere)))
    }
    isTransportOpen = true
    courier.accept(at: now)
    happenings.append(.input(.transportOpened(date: date)))
  }
}
