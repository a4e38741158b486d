import Basics
import PushModel

/// The newest notification of one token: stored for the device, or handed to it and not yet acknowledged.
///
///     empty ─ accepted, device offline ─→ stored ─ device enables the topic ─→ inFlight ─ acknowledged ─→ empty
///       └──── accepted, device online ─────────────────────────────────────────┘ └─ connection ends ─→ stored
///
/// A newer one overwrites an older one in any state, which is all of the rule "one per token and topic"
/// (`Sources/ARCHITECTURE.md#promises` 2; `Documentation/provider-api.md#storage-and-delivery`).
public struct NotificationSlot {
  public enum State: UInt8, BitwiseCopyable { case empty, stored, inFlight }

  public fileprivate(set) var head = NotificationHead(
    id: 0, receivedAt: Timestamp(nanoseconds: 0), expiresAt: .never)
  public fileprivate(set) var state = State.empty
  /// Came from storage (or was held back), so that the device is told so.
  fileprivate(set) var wasStored = false
  /// Listed among the changes for the store.
  fileprivate var isDirty = false
  /// The store holds a row for this slot.
  fileprivate var isPersisted = false
  /// Listed among those that wait for room on the device's connection.
  fileprivate(set) var isWaiting = false
  /// Routes to the device; nil when it is offline or has not enabled the topic.
  @Packed fileprivate(set) var session: SessionID? = nil
  /// The payload, and the collapse id behind it.
  fileprivate var box = ByteBox()
  fileprivate var collapseIdCount: UInt8 = 0

  /// Lent until the slot changes.
  var content: NotificationContent {
    @_lifetime(borrow self)
    get {
      let (bytes, payloadCount) = (box.bytes, Int(box.count) - Int(collapseIdCount))
      return NotificationContent(
        bytes.extracting(first: payloadCount), collapseId: bytes.extracting(droppingFirst: payloadCount))
    }
  }

  /// Holds a notification, whose bytes are in the box, from now on.
  @inline(__always)
  fileprivate mutating func hold(_ head: NotificationHead, collapseIdCount: Int, as state: State) {
    self.head = head
    self.state = state
    self.collapseIdCount = UInt8(truncatingIfNeeded: collapseIdCount)
  }
}

extension ByteBox {
  /// Payload and collapse id, one after the other.
  @inline(__always)
  fileprivate mutating func hold(_ content: NotificationContent) {
    if content.collapseId.isEmpty {
      assign(content.payload)
    } else {
      assign(content.payload, content.collapseId)
    }
  }
}

/// The slots of all tokens: every way in which one changes is a function here, which also sees to it that the store hears
/// of what it must hear of.
final class StoredNotifications {
  private var table = PlainTable<RegistrationID, NotificationSlot>()
  /// Rows whose notification must be written or removed.
  private var dirty = PlainTable<TablePlace, RegistrationID>()
  /// Where the next look for expired notifications begins.
  private var cursor = 0
  private var spare = 0
  /// Most bytes that empty slots may hold; beyond it a slot gives its memory back when its notification is acknowledged. Variable, as
  /// it is a part of what the operator allows.
  var spareLimit = 64 << 20

  /// Most entries of the list of changes whose memory is kept for the next turn, as a count.
  private static let keptCapacity = 1 << 16
  /// An empty slot gives its memory back when its last notification came longer ago, in nanoseconds: who is pushed to more often
  /// has use for it.
  private static let spareTime: Int64 = 60_000_000_000

  /// The row's slot as it is now.
  subscript(row: RegistrationID) -> NotificationSlot { table[row] }

  @inline(__always)
  func state(_ row: RegistrationID) -> NotificationSlot.State { table[row].state }
  @inline(__always)
  func head(_ row: RegistrationID) -> NotificationHead { table[row].head }
  /// The session that the row's notifications go to; nil for none.
  @inline(__always)
  func session(_ row: RegistrationID) -> SessionID? { table[row].session }

  func contains(_ row: RegistrationID) -> Bool { table.contains(row) }

  var count: Int { table.count }
  /// Bytes that empty slots hold for their next notification.
  var spareBytes: Int { spare }

  /// Adds the slot of the row that was added to the token map.
  func add(_ session: SessionID?) {
    if table.isFull {
      let full = exchange(&table, with: PlainTable(capacity: 0))
      _ = exchange(&table, with: full.grown())
    }
    var slot = NotificationSlot()
    slot.session = session
    table.append(slot)
  }

  // MARK: Where notifications go

  /// Notifications of the row go to this session from now on, or with nil nowhere.
  func route(_ row: RegistrationID, to session: SessionID?) { table[row].session = session }

  /// The notification begins, or no longer needs, to wait for room on its connection; answers whether that is news.
  func setWaiting(_ row: RegistrationID, _ isWaiting: Bool) -> Bool {
    defer { table[row].isWaiting = isWaiting }
    return table[row].isWaiting != isWaiting
  }

  // MARK: Transitions

  /// Any state → stored or inFlight, with a newer notification. Answers the id of a stored one whose place it takes.
  @inline(__always)
  func put(
    _ head: NotificationHead, _ content: NotificationContent, in row: RegistrationID,
    as state: NotificationSlot.State
  ) -> UInt64? {
    let replaced = table[row].state == .stored ? table[row].head.id : nil
    hold(head, content, in: row, as: state)
    table[row].wasStored = state == .stored
    if state == .stored || table[row].isPersisted { markDirty(row) }
    return replaced
  }

  @inline(__always)
  private func hold(
    _ head: NotificationHead, _ content: NotificationContent, in row: RegistrationID,
    as state: NotificationSlot.State
  ) {
    // What is written may need memory, which is got while nobody is at the table.
    var box = exchange(&table[row].box, with: ByteBox())
    if table[row].state == .empty { spare &-= box.capacity }
    box.hold(content)
    _ = exchange(&table[row].box, with: box)
    table[row].hold(head, collapseIdCount: content.collapseId.count, as: state)
  }

  /// stored → inFlight.
  @inline(__always)
  func send(_ row: RegistrationID) { table[row].state = .inFlight }

  /// inFlight → stored, if the slot is still this message's. Else answers what has become of the message.
  func storeAgain(_ entry: SentWindow.Entry) -> NotificationState {
    let row = entry.registration
    guard table[row].state == .inFlight, table[row].head.id == entry.id else {
      // The slot remembers the newest notification that was to be stored, also when that has been delivered.
      return entry.wasInSlot && table[row].head.id != entry.id ? .replaced : .discarded
    }
    table[row].state = .stored
    table[row].wasStored = true
    markDirty(row)
    return .stored
  }

  /// inFlight → empty, if the slot is still this message's. Keeps the memory: the next message of a busy token comes soon.
  @inline(__always)
  func acknowledge(_ id: UInt64, in row: RegistrationID) {
    guard table[row].state == .inFlight, table[row].head.id == id else { return }
    table[row].state = .empty
    spare &+= table[row].box.capacity
    if spare > spareLimit { freeSpare(row) }
    if table[row].isPersisted { markDirty(row) }
  }

  /// stored or inFlight → empty, for good; answers the message's id, nil if there is none.
  func drop(_ row: RegistrationID) -> UInt64? {
    guard table[row].state != .empty else { return nil }
    table[row].state = .empty
    _ = exchange(&table[row].box, with: ByteBox())
    if table[row].isPersisted { markDirty(row) }
    return table[row].head.id
  }

  /// empty → stored, as the store has it.
  func restore(_ notification: StoredNotification) {
    let row = notification.registration
    hold(notification.head, notification.content, in: row, as: .stored)
    table[row].isPersisted = true
    table[row].wasStored = true
  }

  /// Any state → empty, as the store has it.
  func restoreEmpty(_ row: RegistrationID) {
    if table[row].state == .empty { freeSpare(row) } else { _ = exchange(&table[row].box, with: ByteBox()) }
    table[row].state = .empty
    table[row].isPersisted = false
  }

  /// Forgets all slots; the store is told otherwise.
  func removeAll() {
    _ = exchange(&table, with: PlainTable())
    dirty.removeAll()
    (cursor, spare) = (0, 0)
  }

  // MARK: Memory

  /// An empty slot's memory for its next notification goes.
  @inline(never)
  private func freeSpare(_ row: RegistrationID) {
    let box = exchange(&table[row].box, with: ByteBox())
    spare -= box.capacity
  }

  /// Gives memory of empty slots back until no more than `limit` bytes are held by them, looking at no more than `budget` rows.
  func giveBackSpare(downTo limit: Int, budget: Int) {
    var left = min(budget, table.count)
    while spare > limit, left > 0 {
      left -= 1
      let row = nextRow()
      if table[row].state == .empty { freeSpare(row) }
    }
  }

  // MARK: The store

  /// The notification of a row, whether it waits or is on its way; nil if there is none.
  func notification(_ row: RegistrationID) -> StoredNotification? {
    let slot = table[row]
    guard slot.state != .empty else { return nil }
    return StoredNotification(registration: row, head: slot.head, content: slot.content)
  }

  /// Has the store write a notification that is on its way, unless it has it: what is stored is marked when it changes.
  func persist(_ row: RegistrationID) {
    if table[row].state == .inFlight, !table[row].isPersisted { markDirty(row) }
  }

  /// Whether the store must hear of anything.
  var isDirty: Bool { dirty.count > 0 }

  /// Rows that the store must hear of, each once; from now on it has them as they are.
  func takeDirty() -> [RegistrationID] {
    guard isDirty else { return [] }
    let rows = (0..<dirty.count).map { dirty[TablePlace($0)] }
    for row in rows {
      table[row].isDirty = false
      table[row].isPersisted = table[row].state != .empty
    }
    if rows.count < Self.keptCapacity { dirty.removeAll() } else { _ = exchange(&dirty, with: PlainTable()) }
    return rows
  }

  @inline(__always)
  private func markDirty(_ row: RegistrationID) {
    guard !table[row].isDirty else { return }
    table[row].isDirty = true
    if dirty.isFull { growDirty() }
    dirty.append(row)
  }

  @inline(never)
  private func growDirty() {
    let full = exchange(&dirty, with: PlainTable(capacity: 0))
    _ = exchange(&dirty, with: full.grown())
  }

  // MARK: Looking through

  /// Those of so many rows from one on that have a stored notification, and the row to go on at; nil after the last.
  func stored(from start: Int, budget: Int) -> (rows: [RegistrationID], next: Int?) {
    let end = start + min(budget, table.count - start)
    guard start < end else { return ([], nil) }
    let rows = (start..<end).map { RegistrationID($0) }.filter { table[$0].state == .stored }
    return (rows, end < table.count ? end : nil)
  }

  /// The next row whose stored notification's time is over, looking at no more than `budget` rows, which it counts down, and going
  /// on there next time. Empty slots that have not been used for a while give their memory back meanwhile.
  func nextExpired(_ now: Timestamp, budget: inout Int) -> RegistrationID? {
    let idleSince = now.adding(nanoseconds: -Self.spareTime)
    while budget > 0, table.count > 0 {
      budget -= 1
      let row = nextRow()
      switch table[row].state {
      case .stored: if table[row].head.expiresAt <= now { return row }
      case .empty: if table[row].box.capacity > 0, table[row].head.receivedAt < idleSince { freeSpare(row) }
      case .inFlight: break
      }
    }
    return nil
  }

  private func nextRow() -> RegistrationID {
    if cursor >= table.count { cursor = 0 }
    defer { cursor += 1 }
    return RegistrationID(cursor)
  }
}
