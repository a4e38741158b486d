/// Elements in the order in which they came: taking the first costs the same however many there are, which it does not with an
/// array. What was taken is let go of with the next half of the others, or at once if something is left in its place.
public struct FIFO<Element> {
  public var elements: [Element] = []
  /// Of the first that is still there.
  public var head = 0
  /// Fewer than this many that were taken are not worth moving the others, as a count.
  public static var leastMoved: Int { 32 }

  @inlinable
  public init() {}

  @inlinable
  public var count: Int { elements.count - head }
  @inlinable
  public var isEmpty: Bool { elements.count == head }
  @inlinable
  public var first: Element? { isEmpty ? nil : elements[head] }

  /// By the place behind the first, from 0; there must be so many.
  @inlinable
  public subscript(offset: Int) -> Element {
    get { elements[head + offset] }
    _modify { yield &elements[head + offset] }
  }

  @inlinable
  public mutating func append(_ element: Element) { elements.append(element) }

  /// Takes the first; there must be one.
  @inlinable
  @discardableResult
  public mutating func removeFirst() -> Element {
    let first = elements[head]
    head += 1
    if head == elements.count {
      removeAll()
    } else if head >= Self.leastMoved, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return first
  }

  /// The same, where many or large ones must not stay until the others are moved: `blank` does instead.
  @inlinable
  @discardableResult
  public mutating func removeFirst(leaving blank: Element) -> Element {
    var first = blank
    swap(&first, &elements[head])
    removeFirst()
    return first
  }

  @inlinable
  public mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }
}

extension FIFO: Sequence {
  @inlinable
  public func makeIterator() -> IndexingIterator<ArraySlice<Element>> { elements[head...].makeIterator() }
}

extension Array where Element: Hashable {
  /// Each once, in the order of their first.
  public var once: [Element] {
    guard count > 1 else { return self }
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
