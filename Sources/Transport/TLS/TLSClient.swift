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

/// A service that ended a connection with an alert of TLS (RFC 8446 6.2), most often for the certificate.
///
/// With TLS 1.2 it comes within the handshake, with 1.3 behind it, when a client believes that it is connected: here it is
/// one thing with one wording.
package struct TLSRefusal: Error, Equatable, CustomStringConvertible {
  /// The alert as OpenSSL calls it: `unknown ca`.
  private let alert: String

  /// Reads why a connection ended; nil if it was for something else.
  package init?(_ reason: String) {
    // OpenSSL names protocol and alert: "tlsv1 alert unknown ca", "sslv3 alert handshake failure".
    guard let range = reason.firstRange(of: " alert ") else { return nil }
    alert = String(reason[range.upperBound...])
  }

  package var description: String { "the service refused the TLS connection with the alert \"\(alert)\"" }
}
