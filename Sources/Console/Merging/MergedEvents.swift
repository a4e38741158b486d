import Basics

/// What happens at all nodes, as one of them hears of it: its own events, and those that the others tell it, in one order with
/// numbers of their own. Of others as much is kept as has room.
package final class MergedEvents: EventFeed {
  /// How many events are kept, as a count: no more than a node keeps of its own, so that those are always there to be described.
  package static let capacity: UInt64 = 16_384
  /// Most bytes of what others have told.
  package static let byteLimit = 8 << 20

  private enum Entry {
    /// By its number.
    case own(UInt64)
    case other(String, [UInt8])

    var byteCount: Int { if case .other(_, let data) = self { data.count } else { 0 } }
  }

  private let own: OwnEvents
  /// From the first number on; none until somebody watches.
  private var entries = FIFO<Entry>()
  private var isOn = false
  private var first: UInt64 = 1
  private var byteCount = 0
  /// Of its own events, the first that is not among the entries.
  private var nextOwn: UInt64 = 1

  package init(_ own: OwnEvents) { self.own = own }

  package func turnOn() {
    own.turnOn()
    isOn = true
  }

  package var firstNumber: UInt64 {
    takeOwn()
    return first
  }

  package var nextNumber: UInt64 { firstNumber + UInt64(entries.count) }

  package func describe(_ number: UInt64) -> (String, JSONValue)? {
    guard number >= first, number < first + UInt64(entries.count) else { return nil }
    switch entries[Int(number - first)] {
    case .own(let number): return own.describe(number)
    case .other(let name, let data): return (name, .verbatim(data))
    }
  }

  /// Another node tells of something.
  package func append(_ name: String, _ data: [UInt8]) {
    guard isOn else { return }
    takeOwn()
    append(.other(name, data))
  }

  /// Events of a node are missing, nobody knows how many.
  func appendGap(_ node: String) {
    append("gap", JSONValue.object([("event", "gap"), ("missed", .null), ("node", .string(node))]).encoded)
  }

  private func takeOwn() {
    guard isOn else { return }
    if nextOwn < own.firstNumber {
      nextOwn = own.firstNumber
      append(.other("gap", Array(#"{"event":"gap","missed":null}"#.utf8)))
    }
    while nextOwn < own.nextNumber {
      append(.own(nextOwn))
      nextOwn += 1
    }
  }

  private func append(_ entry: Entry) {
    entries.append(entry)
    byteCount += entry.byteCount
    while UInt64(entries.count) > Self.capacity || byteCount > Self.byteLimit {
      byteCount -= entries.removeFirst(leaving: .own(0)).byteCount
      first += 1
    }
  }
}
