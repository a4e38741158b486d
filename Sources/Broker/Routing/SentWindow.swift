/// The messages a device has not acknowledged: a queue, since devices acknowledge in order, that also finds others.
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

  /// Entries that memory is held for, as a count.
  var memory: Int { entries.capacity }

  mutating func append(_ id: UInt64, _ registration: Int32) {
    entries.append(Entry(id: id, registration: registration))
    count += 1
  }

  /// Takes out the message with this wire id; nil if there is none (a second acknowledgement is harmless).
  mutating func take(messageId: UInt32) -> Entry? {
    var position = head
    while position < entries.count {
      let entry = entries[position]
      if UInt32(truncatingIfNeeded: entry.id) == messageId, entry.registration >= 0 {
        remove(at: position)
        return entry
      }
      position += 1
    }
    return nil
  }

  /// All unacknowledged messages, oldest first.
  var pending: some Sequence<Entry> { entries[head...].lazy.filter { $0.registration >= 0 } }

  /// Takes out all unacknowledged messages whose row `belongs`, oldest first.
  mutating func takeAll(where belongs: (Int32) -> Bool) -> [Entry] {
    let pending = entries[head...].filter { $0.registration >= 0 }
    let taken = pending.filter { belongs($0.registration) }
    entries = pending.filter { !belongs($0.registration) }
    (head, count) = (0, entries.count)
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
  }

  private mutating func compact() {
    if head == entries.count {
      // A busy connection keeps its memory, one that got a single message does not.
      entries.removeAll(keepingCapacity: head > 1 && entries.capacity <= 4 * DeviceLink.windowLimit)
      head = 0
    } else if head > 1024, head * 2 > entries.count {
      entries.removeFirst(head)
      head = 0
    }
  }
}
