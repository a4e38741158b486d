/// What becomes of a client that has just connected.
public enum Admission: Equatable, Sendable {
  case welcome
  /// The connection ends at once, with a TCP RST.
  case refused
  /// The handshake is answered by a TLS alert with this description (RFC 8446 6.2). Without TLS: as `refused`.
  case alerted(UInt8)
}
