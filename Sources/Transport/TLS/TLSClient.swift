import COpenSSL
import Platform

/// Opens client connections on a loop.
public enum TLSClient {
  /// Connects to `address`, asking for `serverName` and offering `alpn`. The handler hears of success or failure.
  public static func connect(
    loop: EventLoop, to address: SocketAddress, serverName: String?, alpn: [String] = [], context: TLSContext,
    handler: any ConnectionHandler
  ) throws -> TLSConnection {
    let descriptor = try openSocket(address)
    let connection: TLSConnection
    do {
      connection = try TLSConnection(loop: loop, context: context, descriptor: descriptor, isServer: false)
    } catch {
      _ = Platform.close(descriptor)
      throw error
    }
    if let serverName {
      // A server name is never an address (RFC 6066 3); a certificate may name one.
      let isAddress = SocketAddress(host: serverName, port: 0).isNumeric
      if !isAddress { _ = shim_SSL_set_server_name(connection.ssl, serverName) }
      SSL_set1_host(connection.ssl, serverName)
    }
    let offer = ALPNList.encode(alpn)
    if !offer.isEmpty { SSL_set_alpn_protos(connection.ssl, offer, UInt32(offer.count)) }
    connection.handler = handler
    connection.start()
    return connection
  }

  private static func openSocket(_ address: SocketAddress) throws -> Int32 {
    try address.withSystemAddress { family, pointer, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      guard descriptor >= 0 else { throw SocketError.last("open a socket for", address.description) }
      SocketCalls.setNoDelay(descriptor)
      guard Platform.connect(descriptor, pointer, size) == 0 || errno == EINPROGRESS else {
        let error = SocketError.last("connect to", address.description)
        _ = Platform.close(descriptor)
        throw error
      }
      return descriptor
    }
  }
}
