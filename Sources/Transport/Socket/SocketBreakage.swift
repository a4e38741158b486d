/// What is wrong with one connection, on purpose. Made when the first fault reaches it: others pay for a pointer.
final class SocketBreakage {
  /// Nothing is read or written.
  var isStalled = false
  /// Our side has ended, and the connection lives for as long as the peer wants.
  var waitsForPeer = false
  /// Sent on the socket past the TLS layer, as the last of this side, from `rawSent` on; nil if it ends as others do.
  var raw: [UInt8]?
  var rawSent = 0
  /// The description of the alert that answers the handshake.
  var alert: UInt8?
  /// An alert record in the clear: type 21, the version that every client takes before it has agreed on one, two bytes,
  /// level fatal (RFC 8446 5.1, 6).
  static func alertRecord(_ description: UInt8) -> [UInt8] {
    [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, description]
  }
}
