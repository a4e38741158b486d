/// A growing table of plain values, addressed by index. Elements keep their place in order, not in memory.
///
/// Arrays of a class pay an exclusivity check and a reference count at each touch; the push path touches several
/// tables for every frame, so these are bare memory with a bounds check.
@frozen
@usableFromInline
struct PlainTable<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<Element>
  @usableFromInline private(set) var count = 0
  @usableFromInline var capacity: Int

  init(capacity: Int = 64) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  @usableFromInline
  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress {
      precondition(index >= 0 && index < count)
      return UnsafePointer(base + index)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      precondition(index >= 0 && index < count)
      return base + index
    }
  }

  /// Adds an element; answers its index.
  @discardableResult
  mutating func append(_ element: Element) -> Int {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count += 1
    return count - 1
  }

  mutating func removeAll() { count = 0 }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }
}
