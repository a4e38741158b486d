import Basics
import PushModel

/// The newest notifications, in a ring: looking at the past must not grow without bound
/// (`Sources/ARCHITECTURE.md#promises` 3).
public final class Journal {
  /// Default of `--history`, as a count.
  public static let defaultCapacity = 10_000
  /// Largest `--history`, as a count.
  public static let maximumCapacity = 10_000_000

  /// How many are kept.
  public let capacity: Int
  private var records: PlainTable<TablePlace, JournalRecord>
  /// Where the next one is written.
  private var place = TablePlace(0)
  /// Beside the records, since most notifications have none; empty until the first that has.
  private var details: [NotificationDetail?] = []
  private var hasDetails = false
  private var held = 0
  /// The memory of notifications before this one was given back, unless their places are used again.
  private var givenBack: UInt64 = 0
  private var phoneSteps = PhoneSteps()
  private var next: UInt64 = 1
  private var first: UInt64 = 1
  private var newestMarked: UInt64 = 0
  /// Whoever must see them all, before they are forgotten.
  private var readers: [JournalReader] = []
  /// They look before this id is given.
  private var dueFrom = UInt64.max

  public init(capacity: Int = defaultCapacity) {
    self.capacity = max(1, min(capacity, Self.maximumCapacity))
    records = PlainTable(capacity: min(self.capacity, 64))
  }

  /// The id that the next notification gets.
  public var nextId: UInt64 { next }
  /// Ids below this one are forgotten (too old, or cleared).
  public var firstId: UInt64 { first }
  /// Bytes that frames and bodies take here, with the memory that waits for the next ones.
  public var heldBytes: Int { held }
  /// The newest that `PushMarks.remarkable` or `.elsewhere` is said of; 0 for none. Whoever has seen it need not look for another.
  public var lastMarked: UInt64 { newestMarked }

  // MARK: Looking

  /// Where the record of `id` is, if it is still here.
  @inline(__always)
  private func place(of id: UInt64) -> TablePlace? {
    guard id >= first, id < next else { return nil }
    return place(writtenFor: id)
  }

  /// The place of an id that was written and whose place was not used again.
  @inline(__always)
  private func place(writtenFor id: UInt64) -> TablePlace {
    // Places are filled in order of ids, so the distance to the newest gives the place without a division.
    let place = place.index &- Int(truncatingIfNeeded: next &- id)
    return TablePlace(place >= 0 ? place : place &+ capacity)
  }

  /// The record of `id`, if it is still here.
  public subscript(id: UInt64) -> JournalRecord? {
    guard let place = place(of: id), records.contains(place) else { return nil }
    return records[place]
  }

  /// What only some notifications have.
  public func detail(_ id: UInt64) -> NotificationDetail? {
    guard hasDetails, let place = place(of: id) else { return nil }
    return details[place.index]
  }

  // MARK: Writing

  /// Remembers one that has just come; answers its id.
  @inline(__always)
  func add(
    _ submission: PlainSubmission, registration: RegistrationID?, rejection: Rejection?, now: Timestamp,
    arrivedAt: Int64
  ) -> UInt64 {
    let (id, place) = (next, place)
    if !records.contains(place) { makePlace() }
    // What is written may need memory, which is got while nobody is at the table.
    var box = exchange(&records[place].box, with: ByteBox())
    let memory = box.capacity
    let parts = JournalRecord.Parts(of: submission, into: &box)
    if box.capacity != memory { held &+= box.capacity &- memory }
    _ = exchange(&records[place].box, with: box)
    let marks = rejection == nil ? submission.marks : submission.marks.union(.remarkable)
    records[place].begin(
      id: id, submission, parts, marks, registration: registration, rejection: rejection, now: now,
      arrivedAt: arrivedAt)
    if hasDetails { details[place.index] = nil }
    if marks.contains(.remarkable) { newestMarked = id }
    count(place)
    return id
  }

  /// One more has come, in a place.
  @inline(__always)
  private func count(_ place: TablePlace) {
    next &+= 1
    self.place = TablePlace(place.index &+ 1 == capacity ? 0 : place.index &+ 1)
    if next &- first > UInt64(capacity) { first = next &- UInt64(capacity) }
  }

  @inline(never)
  private func makePlace() {
    if records.isFull {
      let full = exchange(&records, with: PlainTable(capacity: 0))
      _ = exchange(&records, with: full.grown(atMost: capacity))
    }
    records.append(JournalRecord())
  }

  /// Each step answers whether the notification is here, or how long it has been.
  @inline(__always)
  func setStored(_ id: UInt64, _ now: Timestamp) -> Bool {
    guard let place = place(of: id) else { return false }
    records[place].state = .stored
    records[place].storedAt = now
    return true
  }

  @inline(__always)
  func setSent(_ id: UInt64, _ now: Timestamp) -> Arrival? {
    guard let place = place(of: id) else { return nil }
    records[place].state = .sent
    records[place].sentAt = now
    return Arrival(records[place])
  }

  @inline(__always)
  func setEnded(_ id: UInt64, _ state: NotificationState, _ now: Timestamp) -> Arrival? {
    guard let place = place(of: id) else { return nil }
    records[place].state = state
    records[place].endedAt = now
    return Arrival(records[place])
  }

  func setState(_ id: UInt64, _ state: NotificationState) {
    if let place = place(of: id) { records[place].state = state }
  }

  func setRejection(_ id: UInt64, _ rejection: Rejection?) {
    if let place = place(of: id) { records[place].rejection = rejection }
  }

  /// Somebody else is to decide about the newest.
  func setElsewhere(_ id: UInt64) {
    newestMarked = id
    guard let place = place(of: id) else { return }
    records[place].state = .stored
    records[place].marks.insert(.elsewhere)
  }

  /// Whoever looks at what providers do is to see it.
  func mark(_ id: UInt64) {
    guard let place = place(of: id) else { return }
    records[place].marks.insert(.remarkable)
    newestMarked = max(newestMarked, id)
  }

  /// Remembers more of a notification than most have.
  public func attach(_ detail: NotificationDetail, to id: UInt64) {
    guard let place = place(of: id) else { return }
    if !hasDetails { details = Array(repeating: nil, count: capacity) }
    hasDetails = true
    // What was cut off of it stays so.
    if detail.fullSize == nil { detail.fullSize = details[place.index]?.fullSize }
    details[place.index] = detail
    if detail.fault != nil { mark(id) }
  }

  // MARK: Memory

  /// How much there was of a notification that is here in part; nil for one that is here whole.
  public func fullSize(_ id: UInt64) -> FullSize? { detail(id)?.fullSize }

  /// Keeps no more of the newest notification than a good one may have, once whoever must see it whole has.
  @inline(never)
  func cutNewest(to kept: KeptOfRefused) {
    let id = next - 1
    guard let place = place(of: id), let part = records[place].excess(over: kept) else { return }
    drain()
    let whole = records[place]
    note(FullSize(raw: whole.shownBytes.count, payload: whole.payload.count), of: id)
    var record = exchange(&records[place], with: JournalRecord())
    held -= record.box.capacity
    record.cut(part)
    held += record.box.capacity
    records[place] = record
  }

  /// The newest notification had a body of so many bytes, of which the rest was never here.
  public func noteFullBody(of id: UInt64, bytes: Int) {
    if id == nextId - 1 { note(FullSize(raw: bytes, payload: bytes), of: id) }
  }

  private func note(_ size: FullSize, of id: UInt64) {
    let detail = detail(id) ?? NotificationDetail()
    detail.fullSize = size
    attach(detail, to: id)
  }

  /// Forgets the oldest, and gives their memory back, until no more than `limit` bytes are held.
  public func giveBack(downTo limit: Int) {
    guard held > limit else { return }
    drain()
    var id = max(givenBack, next - UInt64(records.count))
    while held > limit, id < next {
      let place = place(writtenFor: id)
      let box = exchange(&records[place].box, with: ByteBox())
      held -= box.capacity
      if hasDetails { details[place.index] = nil }
      id += 1
    }
    givenBack = id
    first = max(first, id)
  }

  /// What a phone has made of a notification, in order.
  public func phoneSteps(_ id: UInt64) -> [PhoneStep] { self[id] == nil ? [] : phoneSteps[id] }

  func add(_ step: PhoneStep, to id: UInt64) { phoneSteps.add(step, to: id) }

  /// Goes on counting after an id of an earlier run, so that ids of stored notifications stay unique. One that no run has come to, as what
  /// is read may say any, is passed over.
  func skip(past id: UInt64) {
    guard id >= next, id <= CountedNumber.limit, records.count == 0 else { return }
    next = id + 1
    first = next
  }

  /// Forgets everything up to now; ids go on counting.
  public func clear() {
    drain()
    first = next
    (details, hasDetails) = ([], false)
    phoneSteps = PhoneSteps()
  }

  /// No record refers to a row of the token map any more: the rows are gone.
  func forgetRegistrations() {
    for id in first..<next {
      if let place = place(of: id) { records[place].registration = nil }
    }
  }

  /// The record of `id`, if it is still here and was not deleted.
  public func shown(_ id: UInt64) -> JournalRecord? {
    guard let record = self[id], !record.isHidden else { return nil }
    return record
  }

  /// Deletes one notification; its place is used again in its turn.
  public func hide(_ id: UInt64) {
    if let place = place(of: id) { records[place].isHidden = true }
  }

  /// Forgets everything before `id`; ids go on counting.
  public func forget(before id: UInt64) {
    drain()
    first = max(first, min(id, next))
  }

  // MARK: Readers

  /// Adds a reader of what comes from now on. `see` gets the ids of what is new, which may be none; all of them are still here.
  public func add(seeing see: @escaping (_ ids: Range<UInt64>) -> Void) -> JournalReader {
    let reader = JournalReader(from: next, see)
    readers.append(reader)
    readersChanged()
    return reader
  }

  public func remove(_ reader: JournalReader) {
    readers.removeAll { $0 === reader }
    readersChanged()
  }

  /// Has one reader see what is new.
  public func look(_ reader: JournalReader) {
    let first = max(reader.nextId, first)
    pass(reader)
    reader.see(min(first, next)..<next)
  }

  /// What is new is not shown to a reader.
  public func pass(_ reader: JournalReader) {
    reader.goOn(to: next)
    readersChanged()
  }

  /// Readers have come, gone, or gone on.
  private func readersChanged() {
    dueFrom = readers.reduce(.max) { min($0, $1.due(capacity)) }
  }

  /// Has all see what is new, if one of them must before the next comes.
  @inline(__always)
  func drainIfDue() {
    if next >= dueFrom { drain() }
  }

  /// Has all see what is new: ids are about to be given that are due, or notifications to be forgotten.
  private func drain() {
    for reader in readers { look(reader) }
  }
}
