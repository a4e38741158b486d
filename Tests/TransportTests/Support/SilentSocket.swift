import Platform

import Transport

/// A TCP connection without TLS.
final class SilentSocket {
  private let descriptor: Int32
  private var isOpen = true

  init(_ address: SocketAddress) throws {
    descriptor = try SocketCalls.connect(address)
  }

  deinit { close() }

  func send(_ bytes: [UInt8]) { _ = SocketCalls.send(descriptor, bytes.span) }

  func close() {
    guard isOpen else { return }
    isOpen = false
    SocketCalls.close(descriptor)
  }
}
