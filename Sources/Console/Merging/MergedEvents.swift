import PushModel

/// What happens at all nodes, as one of them hears of it: its own events, and those that the others tell it, in one order with
/// numbers of their own. Of others as much is kept as has room.
final class MergedEvents: EventFeed {
  /// How many events are kept, as a count: no more than a node keeps of its own, so that those are always there to be described.
  static let capacity: UInt64 = 16_384
  /// Most bytes of what others have told.
  static let byteLimit = 8 << 20

  private enum Entry {
    case none
    /// By its number.
    case own(UInt64)
    case other(String, [UInt8])

    var byteCount: Int { if case .other(_, let data) = self { data.count } else { 0 } }
  }

  private let own: OwnEvents
  /// A ring by number; empty until somebody watches.
  private var entries: [Entry] = []
  private var first: UInt64 = 1
  private var next: UInt64 = 1
  private var byteCount = 0
  /// Of its own events, the first that is not among the entries.
  private var nextOwn: UInt64 = 1

  init(_ own: OwnEvents) { self.own = own }

  func turnOn() {
    own.turnOn()
    if entries.isEmpty { entries = [Entry](repeating: .none, count: Int(Self.capacity)) }
  }

  var firstNumber: UInt64 {
    takeOwn()
    return first
  }

  var nextNumber: UInt64 {
    takeOwn()
    return next
  }

  func describe(_ number: UInt64) -> (String, JSONValue)? {
    guard number >= first, number < next else { return nil }
    switch entries[slot(number)] {
    case .none: return nil
    case .own(let number): return own.describe(number)
    case .other(let name, let data): return (name, .verbatim(data))
    }
  }

  /// Another node tells of something.
  func append(_ name: String, _ data: [UInt8]) {
    guard !entries.isEmpty else { return }
    takeOwn()
    append(.other(name, data))
  }

  /// Events of a node are missing, nobody knows how many.
  func appendGap(_ node: String) {
    append("gap", JSONValue.object([("event", "gap"), ("missed", .null), ("node", .string(node))]).encoded)
  }

  private func takeOwn() {
    guard !entries.isEmpty else { return }
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
    if next - first == Self.capacity { removeFirst() }
    entries[slot(next)] = entry
    next += 1
    byteCount += entry.byteCount
    while byteCount > Self.byteLimit { removeFirst() }
  }

  private func removeFirst() {
    byteCount -= entries[slot(first)].byteCount
    entries[slot(first)] = .none
    first += 1
  }

  private func slot(_ number: UInt64) -> Int { Int(number % Self.capacity) }
}
