import Platform

/// Opens listening sockets.
enum ListeningSocket {
  /// Whether the last `accept` failed because this process or the system has no descriptors or memory left.
  static var isExhausted: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(SocketCalls.lastError) }

  static func open(_ address: SocketAddress, backlog: Int32) throws -> Int32 {
    try address.withSystemAddress { family, pointer, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      guard descriptor >= 0 else { throw SocketError.last("open a socket for", address.description) }
      SocketCalls.setReuseAddress(descriptor)
      guard bind(descriptor, pointer, size) == 0, listen(descriptor, backlog) == 0 else {
        let error = SocketError.last("listen on", address.description)
        _ = Platform.close(descriptor)
        throw error
      }
      return descriptor
    }
  }

  /// Ends a connection that was just accepted with a TCP RST.
  static func refuse(_ accepted: Int32) {
    SocketCalls.setResetOnClose(accepted)
    _ = Platform.close(accepted)
  }
}
