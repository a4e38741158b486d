/// A reusable piece of memory for one message, owned by the table row that holds it. Grows by powers of two, and is
/// never larger than twice the largest message.
struct ByteBox: BitwiseCopyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity: UInt32 = 0
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

  /// Replaces the content with two pieces, one after the other.
  mutating func assign(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
    let total = first.count + second.count
    if total > Int(capacity) { reallocate(total) }
    if let from = first.baseAddress { base?.copyMemory(from: from, byteCount: first.count) }
    if let from = second.baseAddress {
      (base.map { $0 + first.count })?.copyMemory(from: from, byteCount: second.count)
    }
    count = UInt32(truncatingIfNeeded: total)
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
}
