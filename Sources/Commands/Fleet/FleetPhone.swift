import Credentials
import DeviceDriver
import PushModel
import SimulatedDevice

/// One phone of a fleet: tells its fleet what happens to it.
final class FleetPhone: PhoneListener {
  let device: DevicePhone
  /// The fleet owns its phones.
  private unowned let fleet: FleetRunner
  /// Whether the service knows it at the moment.
  private(set) var isOnline = false
  /// Every app of it has a token, or had one.
  private(set) var isReady = false
  /// Those of its apps when it became ready, whatever has been removed since.
  private(set) var firstTokens: [(topic: Topic, token: DeviceToken)] = []
  /// Its apps are removed as soon as they have their tokens: before, the emulator knows of none.
  private var losesApps = false
  /// It has got a notification.
  private(set) var wasReached = false

  init(_ device: DevicePhone, of fleet: FleetRunner) {
    (self.device, self.fleet) = (device, fleet)
    device.listener = self
  }

  /// A person removes its apps, now or as soon as it has them.
  func uninstall() {
    guard isReady else { return losesApps = true }
    fleet.uninstall(device.state)
  }

  func activate(_ udid: UDID) throws -> DeviceIdentity? { try fleet.site.activate(udid) }

  func keep(_ state: DeviceState, of environment: Environment) throws { try fleet.site.keep(state) }

  func phoneFailed(_ error: any Error) { fleet.failed(error) }

  func deviceTold(_ event: DeviceEvent, of environment: Environment) throws {
    switch event {
    case .connected:
      isOnline = true
      fleet.tally.connected()
    case .disconnected(let reason):
      fleet.tally.disconnected(wasOnline: isOnline, reason: reason)
      isOnline = false
    case .token, .app(_, .installed), .app(_, .reinstalled), .app(_, .updated): checkReady()
    case .app(_, .removed):
      fleet.tally.appsRemoved += 1
      checkReady()
    case .tokenRefused: fleet.tally.tokensRefused += 1
    case .notification(let notification):
      fleet.notified(notification, isFirst: !wasReached)
      wasReached = true
    case .activated, .app, .erased, .restored, .tokenEnded: break
    }
  }

  private func checkReady() {
    guard !isReady, device.state.apps.allSatisfy({ $0.token != nil }) else { return }
    isReady = true
    firstTokens = device.state.apps.compactMap { app in app.token.map { (app.topic, $0) } }
    fleet.ready()
    if losesApps { fleet.uninstall(device.state) }
  }
}
