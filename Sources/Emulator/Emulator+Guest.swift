import Broker
import Console
import Faults
import PushModel

extension Emulator {
  /// The access token that there is: that of the console, or that of activation alone.
  package var accessToken: String? { consoleToken ?? activationToken }

  /// Who may have a device activated.
  var activation: PeerGroup.Activation {
    switch options.credentials.activation {
    case .open: .open
    case .token: accessToken.map { .token($0) } ?? .off
    case .off: .off
    }
  }
}

/// What a program asks of an emulator that it has as a guest. All of it on the loop's thread.
extension Emulator {
  /// What goes wrong on purpose.
  package var faultEngine: FaultEngine { faults.engine }

  /// What a person does to an app on a phone, which is made known if it is new. Answers the app's token, nil where there is
  /// none: after `remove`, or when there are too many.
  package func change(
    _ change: AppChange, _ topic: Topic, on udid: UDID, in environment: Environment
  ) -> DeviceToken? {
    let (registry, now) = (broker.registry, clock.now())
    guard let device = registry.device(udid, now: now), let topic = registry.topic(named: topic) else {
      return nil
    }
    return broker.apps.change(change, device: device, topic: topic, environment: environment, now: now)
  }

  /// Whether the phone is connected.
  package func isConnected(_ udid: UDID) -> Bool {
    guard let device = broker.registry.knownDevice(udid) else { return false }
    return broker.registry[device].isOnline
  }

  /// Whether the phone is connected and wants messages.
  package func listens(_ udid: UDID) -> Bool {
    guard let device = broker.registry.knownDevice(udid) else { return false }
    return broker.registry.session(of: device, in: options.environment)?.enabled.isEmpty == false
  }

  /// Sends a push through the checks of a provider whose certificate is for its topic; the closure gets the
  /// notification's id, late if a fault delays it; nil if the emulator ends before it has one.
  package func sendTest(_ push: TestPush, done: @escaping (UInt64?) -> Void) {
    testPushes.send(push, done: done)
  }

  /// What the clock's new time ends is ended now, not at the next look.
  package func clockWasMoved() {
    broker.deliveries.dropExpired(now: clock.now(), budget: broker.registry.registrationCount)
  }
}
