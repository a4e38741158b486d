import Platform

/// What one connection has to write, and how it leaves: as fast as the system takes it, or in pieces on purpose.
final class HTTPWriter {
  /// What came of `write()`.
  enum Outcome {
    /// Everything has left.
    case done
    /// `onReady` is called when there is more to do.
    case waits
    /// A piece has left; `onReady` is called after so many nanoseconds.
    case pauses(Int64)
    /// The connection is broken.
    case failed
  }

  /// How an answer leaves in pieces.
  private struct Pieces {
    /// The size of one, in bytes.
    let size: Int
    /// The time between two, in nanoseconds.
    let interval: Int64
    /// Waits for the next.
    var pause: LoopEvent?
  }

  private let loop: EventLoop
  private let descriptor: Int32
  private let onReady: () -> Void
  private var buffer = OutputBuffer()
  private var writable: LoopEvent?
  /// The system can't tell when there is room.
  private var isUnwatched = false
  private var pieces: Pieces?
  private(set) var bytesWritten = 0

  /// `descriptor` stays the caller's. `onReady` says that `write()` may be called again.
  init(_ loop: EventLoop, _ descriptor: Int32, onReady: @escaping () -> Void) {
    (self.loop, self.descriptor, self.onReady) = (loop, descriptor, onReady)
    writable = LoopEvent(loop, descriptor: descriptor, .write) { [unowned self] in
      writable?.cancel()
      onReady()
    }
    writable?.onFailure = { [unowned self] in
      isUnwatched = true
      onReady()
    }
  }

  var isEmpty: Bool { buffer.isEmpty }
  /// Bytes held for what waits.
  var capacity: Int { buffer.capacity }
  /// Bytes that wait.
  var count: Int { buffer.count }

  func append(_ bytes: [UInt8]) {
    buffer.reserve(bytes.count, from: loop).copyMemory(from: bytes, byteCount: bytes.count)
    buffer.commit(bytes.count)
  }

  /// From now on until all has left, `size` bytes leave every `interval` nanoseconds.
  func leaveInPieces(_ size: Int, every interval: Int64) {
    pieces = Pieces(size: max(1, size), interval: interval)
  }

  /// Writes what the system takes, or what is due.
  func write() -> Outcome {
    if isUnwatched { return .failed }
    if let pieces { return write(pieces) }
    while !buffer.isEmpty {
      guard send(buffer.waiting) else { return refused() }
    }
    return .done
  }

  /// Throws away what waits.
  func close() {
    writable?.cancel()
    writable = nil
    pieces = nil
    buffer.release(to: loop)
  }

  private func write(_ pieces: Pieces) -> Outcome {
    guard pieces.pause == nil else { return .waits }
    if !buffer.isEmpty {
      guard send(UnsafeRawBufferPointer(rebasing: buffer.waiting.prefix(pieces.size))) else {
        return refused()
      }
    }
    guard !buffer.isEmpty else {
      self.pieces = nil
      return .done
    }
    let timer = LoopEvent(timerOn: loop) { [unowned self] in
      self.pieces?.pause = nil
      onReady()
    }
    self.pieces?.pause = timer
    timer.start(afterNanoseconds: pieces.interval)
    return .pauses(pieces.interval)
  }

  /// False if the system took nothing.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = SocketCalls.send(descriptor, bytes)
    guard count > 0 else { return false }
    bytesWritten += count
    buffer.consume(count, to: loop)
    return true
  }

  private func refused() -> Outcome {
    guard errno == EAGAIN || errno == EINTR else { return .failed }
    writable?.start()
    return .waits
  }
}
