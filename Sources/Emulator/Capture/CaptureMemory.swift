/// Records one after the other: a head, then its bytes. Grows by doubling, and is used again.
final class CaptureMemory {
  /// Memory above this is given back once it has been emptied, in bytes.
  private static let keptCapacity = 8 << 20

  private var base: UnsafeMutableRawPointer
  private var capacity = 1 << 18
  private(set) var count = 0

  init() { base = .allocate(byteCount: capacity, alignment: 16) }
  deinit { base.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  func removeAll() {
    count = 0
    guard capacity > Self.keptCapacity else { return }
    base.deallocate()
    capacity = Self.keptCapacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  /// Adds a record; both parts together are `head.byteCount` long.
  @inline(__always)
  func append(_ head: CaptureHead, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
    let needed = CaptureHead.size + first.count + second.count + 15
    if capacity - count < needed { grow(needed) }
    (base + count).storeBytes(of: head, as: CaptureHead.self)
    count += CaptureHead.size
    put(first)
    put(second)
    // Heads lie where their words can be loaded.
    count = (count + 15) & ~15
  }

  @inline(__always)
  private func put(_ part: UnsafeRawBufferPointer) {
    guard let source = part.baseAddress else { return }
    (base + count).copyMemory(from: source, byteCount: part.count)
    count += part.count
  }

  private func grow(_ needed: Int) {
    while capacity - count < needed { capacity *= 2 }
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    fresh.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = fresh
  }
}
