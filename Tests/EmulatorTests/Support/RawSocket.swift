import CLibrary
import Platform
import Testing

/// A TCP connection without TLS, for peers that misbehave.
final class RawSocket {
  private let descriptor: Int32
  /// Whether nobody listens there.
  let isRefused: Bool

  init(_ address: SocketAddress) throws {
    do { descriptor = try SocketCalls.connect(address) } catch let error as SocketError
      where error.code == ECONNREFUSED
    {
      (descriptor, isRefused) = (-1, true)
      return
    }
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    try #require(poll(&entry, 1, 5000) == 1)
    isRefused = SocketCalls.pendingError(descriptor) == ECONNREFUSED
  }

  deinit { SocketCalls.close(descriptor) }

  func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    _ = bytes.withUnsafeBytes { SocketCalls.send(descriptor, $0) }
  }

  /// What is there, without waiting; nothing after the end or a reset.
  func read() -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Adds what has come; answers whether the stream has ended.
  func receive(into bytes: inout [UInt8]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { SocketCalls.receive(descriptor, into: $0) }
      guard count > 0 else { return count == 0 || !SocketCalls.isUnready }
      bytes += buffer[..<count]
    }
  }

  func endSending() { SocketCalls.endOutput(descriptor) }
}
