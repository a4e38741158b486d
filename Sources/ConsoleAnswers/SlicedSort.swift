/// Sorts bit by bit, by merging ever longer runs. Equal elements keep their order.
package final class SlicedSort<Element> {
  /// Elements moved for one unit of a slice.
  private static var movesPerUnit: Int { 8 }

  /// In order when `step` has said that there is no more to do.
  package private(set) var elements: [Element]
  private var merged: [Element] = []
  private let precedes: (Element, Element) -> Bool
  /// Length of the runs that are in order.
  private var width = 1
  /// Where the pair of runs begins that is being merged, and what comes next of its first and its second run.
  private var start = 0
  private var first = 0
  private var second: Int

  package init(_ elements: [Element], by precedes: @escaping (Element, Element) -> Bool) {
    (self.elements, self.precedes) = (elements, precedes)
    second = min(1, elements.count)
  }

  /// Does a little; whether there is more to do.
  package func step(_ slice: inout Slice) -> Bool {
    slice.spend(Slice.look)
    for _ in 0..<Self.movesPerUnit where width < elements.count { move() }
    return width < elements.count
  }

  private func move() {
    let (middle, end) = (min(start + width, elements.count), min(start + 2 * width, elements.count))
    if first < middle, second >= end || !precedes(elements[second], elements[first]) {
      merged.append(elements[first])
      first += 1
    } else {
      merged.append(elements[second])
      second += 1
    }
    if merged.count == end { beginPair(at: end) }
  }

  private func beginPair(at end: Int) {
    start = end
    if end == elements.count {
      (elements, merged) = (merged, [])
      (width, start) = (2 * width, 0)
    }
    (first, second) = (start, min(start + width, elements.count))
  }
}

extension GrowingDocument.Member {
  /// A list in an order that is made before its first element is written.
  package static func sorted<Value>(
    _ name: String, _ values: [Value], by precedes: @escaping (Value, Value) -> Bool,
    _ make: @escaping (Value) -> GrowingDocument.Element
  ) -> GrowingDocument.Member {
    let sort = SlicedSort(values, by: precedes)
    var next = 0
    return .list(name) { slice in
      if sort.step(&slice) { return .nothing }
      guard next < sort.elements.count else { return .end }
      next += 1
      return make(sort.elements[next - 1])
    }
  }
}
