import Credentials
import DeviceDriver
import Emulator
import Phone
import PushModel
import SimulatedDevice
import Transport

/// A phone of a scenario: the wire and what iOS makes of it, on the emulator's own loop and clock.
final class ScenarioPhone: PhoneListener {
  let udid: UDID
  let device: DevicePhone
  private let emulator: Emulator
  /// What has happened since it was asked last.
  private(set) var events: [PhoneEvent] = []
  private(set) var failure: String?

  /// One that is switched off.
  init(
    _ udid: UDID, _ setup: PhoneSetup, _ emulator: Emulator, _ credentials: TemporaryCredentials
  ) throws {
    (self.udid, self.emulator) = (udid, emulator)
    let route = try CourierRoute(loop: emulator.loop, ca: emulator.ports.ca) {
      emulator.address("courier")
    }
    device = DevicePhone(
      [(emulator.options.environment, DeviceState(udid: udid))],
      identity: try credentials.identity(of: udid, in: emulator.certs), DeviceTraits(seed: emulator.seed),
      route,
      phone: NewPhone(), clock: { emulator.clock.now() })
    device.listener = self
    for topic in setup.apps { device.install(topic) }
    try device.perform(setup.settings)
  }

  /// What iOS is like on it.
  var phone: SimulatedPhone { device.phone ?? SimulatedPhone() }
  /// The tokens of its apps: one whose entitlement is for another environment, or none, has none that it could tell its provider.
  var tokens: [Topic: DeviceToken] {
    let own = device.tokens.filter { $0.key.context == nil && phone.isEntitled($0.key.topic.app.topic) }
    return Dictionary(uniqueKeysWithValues: own.map { ($0.key.topic, $0.value) })
  }
  /// Those that the service knows of.
  var apps: Set<Topic> { Set(device.tokens.keys.filter { $0.context == nil }.map(\.topic.app.topic)) }

  /// Whether the emulator sees it as it is: no pushes come by the connection as long as the phone has no network.
  var isAtRest: Bool {
    guard device.isOn else { return !emulator.isConnected(udid) }
    let wantsPushes = phone.settings.hasNetwork && !device.tokens.isEmpty
    return device.isSettled && emulator.listens(udid) == wantsPushes
      && device.tokens.allSatisfy { $0.value == emulator.token($0.key, of: udid) }
  }

  /// Whether a push that is kept for it is about to come.
  var isListening: Bool { device.isOn && phone.settings.hasNetwork }

  func takeEvents() -> [PhoneEvent] {
    defer { events = [] }
    return events
  }

  func deviceTold(_ event: DeviceEvent, of environment: Environment) {}
  func phoneTold(_ told: [DevicePhone.Told]) { events += told.map(\.event) }
  func phoneFailed(_ error: any Error) { failure = failure ?? "\(error)" }
}
