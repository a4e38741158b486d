/// The messages a device has not acknowledged: a queue, since devices acknowledge in order, that also finds others.
///
/// The oldest message costs one comparison. Any other is looked up in an index that is made when the first one is asked
/// for, so that a device can't make us walk through its window by acknowledging what is not there.
struct SentWindow {
  struct Entry {
    var id: UInt64
    /// Row of the token map; -1 once acknowledged out of order.
    var registration: Int32
  }

  private var entries: [Entry] = []
  private var head = 0
  /// Unacknowledged messages, as a count.
  private(set) var count = 0
  /// nil while everything is acknowledged in order, and whenever nothing is unacknowledged.
  private var index: SentIndex?

  /// Entries that memory is held for, as a count.
  var memory: Int { entries.capacity + (index?.memory ?? 0) }

  /// Entries that were looked at for acknowledgements of other than the oldest message, since all were acknowledged.
  var steps: Int { index?.steps ?? 0 }

  mutating func append(_ id: UInt64, _ registration: Int32) {
    entries.append(Entry(id: id, registration: registration))
    count += 1
  }

  /// Takes out the message with this wire id; nil if there is none (a second acknowledgement is harmless).
  @inline(__always)
  mutating func take(messageId: UInt32) -> Entry? {
    guard head < entries.count, UInt32(truncatingIfNeeded: entries[head].id) == messageId else {
      return takeOther(messageId)
    }
    let entry = entries[head]
    remove(at: head)
    return entry
  }

  @inline(never)
  private mutating func takeOther(_ messageId: UInt32) -> Entry? {
    guard count > 0 else { return nil }
    let index = index ?? SentIndex()
    self.index = index
    index.fill(from: entries, head: head, count: count)
    guard let position = index.remove(messageId), position >= head, entries[position].registration >= 0 else {
      return nil
    }
    let entry = entries[position]
    remove(at: position)
    return entry
  }

  /// All unacknowledged messages, oldest first.
  var pending: some Sequence<Entry> { entries[head...].lazy.filter { $0.registration >= 0 } }

  /// Takes out all unacknowledged messages whose row `belongs`, oldest first.
  mutating func takeAll(where belongs: (Int32) -> Bool) -> [Entry] {
    let pending = entries[head...].filter { $0.registration >= 0 }
    let taken = pending.filter { belongs($0.registration) }
    entries = pending.filter { !belongs($0.registration) }
    (head, count) = (0, entries.count)
    index = nil
    return taken
  }

  private mutating func remove(at position: Int) {
    count -= 1
    entries[position].registration = -1
    guard position == head else { return closeGaps() }
    while head < entries.count, entries[head].registration < 0 { head += 1 }
    compact()
  }

  /// A device may leave its first message unacknowledged for ever; what it did acknowledge must not pile up behind it.
  private mutating func closeGaps() {
    guard entries.count - head > 2 * count + 64 else { return }
    entries = entries[head...].filter { $0.registration >= 0 }
    head = 0
    index?.startOver()
  }

  private mutating func compact() {
    if head == entries.count {
      // A busy connection keeps its memory, one that got a single message does not.
      entries.removeAll(keepingCapacity: head > 1 && entries.capacity <= 4 * DeviceLink.windowLimit)
      head = 0
      index = nil
    } else if head > 1024, head * 2 > entries.count {
      entries.removeFirst(head)
      index?.dropFirst(head)
      head = 0
    }
  }
}
