import Basics
import Broker
import Faults
import Platform

/// What goes wrong on one device connection when a message is due. Made when the first fault is injected.
///
/// *drop*: the message is not sent, and the connection ends with a TCP RST at the end of the turn, as the broker must not
/// lose a session amid handing it something. The message is kept then, before its provider hears anything
/// (`Sources/ARCHITECTURE.md#promises` 1). *stall*: nothing more leaves or is heard until the rule is switched off;
/// what is queued waits in the connection's output, which the broker stores as it does for a device that does not read.
final class CourierFaults {
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
    var token = message.token
    let faulted = withUnsafeBytes(of: &token) { bytes in
      var point = FaultPoint(.delivery, at: .courier)
      (point.topic, point.token, point.priority) = (topic, bytes, message.head.priority)
      point.connection = remoteAddress.description
      return service.decide(point)
    }
    guard let faulted else { return false }
    guard faulted.effects.courier == .stall else {
      isDoomed = true
      return true
    }
    hold = service.holds.hold(.stall, by: faulted, stalling: connection) {}
    return false
  }

  func connectionClosed() { hold?.callOff() }
}
