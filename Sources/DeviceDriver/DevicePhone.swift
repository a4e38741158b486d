import Basics
import CourierWire
import Credentials
import Phone
import Platform
import PushModel
import SimulatedDevice
import Transport

/// Whose phone it is: where its certificate comes from, and what becomes of what it remembers and tells.
package protocol PhoneListener: AnyObject {
  /// Gets it a certificate; nil for the one that it has. The device is told of an error, and tries again later.
  func activate(_ udid: UDID) throws -> DeviceIdentity?
  /// Keeps for the next time what it remembers of an environment.
  func keep(_ state: DeviceState, of environment: Environment) throws
  /// Something happened to the device at its connection to an environment.
  func deviceTold(_ event: DeviceEvent, of environment: Environment) throws
  /// Something happened on its phone; behind what it follows from.
  func phoneTold(_ told: [DevicePhone.Told]) throws
  /// One of the above, or the device's key, has failed.
  func phoneFailed(_ error: any Error)
}

extension PhoneListener {
  package func activate(_ udid: UDID) throws -> DeviceIdentity? { nil }
  package func keep(_ state: DeviceState, of environment: Environment) throws {}
  package func phoneTold(_ told: [DevicePhone.Told]) throws {}
}

/// A simulated device on the wire, with a phone behind it or none: the one place where what comes by the wire happens on a phone, and
/// what the phone wants is told to the service.
///
///     courier ⇄ DeviceDriver ── device events ──→ ConnectedPhone ── phone events ──→ PhoneListener
///                    ↑                                  │                       └──→ reports to the emulator
///                    └──────────── requests ────────────┘
///
/// A device in two environments has two drivers, and one phone behind them. A phone lives on the clock that it is given; one without is
/// told the emulator's when it connects and at each change, takes orders, and reports what happens: at once, but no more often than
/// every 50 ms, and in answer to each order.
package final class DevicePhone {
  /// An event, and the `apns-id` of the push that it is about.
  package struct Told: Sendable {
    package let event: PhoneEvent
    package let apnsId: String?
  }

  /// To be set before it is switched on.
  package weak var listener: (any PhoneListener)?
  /// Whether it is switched on.
  package private(set) var isOn = false
  private let joined: ConnectedPhone?
  private let ownClock: (() -> Timestamp)?
  private var toldClock = PhoneClock()
  private var timer: LoopEvent?
  private var reporter: PhoneReporter?
  /// In the order in which the environments were named. Apps, further tokens and channels are settled with the first alone.
  private var drivers: [DeviceDriver] = []
  /// The one that connected last is the last.
  private var lines: [DeviceDriver] = []

  /// One that is switched off, with what it remembers of each environment that it is to be in, the first one's first. Without an
  /// identity it has to be activated. Who gives it a clock lets time pass on it, by `advance`.
  package init(
    _ states: [(Environment, DeviceState)], identity: DeviceIdentity?, _ traits: DeviceTraits,
    _ route: CourierRoute, phone: NewPhone? = nil, clock: (() -> Timestamp)? = nil
  ) {
    joined = phone.map { ConnectedPhone($0, in: states.map(\.0)) }
    ownClock = clock
    drivers = states.map {
      DeviceDriver($1, in: $0, identity: identity, traits, hasPhone: phone != nil, route, owner: self)
    }
    lines = drivers
    guard let joined else { return }
    for app in state.apps where app.topic.app.type == nil { joined.installIfMissing(app.topic) }
    if clock == nil {
      timer = LoopEvent(timerOn: route.loop) { [unowned self] in advance() }
      reporter = PhoneReporter(on: route.loop, joined) { [unowned self] in line }
    }
    tellRequests()
  }

  // MARK: The device

  package func switchOn() {
    guard !isOn else { return }
    isOn = true
    for driver in drivers { driver.renew() }
    joined?.forgetRequests()
    tellRequests()
    tell(.start)
  }

  package func switchOff() {
    reporter?.report()
    isOn = false
    tell(.stop)
  }

  /// Something happens to the device, whatever the environment.
  package func tell(_ input: DeviceInput) {
    for driver in drivers { driver.tell(input) }
  }

  /// A person puts an app on it, which asks for a token.
  package func install(_ topic: Topic) {
    // A topic of a push type is no app: its token puts the app there that it belongs to.
    if topic.app.type == nil { joined?.installIfMissing(topic) }
    first.install(topic, isOn: isOn)
    tellRequests()
  }

  private var first: DeviceDriver { drivers[0] }
  /// Reports go by it.
  private var line: DeviceDriver? { lines.last { $0.device.isConnected } }

  /// What the device remembers.
  package var state: DeviceState { first.device.state }
  /// Whether the service knows it at the moment.
  package var isConnected: Bool { first.device.isConnected }
  /// What the service has given it since it was switched on.
  package var tokens: [TokenNeed: DeviceToken] { first.device.tokens }
  /// What the service gives no token for.
  package var refusals: Set<TokenNeed> { first.device.refusals }

  /// Whether the service has given, or refused, all tokens that it was asked for, and confirmed the channels.
  package var isSettled: Bool {
    let wanted = Set(state.apps.map { TokenNeed($0.topic) } + (joined?.phone.wantedTokens ?? []))
    return isConnected && first.device.isSubscribed && joined?.isRenewing != true
      && wanted.symmetricDifference(tokens.keys).isSubset(of: refusals)
  }

  // MARK: The phone

  /// What iOS is like on it; nil for a device without a phone.
  package var phone: SimulatedPhone? { joined?.phone }

  /// By the clock that it was given, or the emulator's, or the wall clock's as long as nobody has told it that.
  package var now: Timestamp {
    ownClock?()
      ?? toldClock.now(at: SystemClock.now(), world: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
  }

  /// A person or an app does something.
  package func perform(_ order: PhoneOrder) throws(PhoneOrderError) { happened(try events(of: order)) }

  private func events(of order: PhoneOrder) throws(PhoneOrderError) -> [PhoneEvent] {
    let tokens = drivers.map { ($0.environment, $0.device.tokens) }
    return try joined?.perform(order, tokens: tokens, at: now) ?? []
  }

  /// Lets everything happen that is due.
  package func advance() {
    let events = joined?.advance(to: now) ?? []
    happened(events)
    // There may be less to see nevertheless.
    if events.isEmpty { reporter?.noteChange() }
  }

  private func startTimer() {
    guard !toldClock.isFrozen, let next = joined?.phone.nextMoment else { return timer?.cancel() ?? () }
    timer?.start(afterNanoseconds: max(1_000_000, next.nanoseconds - now.nanoseconds))
  }

  private func happened(_ events: [PhoneEvent]) {
    startTimer()
    tellRequests()
    guard let joined, !events.isEmpty else { return }
    let told = joined.told(events)
    reporter?.add(told)
    tellListener(told)
  }

  private func tellListener(_ told: [Told]) {
    if !told.isEmpty { attempt { try listener?.phoneTold(told) } }
  }

  /// What the phone wants of the service follows from what is on it.
  private func tellRequests() {
    for request in joined?.takeRequests() ?? [] {
      // Each environment has a filter of its own.
      if case .listens = request { tell(request) } else { first.tell(request) }
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { failed(error) }
  }
}

/// What its drivers tell.
extension DevicePhone {
  func activate(_ udid: UDID) throws -> DeviceIdentity? { try listener?.activate(udid) }

  func keep(_ state: DeviceState, of driver: DeviceDriver) {
    attempt { try listener?.keep(state, of: driver.environment) }
  }

  func failed(_ error: any Error) { listener?.phoneFailed(error) }

  func hear(of event: DeviceEvent, from driver: DeviceDriver) {
    attempt { try listener?.deviceTold(event, of: driver.environment) }
    guard let joined else { return }
    if case .connected = event {
      lines.removeAll { $0 === driver }
      lines.append(driver)
      reporter?.noteChange()
    }
    happened(joined.hear(of: event, from: driver.environment, at: now))
    if event.changesApps, driver === first { reporter?.noteChange() }
  }

  /// The emulator tells the time, or passes on what a person does. Nobody does to a phone with a clock of its own.
  func take(_ command: PhoneOrderCommand) {
    guard let reporter else { return }
    if let clock = command.clock {
      toldClock.set(clock, at: SystemClock.now())
      advance()
    }
    if !command.order.isEmpty { carryOut(command, reporter) }
  }

  private func carryOut(_ command: PhoneOrderCommand, _ reporter: PhoneReporter) {
    // What happened before is no answer.
    reporter.report()
    do throws(PhoneOrderError) {
      let value = JSONReader.read(command.order, maximumDepth: JSONText.maximumDepth) ?? .null
      let told = joined?.told(try events(of: PhoneOrder(value))) ?? []
      // Before the answer: who has it can rely on it.
      tellRequests()
      reporter.answer(command.number, told)
      tellListener(told)
    } catch {
      reporter.refuse(command.number, "\(error)")
    }
    startTimer()
  }
}

/// The emulator's clock as a phone knows it: told over the wire, and carried on by the wall clock's while it runs.
package struct PhoneClock {
  private var told: (clock: PhoneOrderCommand.Clock, at: Instant)?

  package init() {}

  /// Until the emulator tells it, `world` counts.
  package func now(at instant: Instant, world: Timestamp) -> Timestamp {
    guard let (clock, start) = told else { return world }
    let moment = Timestamp(nanoseconds: Int64(clamping: clock.now))
    return clock.isFrozen ? moment : moment.adding(nanoseconds: instant.nanoseconds(since: start))
  }

  package var isFrozen: Bool { told?.clock.isFrozen ?? false }

  package mutating func set(_ clock: PhoneOrderCommand.Clock, at instant: Instant) { told = (clock, instant) }
}
