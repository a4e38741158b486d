import Platform

import Transport

/// A TCP connection without TLS.
final class SilentSocket {
  private let descriptor: Int32
  private var isOpen = true

  init(_ address: SocketAddress) throws {
    descriptor = try address.withSystemAddress { family, pointer, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      _ = Platform.connect(descriptor, pointer, size)
      return descriptor
    }
  }

  deinit { close() }

  func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { SocketCalls.send(descriptor, $0) } }

  func close() {
    guard isOpen else { return }
    isOpen = false
    _ = Platform.close(descriptor)
  }
}
