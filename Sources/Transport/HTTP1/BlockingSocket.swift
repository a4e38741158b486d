import Platform

/// A TCP connection whose calls wait, up to a deadline. For commands, never for the loop.
struct BlockingSocket {
  private let address: SocketAddress
  private let descriptor: Int32
  private var deadline: Int64

  /// Connects. `timeout`, in nanoseconds, also bounds everything after it until `refreshDeadline`.
  init(_ address: SocketAddress, timeout: Int64) throws {
    self.address = address
    deadline = SystemClock.monotonicNanoseconds() + min(timeout, .max / 2)
    descriptor = try address.withSystemAddress { family, pointer, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      guard descriptor >= 0 else { throw SocketError.last("open a socket for", address.description) }
      guard connect(descriptor, pointer, size) == 0 || errno == EINPROGRESS else {
        let error = SocketError.last("connect to", address.description)
        _ = Platform.close(descriptor)
        throw error
      }
      return descriptor
    }
    do { try finishConnecting() } catch {
      close()
      throw error
    }
  }

  func close() { _ = Platform.close(descriptor) }

  mutating func refreshDeadline(_ timeout: Int64) {
    deadline = SystemClock.monotonicNanoseconds() + min(timeout, .max / 2)
  }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        SocketCalls.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN || errno == EINTR {
        try wait(for: POLLOUT)
      } else {
        // A server may answer before it has read everything, so its answer is looked for all the same.
        return
      }
    }
  }

  /// Waits for bytes and lends them; false at the end of the stream.
  func receive(_ take: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    while true {
      let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        return count
      }
      if count > 0 { return true }
      if count == 0 { return false }
      guard errno == EAGAIN || errno == EINTR else {
        throw HTTP1Client.Failure(
          code: .disconnected,
          description: "\(address) broke the connection: \(SocketCalls.sentence(SocketCalls.lastError))")
      }
      try wait(for: POLLIN)
    }
  }

  private func finishConnecting() throws {
    try wait(for: POLLOUT)
    let error = SocketCalls.pendingError(descriptor)
    guard error == 0 else {
      throw SocketError(
        operation: "connect to", address: address.description, sentence: SocketCalls.sentence(error),
        code: error)
    }
    SocketCalls.setNoDelay(descriptor)
  }

  private func wait(for readiness: Int32) throws {
    let remaining = deadline - SystemClock.monotonicNanoseconds()
    var entry = pollfd(fd: descriptor, events: Int16(readiness), revents: 0)
    let milliseconds = Int32(clamping: max(0, remaining / 1_000_000))
    guard remaining > 0, poll(&entry, 1, milliseconds) != 0 else {
      throw HTTP1Client.Failure(code: .timeout, description: "\(address) did not answer in time")
    }
  }
}
