import Basics
import Cluster
import CourierWire
import Credentials
import Node
import Transport

/// A device's connection in a cluster until its first identity is settled: what it has said, so that another node can be told.
///
///     reading ─ an identity of a zone that is not here ─→ pending ─ it has come here ─→ taken up: goes on as any other
///                                                            ├─ its node is reached ─→ that node is told all
///                                                            └─ neither in time ─→ the connection ends
///
/// An object, so that connections that are settled, and all without a cluster, hold no more than nil.
final class DeviceArrival {
  /// Who waits.
  struct Identity {
    var device: VerifiedDevice
    var request: ConnectRequest
  }

  /// All that has been read, in bytes of the device protocol; at most `CourierLimits.bytesBeforeConnect`.
  private(set) var said: [UInt8] = []
  /// What of it comes behind the connect that is to be settled.
  private(set) var unread: [UInt8] = []
  private(set) var pending: Identity?
  /// Of the one identity that waits.
  private var stopWaiting: (() -> Void)?

  /// What is held, in bytes.
  var heldBytes: Int { said.capacity + unread.capacity }

  func heard(_ bytes: Span<UInt8>) { said.append(bytes) }

  /// An identity has to wait until its place is known. `own` is its connection, if it may be led to another node.
  func wait(
    for identity: Identity, _ relay: EdgeTunnels, _ own: SocketConnection?,
    _ settle: @escaping (EdgeTunnels.Place) -> Void
  ) {
    pending = identity
    stopWaiting = relay.place(identity.device.udid, told: own.map(EdgeDevice.init), settle)
  }

  /// The device is gone.
  func giveUp() { stopWaiting?() }

  /// What was not looked at, as an identity waits.
  func keep(_ rest: Span<UInt8>) {
    if pending != nil { unread = [UInt8](rest) }
  }
}

extension EdgeDevice {
  /// What another node is told of a device that has connected here.
  fileprivate init(_ connection: SocketConnection) {
    self.init(
      requestedName: connection.requestedName, alpn: connection.alpn, remoteAddress: connection.remoteAddress,
      certificate: connection.peerCertificate)
  }
}
