/// Elements in the order in which they came: taking the first costs the same however many there are, which it does not with an
/// array. What was taken is let go of with the next half of the others, or at once if something is left in its place.
package struct FIFO<Element> {
  package var elements: [Element] = []
  /// Of the first that is still there.
  package var head = 0
  /// Fewer than this many that were taken are not worth moving the others, as a count.
  package static var leastMoved: Int { 32 }

  @inlinable
  package init() {}

  @inlinable
  package var count: Int { elements.count - head }
  @inlinable
  package var isEmpty: Bool { elements.count == head }
  @inlinable
  package var first: Element? { isEmpty ? nil : elements[head] }

  /// By the place behind the first, from 0; there must be so many.
  @inlinable
  package subscript(offset: Int) -> Element {
    get { elements[head + offset] }
    _modify { yield &elements[head + offset] }
  }

  @inlinable
  package mutating func append(_ element: Element) { elements.append(element) }

  /// Takes the first; there must be one.
  @inlinable
  @discardableResult
  package mutating func removeFirst() -> Element {
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
  package mutating func removeFirst(leaving blank: Element) -> Element {
    var first = blank
    swap(&first, &elements[head])
    removeFirst()
    return first
  }

  @inlinable
  package mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    head = 0
  }
}

extension FIFO: Sequence {
  @inlinable
  package func makeIterator() -> IndexingIterator<ArraySlice<Element>> { elements[head...].makeIterator() }
}
