import Basics
import Broker
import Faults
import Platform

/// The devices that have output in this turn, whatever connects them.
public final class TurnDevices {
  /// A device acknowledged something in this turn.
  public var madeProgress = false
  private var touched: [any TurnDevice] = []

  public init() {}

  fileprivate func add(_ device: any TurnDevice) { touched.append(device) }

  /// Hands queued messages to the system; runs at the end of a turn, after the commit.
  public func flush() {
    let list = touched
    touched.removeAll(keepingCapacity: list.count < 1 << 16)
    for device in list { device.flush() }
  }
}

/// A device's connection or stream, whose output leaves at the end of the turn.
public protocol TurnDevice: AnyObject {
  func flush()
}

/// What turns and faults are to one device:
///
///     idle ─ touched: something is queued ─→ touched ─ flushed at the end of the turn ─→ idle
///                                               └─ a fault was injected by then ─→ doomed: it is reset in place of that
public struct DeviceTurn {
  private let devices: TurnDevices
  private let service: FaultService
  private var isTouched = false
  /// What goes wrong here on purpose; nil until something may.
  private var faults: CourierFaults?
  /// Bytes that the system has taken and not sent, as of the last flush.
  public var systemQueuedBytes = 0

  public init(_ devices: TurnDevices, _ service: FaultService) {
    (self.devices, self.service) = (devices, service)
  }

  /// Something is queued that is to leave at the end of the turn.
  @inline(__always)
  public mutating func touch(_ device: some TurnDevice) {
    guard !isTouched else { return }
    isTouched = true
    devices.add(device)
  }

  /// Whether a fault may be injected into its deliveries: one flag, as a rule.
  @inline(__always)
  public var mayInjectFault: Bool { service.engine.injectsIntoDeliveries || faults != nil }

  /// Whether a message must not be sent.
  public mutating func injectsFault(
    _ message: OutgoingNotification, on connection: any StallableConnection, from address: SocketAddress,
    _ registry: Registry
  ) -> Bool {
    let faults = faults ?? CourierFaults(service, connection, remoteAddress: address)
    self.faults = faults
    return faults.inject(
      message, topic: registry.knownTopic(hashed: message.topic).map { registry[$0].label })
  }

  /// The turn ends: answers whether the device may have its output; it is reset otherwise.
  public mutating func flushes() -> Bool {
    isTouched = false
    return faults?.isDoomed != true
  }

  /// The connection is gone.
  public func ended() { faults?.connectionClosed() }
}

/// What goes wrong on one device connection when a message is due. Made when the first fault is injected.
///
/// *drop*: the message is not sent, and the connection ends with a TCP RST at the end of the turn, as the broker must not
/// lose a session amid handing it something. The message is kept then, before its provider hears anything
/// (`Sources/ARCHITECTURE.md#promises` 1). *stall*: nothing more leaves or is heard until the rule is switched off;
/// what is queued waits in the connection's output, which the broker stores as it does for a device that does not read.
private final class CourierFaults {
  private let service: FaultService
  private unowned let connection: any StallableConnection
  private let remoteAddress: SocketAddress
  private(set) var isDoomed = false
  private var hold: FaultHold?

  init(_ service: FaultService, _ connection: any StallableConnection, remoteAddress: SocketAddress) {
    (self.service, self.connection, self.remoteAddress) = (service, connection, remoteAddress)
  }

  /// Whether a message must not be sent.
  func inject(_ message: OutgoingNotification, topic: String?) -> Bool {
    guard !isDoomed else { return true }
    guard service.engine.injectsIntoDeliveries, !connection.isStalled else { return false }
    var point = FaultPoint(.delivery, at: .courier)
    (point.topic, point.token, point.priority) = (topic, message.token.bytes, message.head.priority)
    point.connection = remoteAddress.description
    guard let faulted = service.decide(point) else { return false }
    guard faulted.effects.courier == .stall else {
      isDoomed = true
      return true
    }
    hold = service.holds.hold(.stall, by: faulted, stalling: connection) {}
    return false
  }

  func connectionClosed() { hold?.callOff() }
}
