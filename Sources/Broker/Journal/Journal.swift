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
  private let records: UnsafeMutablePointer<JournalRecord>
  /// Beside the records, since most notifications have none; nil until the first that has.
  private var details: UnsafeMutablePointer<NotificationDetail?>?
  private var used = 0
  /// Bytes that frames and bodies take here, with the memory that waits for the next ones.
  public private(set) var heldBytes = 0
  /// The memory of notifications before this one was given back, unless their slots are used again.
  private var givenBack: UInt64 = 0
  private var fullSizes = FullSizes()
  private var phoneSteps = PhoneSteps()
  /// The id that the next notification gets.
  public private(set) var nextId: UInt64 = 1
  /// Ids below this one are forgotten (too old, or cleared).
  public private(set) var firstId: UInt64 = 1
  private var writeSlot = 0
  /// Called with each id from this one on, and before notifications are forgotten: somebody must see them all.
  public var drainsFrom = UInt64.max
  public var drain: () -> Void = {}

  public init(capacity: Int = defaultCapacity) {
    self.capacity = max(1, min(capacity, Self.maximumCapacity))
    records = .allocate(capacity: self.capacity)
  }

  deinit {
    for slot in 0..<used { records[slot].box.free() }
    records.deallocate()
    details?.deinitialize(count: capacity)
    details?.deallocate()
  }

  /// The record of `id`, if it is still here.
  @inline(__always)
  func pointer(_ id: UInt64) -> UnsafeMutablePointer<JournalRecord>? {
    guard let slot = slot(id) else { return nil }
    return records + slot
  }

  @inline(__always)
  private func slot(_ id: UInt64) -> Int? {
    guard id >= firstId, id < nextId else { return nil }
    return place(id)
  }

  /// The slot of an id that was written and whose slot was not used again.
  @inline(__always)
  private func place(_ id: UInt64) -> Int {
    // Slots are filled in order of ids, so the distance to the newest gives the slot without a division.
    let back = Int(truncatingIfNeeded: nextId - id)
    return writeSlot >= back ? writeSlot - back : writeSlot - back + capacity
  }

  /// The record of `id`, if it is still here. Its bytes are lent until the next notification comes.
  public subscript(id: UInt64) -> JournalRecord? { pointer(id)?.pointee }

  /// Calls `body` with the records of those of the ids that are still here, in order: once, or twice where they lie on both sides of
  /// the ring's end. Lent until the next notification comes.
  public func withRecords(_ ids: Range<UInt64>, _ body: (UnsafeBufferPointer<JournalRecord>) -> Void) {
    let (first, end) = (max(ids.lowerBound, firstId), min(ids.upperBound, nextId))
    guard first < end, let start = slot(first) else { return }
    let count = Int(truncatingIfNeeded: end - first)
    let before = min(count, capacity - start)
    body(UnsafeBufferPointer(start: records + start, count: before))
    if before < count { body(UnsafeBufferPointer(start: records, count: count - before)) }
  }

  /// What only some notifications have.
  public func detail(_ id: UInt64) -> NotificationDetail? {
    guard let details, let slot = slot(id) else { return nil }
    return details[slot]
  }

  /// Takes the next slot, keeping its memory for reuse. The caller fills in the record.
  @inline(__always)
  func append() -> (id: UInt64, record: UnsafeMutablePointer<JournalRecord>, memory: ByteBox) {
    let id = nextId
    let record = records + writeSlot
    var box = ByteBox()
    if writeSlot < used { box = record.pointee.box } else { used += 1 }
    if let details { details[writeSlot] = nil }
    nextId += 1
    writeSlot += 1
    if writeSlot == capacity { writeSlot = 0 }
    if nextId - firstId > UInt64(capacity) { firstId = nextId - UInt64(capacity) }
    return (id, record, box)
  }

  /// The slot of a record that was just written has taken memory, or changed it.
  @inline(never)
  func noteMemory(of record: UnsafeMutablePointer<JournalRecord>, before: ByteBox) {
    heldBytes += Int(record.pointee.box.capacity) - Int(before.capacity)
  }

  /// Remembers more of a notification than most have.
  public func attach(_ detail: NotificationDetail, to id: UInt64) {
    guard let slot = slot(id) else { return }
    let details = details ?? makeDetails()
    details[slot] = detail
  }

  // MARK: Memory

  /// How much there was of a notification that is here in part; nil for one that is here whole.
  public func fullSize(_ id: UInt64) -> FullSize? { fullSizes[id] }

  /// Keeps no more of the newest notification than a good one may have, once whoever must see it whole has.
  @inline(never)
  func cutNewest(to kept: KeptOfRefused) {
    let id = nextId - 1
    guard let record = pointer(id), let part = record.pointee.excess(over: kept) else { return }
    drain()
    let size = FullSize(raw: record.pointee.shownBytes.count, payload: record.pointee.payload.count)
    let before = record.pointee.box
    record.pointee.cut(part)
    noteMemory(of: record, before: before)
    fullSizes.set(size, of: id, firstId: firstId)
  }

  /// The newest notification had a body of so many bytes, of which the rest was never here.
  public func noteFullBody(of id: UInt64, bytes: Int) {
    guard id == nextId - 1 else { return }
    fullSizes.set(FullSize(raw: bytes, payload: bytes), of: id, firstId: firstId)
  }

  /// Forgets the oldest, and gives their memory back, until no more than `limit` bytes are held.
  public func giveBack(downTo limit: Int) {
    guard heldBytes > limit else { return }
    drain()
    var id = max(givenBack, nextId - UInt64(used))
    while heldBytes > limit, id < nextId {
      let slot = place(id)
      heldBytes -= Int(records[slot].box.capacity)
      records[slot].box.free()
      details?[slot] = nil
      id += 1
    }
    givenBack = id
    firstId = max(firstId, id)
  }

  /// What a phone has made of a notification, in order.
  public func phoneSteps(_ id: UInt64) -> [PhoneStep] { self[id] == nil ? [] : phoneSteps[id] }

  func add(_ step: PhoneStep, to id: UInt64) { phoneSteps.add(step, to: id) }

  private func makeDetails() -> UnsafeMutablePointer<NotificationDetail?> {
    let details = UnsafeMutablePointer<NotificationDetail?>.allocate(capacity: capacity)
    details.initialize(repeating: nil, count: capacity)
    self.details = details
    return details
  }

  /// Goes on counting after an id of an earlier run, so that ids of stored notifications stay unique. One that no run has come to, as what
  /// is read may say any, is passed over.
  func skip(past id: UInt64) {
    guard id >= nextId, id <= CountedNumber.limit, used == 0 else { return }
    nextId = id + 1
    firstId = nextId
  }

  /// Forgets everything up to now; ids go on counting.
  public func clear() {
    drain()
    firstId = nextId
    details?.update(repeating: nil, count: capacity)
    (phoneSteps, fullSizes) = (PhoneSteps(), FullSizes())
  }

  /// No record refers to a row of the token map any more: the rows are gone.
  func forgetRegistrations() {
    for id in firstId..<nextId { pointer(id)?.pointee.registration = nil }
  }

  /// The record of `id`, if it is still here and was not deleted.
  public func shown(_ id: UInt64) -> JournalRecord? {
    guard let record = self[id], !record.isHidden else { return nil }
    return record
  }

  /// Deletes one notification; its slot is reused in its turn.
  public func hide(_ id: UInt64) { pointer(id)?.pointee.isHidden = true }

  /// Forgets everything before `id`; ids go on counting.
  public func forget(before id: UInt64) {
    drain()
    firstId = max(firstId, min(id, nextId))
  }
}
