/// Records one after the other: a head, then its bytes. Grows by doubling, and is used again.
final class CaptureMemory {
  private static let firstCapacity = 1 << 18
  /// After so many fillings that used less than an eighth of it, memory is given back: while traffic is heavy, getting it
  /// anew each time would cost more than all the copying.
  private static let patience = 256

  private var base: UnsafeMutableRawPointer
  private var capacity = firstCapacity
  private var slightFillings = 0
  private(set) var count = 0

  init() { base = .allocate(byteCount: capacity, alignment: 16) }
  deinit { base.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  func removeAll() {
    slightFillings = count < capacity / 8 ? slightFillings + 1 : 0
    count = 0
    guard slightFillings > Self.patience, capacity > Self.firstCapacity else { return }
    base.deallocate()
    (capacity, slightFillings) = (Self.firstCapacity, 0)
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
