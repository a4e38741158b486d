import Broker
import Platform
import PushModel

/// The devices that have output in this turn, whatever connects them.
final class TurnDevices {
  /// A device acknowledged something in this turn.
  var madeProgress = false
  private var touched: [any TurnDevice] = []

  fileprivate func add(_ device: any TurnDevice) { touched.append(device) }

  /// Hands queued messages to the system; runs at the end of a turn, after the commit.
  func flush() {
    let list = touched
    touched.removeAll(keepingCapacity: list.count < 1 << 16)
    for device in list { device.flush() }
  }
}

/// A device's connection or stream, whose output leaves at the end of the turn.
protocol TurnDevice: AnyObject {
  func flush()
}

/// What turns and faults are to one device:
///
///     idle ─ touched: something is queued ─→ touched ─ flushed at the end of the turn ─→ idle
///                                               └─ a fault was injected by then ─→ doomed: it is reset in place of that
struct DeviceTurn {
  private let devices: TurnDevices
  private let service: FaultService
  private var isTouched = false
  /// What goes wrong here on purpose; nil until something may.
  private var faults: CourierFaults?
  /// Bytes that the system has taken and not sent, as of the last flush.
  var systemQueuedBytes = 0

  init(_ devices: TurnDevices, _ service: FaultService) { (self.devices, self.service) = (devices, service) }

  /// Something is queued that is to leave at the end of the turn.
  @inline(__always)
  mutating func touch(_ device: some TurnDevice) {
    guard !isTouched else { return }
    isTouched = true
    devices.add(device)
  }

  /// Whether a fault may be injected into its deliveries: one flag, as a rule.
  @inline(__always)
  var mayInjectFault: Bool { service.engine.injectsIntoDeliveries || faults != nil }

  /// Whether a message must not be sent.
  mutating func injectsFault(
    _ message: OutgoingNotification, on connection: any StallableConnection, from address: SocketAddress,
    _ registry: Registry
  ) -> Bool {
    let faults = faults ?? CourierFaults(service, connection, remoteAddress: address)
    self.faults = faults
    return faults.inject(
      message, topic: registry.knownTopic(hashed: message.topic).map { registry[$0].label })
  }

  /// The turn ends: answers whether the device may have its output; it is reset otherwise.
  mutating func flushes() -> Bool {
    isTouched = false
    return faults?.isDoomed != true
  }

  /// The connection is gone.
  func ended() { faults?.connectionClosed() }
}
