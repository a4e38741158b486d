import Basics
import CourierWire
import PushModel
import SimulatedDevice
import Testing

/// Every input in every phase.
@Suite("Phases of the simulated device")
struct PhaseTests {
  enum Phase: CaseIterable {
    case idle, activating, connecting, signing, greeting, connected, waiting, offline, stopped
  }

  private static let origin = Instant(nanoseconds: 5_000_000_000)
  private static let date = Timestamp(seconds: 1_700_000_000)
  private let later = Self.origin.adding(nanoseconds: 1_000_000)

  private static func device(in phase: Phase) throws -> SimulatedDevice {
    var state = DeviceState(udid: try #require(UDID("device-1")))
    state.add([try #require(Topic("a"))])
    var device = SimulatedDevice(state: state, isActivated: phase != .activating, seed: 1)
    guard phase != .idle else { return device }
    _ = device.handle(.start, now: origin)
    switch phase {
    case .idle, .activating, .connecting: break
    case .signing: _ = device.handle(.transportOpened(date: date), now: origin)
    case .greeting, .connected:
      _ = device.handle(.transportOpened(date: date), now: origin)
      _ = device.handle(.signed(certificate: [1], signature: [1]), now: origin)
      let answer = ConnectedResponse(status: 0, baseToken: DeviceToken(loading: 1), at: date).encoded
      if phase == .connected { _ = device.handle(.received(answer), now: origin) }
    case .waiting: _ = device.handle(.transportClosed(reason: "x"), now: origin)
    case .offline: _ = device.handle(.networkLost, now: origin)
    case .stopped: _ = device.handle(.stop, now: origin)
    }
    return device
  }

  /// The names of what each phase does; nothing where none is given. The wake-up is left out.
  private func expect(
    _ input: DeviceInput, at now: Instant? = nil, _ expected: [Phase: String],
    at location: SourceLocation = #_sourceLocation
  ) throws {
    for phase in Phase.allCases {
      var device = try Self.device(in: phase)
      let names = device.handle(input, now: now ?? later).compactMap(name).joined(separator: " ")
      #expect(names == expected[phase] ?? "", "\(phase)", sourceLocation: location)
    }
  }

  private func name(_ action: DeviceAction) -> String? {
    switch action {
    case .activate: "activate"
    case .connect: "connect"
    case .sign: "sign"
    case .send(let bytes): "send\(bytes.first ?? 0)"
    case .disconnect: "disconnect"
    case .persist: "persist"
    case .emit(let event): String(event.textLine.prefix { $0 != " " })
    case .orderPhone: "orderPhone"
    case .scheduleWake: nil
    }
  }

  @Test("start")
  func start() throws { try expect(.start, [.idle: "connect"]) }

  @Test("stop")
  func stop() throws {
    try expect(
      .stop,
      [
        .connecting: "disconnect", .signing: "disconnect", .greeting: "disconnect",
        .connected: "disconnected disconnect",
      ])
  }

  @Test("the network is lost, or found")
  func network() throws {
    try expect(
      .networkLost,
      [
        .connecting: "disconnect", .signing: "disconnect", .greeting: "disconnect",
        .connected: "disconnected disconnect",
      ])
    try expect(.networkFound, [.offline: "connect"])
  }

  @Test("a moment later nothing is due; an hour later something may be")
  func timePassed() throws {
    try expect(.timePassed, [:])
    try expect(
      .timePassed, at: Self.origin.adding(nanoseconds: 3600 * 1_000_000_000),
      [
        .connecting: "disconnect disconnected", .greeting: "disconnect disconnected", .connected: "send12",
        .waiting: "connect",
      ])
  }

  @Test("activated, or not")
  func activation() throws {
    try expect(.activated, [.activating: "activated connect"])
    try expect(.activationFailed(reason: "x"), [.activating: "disconnected"])
  }

  @Test("transport opened or closed")
  func transport() throws {
    try expect(.transportOpened(date: Self.date), [.connecting: "sign"])
    let lost = "disconnected"
    try expect(
      .transportClosed(reason: "x"), [.connecting: lost, .signing: lost, .greeting: lost, .connected: lost])
  }

  @Test("who stood in line has all the time from its turn on")
  func transportOpening() throws {
    try expect(.transportOpening, [:])
    var device = try Self.device(in: .connecting)
    let turn = Self.origin.adding(nanoseconds: 60 * 1_000_000_000)
    _ = device.handle(.transportOpening, now: turn)
    let before = device.handle(.timePassed, now: turn.adding(nanoseconds: 14 * 1_000_000_000))
    #expect(before.compactMap(name).isEmpty)
    let after = device.handle(.timePassed, now: turn.adding(nanoseconds: 15 * 1_000_000_000))
    #expect(after.compactMap(name) == ["disconnect", "disconnected"])
  }

  @Test("signed")
  func signed() throws {
    try expect(.signed(certificate: [1], signature: [1]), [.signing: "send7"])
  }

  @Test("bytes: an answer to connect, a message, noise")
  func received() throws {
    let answer = ConnectedResponse(status: 0, baseToken: DeviceToken(loading: 1), at: Self.date).encoded
    try expect(.received(answer), [.greeting: "persist connected send20"])
    let message = CourierMessage(
      token: DeviceToken(loading: 1), topic: TopicHash(try #require(Topic("a"))), payload: [1], messageId: 1)
    try expect(.received(message.encoded), [.connected: "send11 notification"])
    let noise = [UInt8](repeating: 0xff, count: 9)
    let end = "disconnect disconnected"
    try expect(.received(noise), [.greeting: end, .connected: end])
  }

  @Test("a courier that says welcome without a base token is left")
  func noBaseToken() throws {
    let answer = ConnectedResponse(status: 0, baseToken: nil, at: Self.date).encoded
    try expect(.received(answer), [.greeting: "disconnect disconnected"])
  }

  @Test("an app is installed or removed")
  func apps() throws {
    var installed = Dictionary(uniqueKeysWithValues: Phase.allCases.map { ($0, "persist app") })
    installed[.stopped] = nil
    try expect(.install(try #require(Topic("b"))), installed)
    installed[.connected] = "persist send9 app"
    try expect(.remove(try #require(Topic("a"))), installed)
  }

  @Test("every wake-up asked for too early is asked for again")
  func earlyWake() throws {
    for phase in [Phase.connecting, .greeting, .connected, .waiting] {
      var device = try Self.device(in: phase)
      let actions = device.handle(.timePassed, now: later)
      let isScheduled = actions.contains { if case .scheduleWake = $0 { true } else { false } }
      #expect(isScheduled, "\(phase)")
    }
  }
}
