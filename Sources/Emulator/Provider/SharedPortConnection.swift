import Transport

/// A connection on a port that speaks two protocols: ALPN `h2` is channel management, anything else the binary protocol
/// that had the port first (`README.md#what-is-emulated`).
final class SharedPortConnection: ConnectionHandler {
  private let makeLegacy: (SocketConnection) -> any ConnectionHandler
  private let makeChannels: (SocketConnection) -> any ConnectionHandler

  init(
    legacy: @escaping (SocketConnection) -> any ConnectionHandler,
    channels: @escaping (SocketConnection) -> any ConnectionHandler
  ) {
    (makeLegacy, makeChannels) = (legacy, channels)
  }

  /// Hands the connection over to whom its client wants.
  func connectionOpened(_ connection: SocketConnection) {
    let handler = connection.alpn == "h2" ? makeChannels(connection) : makeLegacy(connection)
    connection.handler = handler
    handler.connectionOpened(connection)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {}
  func connectionClosed(_ connection: SocketConnection, reason: String) {}
}
