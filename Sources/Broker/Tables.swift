import CProcessor
import PushModel

/// A growing table of plain values, addressed by the ids of its rows. Elements keep their place in order, not in memory.
///
/// Arrays of a class pay an exclusivity check and a reference count at each touch; the push path touches several
/// tables for every frame, so these are bare memory with a bounds check.
@frozen
@usableFromInline
struct PlainTable<ID: RowID, Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<Element>
  @usableFromInline private(set) var count = 0
  @usableFromInline var capacity: Int

  init(capacity: Int = 64) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  @usableFromInline
  subscript(id: ID) -> Element {
    @inline(__always) unsafeAddress { address(id) }
    @inline(__always) nonmutating unsafeMutableAddress {
      precondition(contains(id))
      return base + id.index
    }
  }

  /// Where an element lies until the table changes.
  @inline(__always)
  func address(_ id: ID) -> UnsafePointer<Element> {
    precondition(contains(id))
    return UnsafePointer(base + id.index)
  }

  /// Prefetches the first and the last bytes of an element.
  @inline(__always)
  func prefetch(_ id: ID) {
    guard contains(id) else { return }
    let element = UnsafeRawPointer(base + id.index)
    CProcessor.prefetch(element)
    CProcessor.prefetch(element + MemoryLayout<Element>.size - 1)
  }

  @inline(__always)
  func contains(_ id: ID) -> Bool { id.index >= 0 && id.index < count }

  /// Every row's id, in order.
  var ids: some Sequence<ID> { ID.rows(below: count) }

  /// Adds an element; answers its id.
  @discardableResult
  mutating func append(_ element: Element) -> ID {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count += 1
    return ID(count - 1)
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
