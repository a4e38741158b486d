import Platform

/// Opens client connections on a loop.
public enum TLSClient {
  /// Connects to `address`, asking for `serverName` and offering `alpn`, or without TLS if there is no context. The handler hears
  /// of success or failure.
  public static func connect(
    loop: EventLoop, to address: SocketAddress, serverName: String?, alpn: [String] = [],
    context: TLSContext?,
    handler: any ConnectionHandler
  ) throws -> SocketConnection {
    try begin(loop, try SocketCalls.connect(address), serverName, alpn, context, handler)
  }

  /// Begins TLS on a connection without, on which everything is said that there was to say; its handler, which has asked for it,
  /// hears no more.
  public static func secure(
    _ plain: SocketConnection, serverName: String?, alpn: [String] = [], context: TLSContext,
    handler: any ConnectionHandler
  ) throws -> SocketConnection {
    guard let descriptor = plain.detach() else {
      plain.abort("the peer closed the connection")
      throw SocketError(
        operation: "begin TLS with", address: plain.remoteAddress.description,
        sentence: "the peer closed the connection")
    }
    return try begin(plain.loop, descriptor, serverName, alpn, context, handler)
  }

  /// Takes the socket over.
  private static func begin(
    _ loop: EventLoop, _ descriptor: Int32, _ serverName: String?, _ alpn: [String], _ context: TLSContext?,
    _ handler: any ConnectionHandler
  ) throws -> SocketConnection {
    do {
      let layer = try SocketLayer(descriptor, context, isServer: false)
      layer.ask(serverName: serverName, alpn: alpn)
      let connection = SocketConnection(loop: loop, layer)
      connection.handler = handler
      connection.start()
      return connection
    } catch {
      SocketCalls.close(descriptor)
      throw error
    }
  }
}
