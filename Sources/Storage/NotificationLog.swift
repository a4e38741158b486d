import Basics
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
struct NotificationLog: ~Copyable {
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
  /// With consecutive numbers.
  private var segments = FIFO<Segment>()
  private var nextNumber: Int64 = 1
  /// The segment whose entry of a registration counts; 0 for none.
  private var segmentOfRow: [Int64] = []
  private(set) var entryCount = 0
  private(set) var liveCount = 0
  /// The open segment; its memory is kept from turn to turn. Only one notification larger than a whole segment makes it grow.
  private var buffer = ByteBuffer(capacity: Self.segmentByteCount)
  /// The entry that is being written, up to its bytes.
  private var words: [UInt64] = []

  init(_ database: Database) throws(StoreError) {
    let insert = try Statement(database, "INSERT INTO message_log VALUES (?, ?, ?)", isChecked: true)
    let delete = try Statement(database, "DELETE FROM message_log WHERE segment <= ?")
    selectAll = try Statement(database, "SELECT * FROM message_log ORDER BY segment", isChecked: true)
    (self.insert, self.delete) = (insert, delete)
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
    let size = notification.map { NotificationEntry.count($0) } ?? NotificationEntry.headerCount
    try makeRoom(size)
    let last = segments.count - 1
    segments[last].rows.append(row)
    entryCount += 1
    guard let notification else { return NotificationEntry.writeRemoval(of: row, to: &buffer) }
    NotificationEntry.write(notification, to: &buffer, &words)
    segments[last].live += 1
    liveCount += 1
    segmentOfRow[row.index] = segments[last].number
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

  private func position(_ number: Int64) -> Int { Int(number - segments[0].number) }

  /// Has an open segment with room for an entry, or an empty one.
  private mutating func makeRoom(_ count: Int) throws(StoreError) {
    if buffer.count + count > Self.segmentByteCount { try close() }
    guard buffer.count == 0 else { return }
    segments.append(Segment(number: nextNumber))
    nextNumber += 1
  }

  /// Writes the open segment, if there is one.
  private mutating func close() throws(StoreError) {
    guard buffer.count > 0 else { return }
    insert.bind(1, segments[segments.count - 1].number)
    try insert.run(lending: buffer.span, at: 2)
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
    return segments.count > 1 ? segments[0] : nil
  }

  private mutating func deleteOutdated() throws(StoreError) {
    dropOutdated()
    guard let oldest = segments.first?.number, oldest > deletedBelow else { return }
    deletedBelow = oldest
    delete.bind(1, oldest - 1)
    try delete.run()
  }

  /// Segments below this number have been deleted.
  private var deletedBelow: Int64 = 0

  /// Forgets the oldest segments while none of their entries count. The newest stays: it may be open.
  private mutating func dropOutdated() {
    while segments.count > 1, segments[0].live == 0 {
      entryCount -= segments.removeFirst(leaving: Segment(number: 0)).rows.count
    }
  }

  /// Inside a transaction.
  mutating func removeAll() throws(StoreError) {
    delete.bind(1, Int64.max)
    try delete.run()
    reset()
  }

  private mutating func reset() {
    (segments, nextNumber, segmentOfRow) = (FIFO(), 1, [])
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
      try Self.forEach(selectAll.bytes(1), path) { (entry) throws(StoreError) in
        let row = entry.registration
        guard let head = entry.head, segmentOfRow[row.index] == number else { return }
        broker.deliveries.restore(StoredNotification(registration: row, head: head, content: entry.content))
      }
    }
  }

  /// Notes which segment counts for each registration.
  private mutating func index(_ number: Int64, _ bytes: [UInt8], _ path: String) throws(StoreError) {
    if segments.isEmpty {
      (nextNumber, deletedBelow) = (number, number)
    }
    guard number == nextNumber, number > 0, number <= CountedNumber.limit else { throw Self.damaged(path) }
    nextNumber += 1
    var segment = Segment(number: number)
    segments.append(segment)
    try Self.forEach(bytes, path) { (entry) throws(StoreError) in
      let row = entry.registration.index
      guard row < segmentOfRow.count else { throw Self.damaged(path) }
      _ = release(entry.registration)
      segment.rows.append(entry.registration)
      guard entry.head != nil else { return }
      segmentOfRow[row] = number
      segments[segments.count - 1].live += 1
      liveCount += 1
    }
    entryCount += segment.rows.count
    segments[segments.count - 1].rows = segment.rows
  }

  private static func forEach(
    _ bytes: [UInt8], _ path: String, _ body: (NotificationEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    var offset = 0
    while offset < bytes.count {
      guard let entry = NotificationEntry.read(bytes.span, &offset) else { throw Self.damaged(path) }
      try body(entry)
    }
  }

  private static func damaged(_ path: String) -> StoreError {
    StoreError(
      code: .damaged, sentence: "the store \(path) is damaged: its message log does not fit together")
  }
}

/// One change of a stored notification, as it lies in the log. Little-endian, all counts in bytes:
///
///     0 registration u32 | 4 payload count u32 | 8 id u64 | 16 received i64 | 24 expires i64
///     32 expiry u32 | 36 priority u8, with bit 7 where the provider named none | 37 push type u8, 255 for none | 38 kind u8 | 39 collapse id count u8
///     40 apns-id 16 if the kind has one | payload | collapse id
///
/// A removal is the first 40 bytes with everything but the registration and the kind zero.
///
/// Laid out by hand beside `NotificationHead.form`, as each stored push is written: by the form alone, `bench gateway` took 5 % fewer of
/// them (0.58 for 0.61 of the reference, four runs each in turns), and 10 % fewer of those that are delivered.
public struct NotificationEntry: ~Escapable {
  public static let headerCount = 40
  static let apnsIdCount = 16
  private static let noPushType = UInt8.max

  enum Kind: UInt8 { case removed = 0, kept = 1, keptWithId = 2 }

  let registration: RegistrationID
  /// nil for a removal.
  let head: NotificationHead?
  let content: NotificationContent

  @_lifetime(copy content)
  private init(_ registration: RegistrationID, _ head: NotificationHead?, _ content: NotificationContent) {
    (self.registration, self.head, self.content) = (registration, head, content)
  }

  // MARK: Writing

  /// Bytes that `notification` takes.
  @inline(__always)
  static func count(_ notification: StoredNotification) -> Int {
    headerCount + (hasId(notification) ? apnsIdCount : 0) + notification.payload.count
      + notification.content.collapseId.count
  }

  @inline(__always)
  private static func hasId(_ notification: StoredNotification) -> Bool {
    notification.head.apnsId.0 | notification.head.apnsId.1 != 0
  }

  /// Adds `notification`. What `words` held is of no use; its memory is.
  @inline(__always)
  static func write(
    _ notification: StoredNotification, to output: inout ByteBuffer, _ words: inout [UInt64]
  ) {
    let (head, isNamed) = (notification.head, hasId(notification))
    let kind = isNamed ? Kind.keptWithId : .kept
    let tail =
      UInt32(head.priority.byte(isSaid: head.saysPriority))
      | UInt32(head.pushType?.rawValue ?? noPushType) << 8 | UInt32(kind.rawValue) << 16
      | UInt32(truncatingIfNeeded: notification.content.collapseId.count) << 24
    words.removeAll(keepingCapacity: true)
    words.append(
      word(number(notification.registration), UInt32(truncatingIfNeeded: notification.payload.count)))
    words.append(head.id.littleEndian)
    words.append(UInt64(bitPattern: head.receivedAt.nanoseconds).littleEndian)
    words.append(UInt64(bitPattern: head.expiresAt.nanoseconds).littleEndian)
    words.append(word(head.expiry, tail))
    if isNamed {
      words.append(head.apnsId.0.littleEndian)
      words.append(head.apnsId.1.littleEndian)
    }
    output.append(words.span.memory)
    output.append(notification.payload)
    output.append(notification.content.collapseId)
  }

  /// Adds that the registration has no notification any more; takes `headerCount` bytes.
  static func writeRemoval(of registration: RegistrationID, to output: inout ByteBuffer) {
    output.append([word(number(registration), 0), 0, 0, 0, 0].span.memory)
  }

  private static func number(_ registration: RegistrationID) -> UInt32 {
    UInt32(bitPattern: registration.number)
  }

  /// Two numbers as they lie side by side.
  @inline(__always)
  private static func word(_ first: UInt32, _ second: UInt32) -> UInt64 {
    (UInt64(first) | UInt64(second) << 32).littleEndian
  }

  // MARK: Reading

  /// Reads the entry at `offset` and moves past it; nil if the bytes make none.
  @_lifetime(copy bytes)
  static func read(_ bytes: Span<UInt8>, _ offset: inout Int) -> NotificationEntry? {
    guard bytes.count - offset >= headerCount else { return nil }
    let entry = bytes.dropping(offset)
    let registration = RegistrationID(number: load(entry, 0))
    let payloadCount = Int(load(entry, 4) as UInt32)
    guard registration.number >= 0, let kind = Kind(rawValue: entry[38]) else { return nil }
    let hasId = kind == .keptWithId
    let start = headerCount + (hasId ? apnsIdCount : 0)
    let end = start + payloadCount + Int(entry[39])
    guard entry.count >= end else { return nil }
    offset += end
    guard kind != .removed else {
      let nothing = NotificationContent(.none)
      return payloadCount == 0
        ? NotificationEntry(registration, nil, nothing) : nil
    }
    guard let head = readHead(entry, hasId: hasId) else { return nil }
    let bytes = entry.extracting(start..<end)
    let content = NotificationContent(
      bytes.prefix(payloadCount), collapseId: bytes.dropping(payloadCount))
    return NotificationEntry(registration, head, content)
  }

  private static func readHead(_ entry: Span<UInt8>, hasId: Bool) -> NotificationHead? {
    let type = PushType(rawValue: entry[37])
    guard let (priority, isSaid) = Priority.read(entry[36]), type != nil || entry[37] == noPushType
    else { return nil }
    return NotificationHead(
      id: load(entry, 8), receivedAt: Timestamp(nanoseconds: load(entry, 16)),
      expiresAt: Timestamp(nanoseconds: load(entry, 24)),
      apnsId: hasId ? (load(entry, 40), load(entry, 48)) : (0, 0), expiry: load(entry, 32),
      priority: priority, saysPriority: isSaid, pushType: type)
  }

  @inline(__always)
  private static func load<Number: FixedWidthInteger & BitwiseCopyable>(_ entry: Span<UInt8>, _ offset: Int)
    -> Number
  {
    Number(littleEndian: entry.native(Number.self, at: offset))
  }
}
