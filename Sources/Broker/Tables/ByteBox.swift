/// A reusable piece of memory for one notification, owned by the table row that holds it. Grows by powers of two, and is
/// never larger than twice the largest notification.
struct ByteBox: BitwiseCopyable {
  private var base: UnsafeMutableRawPointer?
  /// Bytes of memory, used or not.
  private(set) var capacity: UInt32 = 0
  private(set) var count: UInt32 = 0

  init() { base = nil }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: Int(count)) }

  /// Replaces the content.
  @inline(__always)
  mutating func assign(_ source: UnsafeRawBufferPointer) {
    if source.count > Int(capacity) { reallocate(source.count) }
    if let from = source.baseAddress, source.count > 0 {
      base?.copyMemory(from: from, byteCount: source.count)
    }
    count = UInt32(truncatingIfNeeded: source.count)
  }

  /// Replaces the content with two or three pieces, one after the other.
  mutating func assign(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
    _ third: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    let total = first.count + second.count + third.count
    if total > Int(capacity) { reallocate(total) }
    guard var position = base else { return }
    Self.put(first, at: &position)
    Self.put(second, at: &position)
    Self.put(third, at: &position)
    count = UInt32(truncatingIfNeeded: total)
  }

  /// Takes some bytes out, and holds no more memory than the others need.
  mutating func remove(_ part: Range<Int>) {
    let part = part.clamped(to: 0..<Int(count))
    guard !part.isEmpty else { return }
    var rest = ByteBox()
    rest.base = .allocate(byteCount: max(1, Int(count) - part.count), alignment: 16)
    rest.capacity = count - UInt32(truncatingIfNeeded: part.count)
    rest.assign(
      UnsafeRawBufferPointer(rebasing: bytes[..<part.lowerBound]),
      UnsafeRawBufferPointer(rebasing: bytes[part.upperBound...]))
    free()
    self = rest
  }

  /// Gives the memory back.
  mutating func free() {
    base?.deallocate()
    (base, capacity, count) = (nil, 0, 0)
  }

  private mutating func reallocate(_ needed: Int) {
    base?.deallocate()
    var size = 128
    while size < needed { size *= 2 }
    base = .allocate(byteCount: size, alignment: 16)
    capacity = UInt32(size)
  }

  @inline(__always)
  private static func put(_ piece: UnsafeRawBufferPointer, at position: inout UnsafeMutableRawPointer) {
    guard let source = piece.baseAddress else { return }
    position.copyMemory(from: source, byteCount: piece.count)
    position += piece.count
  }
}
