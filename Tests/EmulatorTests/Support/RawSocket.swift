import Platform
import Testing

/// A TCP connection without TLS, for peers that misbehave.
final class RawSocket {
  private let descriptor: Int32

  init(_ address: SocketAddress) throws {
    descriptor = try address.withSystemAddress { family, pointer, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      _ = Platform.connect(descriptor, pointer, size)
      return descriptor
    }
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    try #require(poll(&entry, 1, 5000) == 1)
  }

  deinit { _ = Platform.close(descriptor) }

  func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    _ = bytes.withUnsafeBytes { SocketCalls.send(descriptor, $0) }
  }

  func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }
}
