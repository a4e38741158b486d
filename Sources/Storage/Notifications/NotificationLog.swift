import Broker
import PushModel

/// The stored notifications on disk: a log of changes in segments, one table row each, of which the newest entry of a
/// registration counts.
///
/// A table with one row a notification would be the obvious thing. But a turn changes a thousand notifications anywhere in it, each
/// of which costs SQLite a page: measured at 1,000,000 registrations 13 µs a notification, and here 0.3 µs, whatever their
/// number. Everything kept is in memory as well (the broker has it), so a log needs no index:
///
///     oldest                                              newest
///     [ segment 7 ][ segment 8 ]  …  [ segment 41 ][ segment 42: this turn ]
///        all its entries are outdated: deleted          ↑ entries of the turn, and those moved here
///        few are not: they are moved to the end ────────┘
///
/// Segments leave only at the old end, so an outdated entry or a removal can never come to count again.
struct NotificationLog {
  /// Bytes after which a segment is closed: below what malloc takes from the system again each time.
  static let segmentByteCount = 64 * 1024
  /// Entries that may be outdated besides as many as count, as a count.
  static let slack = 16_384
  /// Entries of old segments looked at in a turn, besides two for each change of the turn, as a count. Keeps a turn short
  /// when many notifications that count lie at the old end.
  static let cleaningPerTurn = 1024

  private struct Segment {
    var number: Int64
    var rows: [RegistrationID] = []
    /// Entries that count.
    var live = 0
  }

  private let insert: Statement
  private let delete: Statement
  private let selectAll: Statement
  /// Segments from `head`, with consecutive numbers.
  private var segments: [Segment] = []
  private var head = 0
  private var nextNumber: Int64 = 1
  /// The segment whose entry of a registration counts; 0 for none.
  private var segmentOfRow: [Int64] = []
  private(set) var entryCount = 0
  private(set) var liveCount = 0
  private var buffer: SegmentBuffer

  init(_ database: Database) throws(StoreError) {
    insert = try Statement(database, "INSERT INTO message_log VALUES (?, ?, ?)", isChecked: true)
    delete = try Statement(database, "DELETE FROM message_log WHERE segment <= ?")
    selectAll = try Statement(database, "SELECT * FROM message_log ORDER BY segment", isChecked: true)
    buffer = SegmentBuffer()
  }

  // MARK: Writing

  /// Writes what became of these registrations' notifications. Inside a transaction.
  mutating func write(_ rows: [RegistrationID], of broker: Broker) throws(StoreError) {
    guard !rows.isEmpty else { return }
    for row in rows { try append(row, broker) }
    try clean(budget: rows.count * 2 + Self.cleaningPerTurn, broker)
    try close()
    try deleteOutdated()
  }

  private mutating func append(_ row: RegistrationID, _ broker: Broker) throws(StoreError) {
    let notification = broker.deliveries.stored(row)
    let wasLive = release(row)
    // Nothing on disk says otherwise.
    if notification == nil, !wasLive { return }
    try makeRoom(notification.map { NotificationEntry.count($0) } ?? NotificationEntry.headerCount)
    let last = segments.count - 1
    segments[last].rows.append(row)
    entryCount += 1
    if let notification {
      buffer.append(notification)
      segments[last].live += 1
      liveCount += 1
      segmentOfRow[row.index] = segments[last].number
    } else {
      buffer.appendRemoval(of: row)
    }
  }

  /// The registration's entry so far no longer counts; answers whether there was one.
  private mutating func release(_ row: RegistrationID) -> Bool {
    let index = row.index
    if index >= segmentOfRow.count {
      segmentOfRow += [Int64](
        repeating: 0, count: max(index + 1, segmentOfRow.count * 2) - segmentOfRow.count)
    }
    let number = segmentOfRow[index]
    guard number > 0 else { return false }
    segmentOfRow[index] = 0
    segments[position(number)].live -= 1
    liveCount -= 1
    return true
  }

  private func position(_ number: Int64) -> Int { head + Int(number - segments[head].number) }

  /// Has an open segment with room for an entry, or an empty one.
  private mutating func makeRoom(_ count: Int) throws(StoreError) {
    if buffer.count + count > Self.segmentByteCount { try close() }
    guard buffer.count == 0 else { return }
    segments.append(Segment(number: nextNumber))
    nextNumber += 1
  }

  /// Writes the open segment, if there is one.
  private mutating func close() throws(StoreError) {
    guard buffer.count > 0, let open = segments.last else { return }
    insert.bind(1, open.number)
    insert.bind(2, lent: buffer.bytes)
    try insert.run()
    buffer.removeAll()
  }

  /// Moves what counts from the oldest segments to the newest while more is outdated than should be.
  private mutating func clean(budget: Int, _ broker: Broker) throws(StoreError) {
    var left = budget
    while entryCount > liveCount * 2 + Self.slack, left > 0, let rows = takeOldest() {
      left -= rows.rows.count
      for row in rows.rows where segmentOfRow[row.index] == rows.number { try append(row, broker) }
    }
  }

  /// The oldest segment that is closed; what counts in it is moved by the caller before it is deleted.
  private mutating func takeOldest() -> Segment? {
    dropOutdated()
    return segments.count - head > 1 ? segments[head] : nil
  }

  private mutating func deleteOutdated() throws(StoreError) {
    dropOutdated()
    guard let oldest = segments.last.map({ _ in segments[head].number }), oldest > deletedBelow else {
      return
    }
    deletedBelow = oldest
    delete.bind(1, oldest - 1)
    try delete.run()
  }

  /// Segments below this number have been deleted.
  private var deletedBelow: Int64 = 0

  /// Forgets the oldest segments while none of their entries count. The newest stays: it may be open.
  private mutating func dropOutdated() {
    while segments.count - head > 1, segments[head].live == 0 {
      entryCount -= segments[head].rows.count
      segments[head].rows = []
      head += 1
    }
    if head > 1024, head * 2 > segments.count {
      segments.removeFirst(head)
      head = 0
    }
  }

  /// Inside a transaction.
  mutating func removeAll() throws(StoreError) {
    delete.bind(1, Int64.max)
    try delete.run()
    reset()
  }

  private mutating func reset() {
    (segments, head, nextNumber, segmentOfRow) = ([], 0, 1, [])
    (entryCount, liveCount, deletedBelow) = (0, 0, 0)
    buffer.removeAll()
  }

  // MARK: Reading

  /// Gives the broker every notification that counts. Two passes: what counts is known only at the end.
  mutating func load(into broker: Broker, path: String) throws(StoreError) {
    reset()
    segmentOfRow = [Int64](repeating: 0, count: broker.registry.registrationCount)
    while try selectAll.step() { try index(selectAll.integer(0), selectAll.bytes(1), path) }
    while try selectAll.step() {
      let number = selectAll.integer(0)
      try Self.forEach(selectAll.bytes(1), path) { (change) throws(StoreError) in
        guard case .kept(let notification) = change, segmentOfRow[notification.registration.index] == number
        else {
          return
        }
        broker.deliveries.restore(notification)
      }
    }
  }

  /// Notes which segment counts for each registration.
  private mutating func index(_ number: Int64, _ bytes: UnsafeRawBufferPointer, _ path: String)
    throws(StoreError)
  {
    if segments.isEmpty {
      (nextNumber, deletedBelow) = (number, number)
    }
    guard number == nextNumber, number > 0, number <= CountedNumber.limit else { throw Self.damaged(path) }
    nextNumber += 1
    var segment = Segment(number: number)
    segments.append(segment)
    try Self.forEach(bytes, path) { (change) throws(StoreError) in
      let row = change.registration.index
      guard row < segmentOfRow.count else { throw Self.damaged(path) }
      _ = release(change.registration)
      segment.rows.append(change.registration)
      guard case .kept = change else { return }
      segmentOfRow[row] = number
      segments[segments.count - 1].live += 1
      liveCount += 1
    }
    entryCount += segment.rows.count
    segments[segments.count - 1].rows = segment.rows
  }

  private static func forEach(
    _ bytes: UnsafeRawBufferPointer, _ path: String,
    _ body: (NotificationEntry.Change) throws(StoreError) -> Void
  ) throws(StoreError) {
    var offset = 0
    while offset < bytes.count {
      guard let change = NotificationEntry.read(bytes, &offset) else { throw Self.damaged(path) }
      try body(change)
    }
  }

  private static func damaged(_ path: String) -> StoreError {
    StoreError(
      code: .damaged, sentence: "the store \(path) is damaged: its message log does not fit together")
  }
}
