import Basics

/// What was read of a capture, one piece behind the other, in memory that is used again.
struct CaptureText {
  private var bytes: [UInt8] = []

  var count: Int { bytes.count }
  var span: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span }
  }

  @_lifetime(borrow self)
  func bytes(_ piece: CaptureEntry.Piece) -> Span<UInt8> {
    bytes.span.extracting(Int(piece.start)..<Int(piece.start) + Int(piece.count))
  }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Forgets what is at the end.
  mutating func removeLast(_ size: Int) { bytes.removeLast(size) }

  /// Forgets what is at the front; the rest moves there.
  mutating func removeFirst(_ size: Int) { bytes.removeFirst(size) }

  /// Adds what `body` writes to room for `size` bytes.
  @inline(__always)
  mutating func extend(atMost size: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
    bytes.append(addingCapacity: size, initializingWith: body)
  }

  mutating func extend(_ bytes: Span<UInt8>) -> CaptureEntry.Piece {
    let start = count
    self.bytes.append(bytes)
    return piece(from: start)
  }

  /// What was added since the count was `start`.
  func piece(from start: Int) -> CaptureEntry.Piece {
    CaptureEntry.Piece(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: count - start))
  }

  /// How many frames a piece holds; nil if anything is left over.
  func count(framesIn piece: CaptureEntry.Piece) -> Int? { FrameExtent.count(in: bytes(piece)) }

  mutating func store(_ value: UInt16, at position: Int) {
    // As a `FieldBlock` has it.
    (bytes[position], bytes[position + 1]) = (UInt8(truncatingIfNeeded: value), UInt8(value >> 8))
  }
}
