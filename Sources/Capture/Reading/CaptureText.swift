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

  /// Adds what `body` writes to room for `size` bytes, as many as it says; nil, and nothing added, if it says nil.
  @inline(__always)
  func extend(atMost size: Int, _ body: (UnsafeMutableRawPointer) -> Int?) -> CaptureEntry.Piece? {
    let start = count
    guard let added = buffer.append(atMost: size, body) else { return nil }
    return CaptureEntry.Piece(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: added))
  }

  func extend(_ bytes: UnsafeRawBufferPointer) -> CaptureEntry.Piece {
    let start = count
    buffer.append(bytes)
    return CaptureEntry.Piece(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: bytes.count))
  }

  /// How many frames a piece holds; nil if anything is left over.
  func count(framesIn piece: CaptureEntry.Piece) -> Int? {
    let (start, size) = (Int(piece.start), Int(piece.count))
    return unsafe FrameExtent.count(in: bytes.span.extracting(start..<start + size))
  }

  func store(_ value: UInt16, at position: Int) {
    buffer.mutableBytes.storeBytes(of: value, toByteOffset: position, as: UInt16.self)
  }
}
