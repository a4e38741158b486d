import Transport

/// A connection on a port that speaks two protocols: ALPN `h2` is channel management, anything else the binary protocol
/// that had the port first (`README.md#what-is-emulated`).
final class SharedPortConnection: ConnectionHandler {
  private let makeLegacy: (TLSConnection) -> any ConnectionHandler
  private let makeChannels: (TLSConnection) -> any ConnectionHandler

  init(
    legacy: @escaping (TLSConnection) -> any ConnectionHandler,
    channels: @escaping (TLSConnection) -> any ConnectionHandler
  ) {
    (makeLegacy, makeChannels) = (legacy, channels)
  }

  /// Hands the connection over to whom its client wants.
  func connectionOpened(_ connection: TLSConnection) {
    let handler = connection.alpn == "h2" ? makeChannels(connection) : makeLegacy(connection)
    connection.handler = handler
    handler.connectionOpened(connection)
  }

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {}
  func connectionClosed(_ connection: TLSConnection, reason: String) {}
}
