import Basics

/// What was read of a capture, one piece behind the other, in memory of its own that is used again.
final class CaptureText {
  /// Grows in large steps: what is copied is touched twice, what is never reached is never touched.
  private var buffer = ByteBuffer(capacity: 1 << 16, growingBy: 8)

  var count: Int { buffer.count }
  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  func removeAll() { buffer.removeAll() }

  /// Forgets what is at the end.
  func removeLast(_ size: Int) { buffer.removeAll(from: count - size) }

  /// Forgets what is at the front; the rest moves there.
  func removeFirst(_ size: Int) { buffer.removeFirst(size) }

  /// Adds what `body` writes to room for `size` bytes. Answers what it does.
  @inline(__always)
  @discardableResult
  func extend<Answer>(atMost size: Int, _ body: (inout OutputSpan<UInt8>) -> Answer) -> Answer {
    buffer.append(atMost: size, body)
  }

  func extend(_ bytes: Span<UInt8>) -> CaptureEntry.Piece {
    let start = count
    buffer.append(bytes)
    return piece(from: start)
  }

  /// What lies behind the first `start` bytes.
  @inline(__always)
  func piece(from start: Int) -> CaptureEntry.Piece {
    CaptureEntry.Piece(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: count &- start))
  }

  /// How many frames a piece holds; nil if anything is left over.
  func count(framesIn piece: CaptureEntry.Piece) -> Int? {
    let (start, size) = (Int(piece.start), Int(piece.count))
    return unsafe FrameExtent.count(in: bytes.span.extracting(start..<start + size))
  }

  func store(_ value: UInt16, at position: Int) {
    buffer.replace(native: value, at: position)
  }
}
