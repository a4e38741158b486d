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
  private let records: UnsafeMutablePointer<JournalRecord>
  /// Beside the records, since most notifications have none; nil until the first that has.
  private var details: UnsafeMutablePointer<NotificationDetail?>?
  private var used = 0
  /// Bytes that frames and bodies take here, with the memory that waits for the next ones.
  public private(set) var heldBytes = 0
  /// The memory of notifications before this one was given back, unless their slots are used again.
  private var givenBack: UInt64 = 0
  private var phoneSteps = PhoneSteps()
  /// The id that the next notification gets.
  public private(set) var nextId: UInt64 = 1
  /// Ids below this one are forgotten (too old, or cleared).
  public private(set) var firstId: UInt64 = 1
  private var writeSlot = 0
  /// Whoever must see them all, before they are forgotten.
  var readers = JournalReaders()
  /// The newest that `PushMarks.remarkable` or `.elsewhere` is said of; 0 for none. Whoever has seen it need not look for another.
  public internal(set) var lastMarked: UInt64 = 0

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
    // What was cut off of it stays so.
    if detail.fullSize == nil { detail.fullSize = details[slot]?.fullSize }
    details[slot] = detail
    if detail.fault != nil { mark(records + slot) }
  }

  /// Whoever looks at what providers do is to see it.
  func mark(_ record: UnsafeMutablePointer<JournalRecord>) {
    record.pointee.marks.insert(.remarkable)
    lastMarked = max(lastMarked, record.pointee.id)
  }

  // MARK: Memory

  /// How much there was of a notification that is here in part; nil for one that is here whole.
  public func fullSize(_ id: UInt64) -> FullSize? { detail(id)?.fullSize }

  /// Keeps no more of the newest notification than a good one may have, once whoever must see it whole has.
  @inline(never)
  func cutNewest(to kept: KeptOfRefused) {
    let id = nextId - 1
    guard let record = pointer(id), let part = record.pointee.excess(over: kept) else { return }
    drain()
    note(FullSize(raw: record.pointee.shownBytes.count, payload: record.pointee.payload.count), of: id)
    let before = record.pointee.box
    record.pointee.cut(part)
    noteMemory(of: record, before: before)
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
    phoneSteps = PhoneSteps()
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

/// What is remembered of one notification. Plain bytes; its frame or body lies in `raw`.
///
/// One is written for each push, so it pays to be small: the fields stand in an order that leaves no gaps.
public struct JournalRecord: BitwiseCopyable {
  /// Counts all notifications of this run, from 1.
  public var id: UInt64
  public var receivedAt: Timestamp
  /// The same by the monotonic clock, in nanoseconds: for durations.
  var arrivedAt: Int64
  public internal(set) var storedAt: Timestamp
  public internal(set) var sentAt: Timestamp
  /// When the state became final.
  public internal(set) var endedAt: Timestamp
  var box: ByteBox
  /// `apns-id` of the answer; nil on the binary protocol.
  public var apnsID: APNSID?
  public var interface: Interface
  /// Command of the binary protocol; 0 elsewhere.
  public var command: UInt8
  public var environment: Environment
  public var pushType: PushType
  public var priority: Priority
  /// nil means accepted.
  public var rejection: Rejection?
  public internal(set) var state: NotificationState
  /// UNIX seconds as sent; nil if the provider sent none.
  public var expiration: UInt32?
  /// Deleted one by one: nobody is shown it, while others may still have to see it.
  public internal(set) var isHidden: Bool
  /// What else is to be told of it in a bit.
  public internal(set) var marks: PushMarks
  /// Identifier of the binary protocol; 0 elsewhere.
  public var identifier: UInt32
  /// Row of the token map, if the token is known.
  @Packed public internal(set) var registration: RegistrationID?
  /// The topic pushed to, if one is known.
  @Packed public var topic: TopicID?
  /// Connection that it came by, and authorization for whoever numbers it; 0 for none.
  public var connection: UInt32
  public var credential: UInt32
  /// Where token and payload lie in `raw`, in bytes.
  var tokenStart, tokenCount, payloadStart, payloadCount, fieldsCount: UInt32

  /// Becomes that of a notification that has just come, whatever it was. Copies the frame, or token, body and header fields,
  /// into `memory`.
  ///
  /// Writes each field in its place: a record that is made elsewhere first is copied for each push, which was 7 % of all
  /// instructions of a push that is kept.
  @inline(__always)
  mutating func begin(
    id: UInt64, _ submission: PlainSubmission, _ memory: ByteBox, registration: RegistrationID?,
    rejection: Rejection?, now: Timestamp, arrivedAt: Int64
  ) {
    (self.id, receivedAt, self.arrivedAt) = (id, now, arrivedAt)
    (storedAt, sentAt, endedAt) = (.never, .never, rejection == nil ? .never : now)
    (apnsID, interface, command) = (submission.apnsID, submission.interface, submission.command)
    (environment, priority) = (submission.environment, submission.priority)
    // What Apple takes it for where the provider says nothing.
    pushType = submission.pushType ?? .alert
    (self.rejection, state) = (rejection, rejection == nil ? .discarded : .rejected)
    (expiration, identifier, isHidden) = (submission.expiration, submission.identifier, false)
    marks = rejection == nil ? submission.marks : submission.marks.union(.remarkable)
    _registration = Packed(wrappedValue: registration)
    _topic = Packed(wrappedValue: submission.topic)
    (connection, credential) = (submission.connection, submission.credential)
    box = memory
    if !submission.frame.isEmpty {
      box.assign(submission.frame)
      tokenStart = Self.offset(submission.token, in: submission.frame)
      payloadStart = Self.offset(submission.payload, in: submission.frame)
    } else {
      box.assign(submission.token, submission.payload, submission.fields)
      (tokenStart, payloadStart) = (0, UInt32(truncatingIfNeeded: submission.token.count))
    }
    tokenCount = UInt32(truncatingIfNeeded: submission.token.count)
    payloadCount = UInt32(truncatingIfNeeded: submission.payload.count)
    fieldsCount = UInt32(truncatingIfNeeded: submission.fields.count)
  }

  /// What `kept` has no room for of one that was refused: a part of `raw`.
  func excess(over kept: KeptOfRefused) -> Range<Int>? {
    // A frame, or the like of one, ends with what matters least; behind the body of a request are its header fields.
    let start = fieldsCount == 0 ? kept.frame : Int(payloadStart) + kept.body
    let end = fieldsCount == 0 ? box.bytes.count : Int(payloadStart) + Int(payloadCount)
    return start < end ? start..<end : nil
  }

  /// Takes a part out of `raw` that `excess` has found.
  mutating func cut(_ part: Range<Int>) {
    box.remove(part)
    if fieldsCount > 0 { payloadCount -= UInt32(truncatingIfNeeded: part.count) }
    tokenCount = Self.shortened(tokenStart, tokenCount, to: box.count)
    payloadCount = Self.shortened(payloadStart, payloadCount, to: box.count)
  }

  private static func shortened(_ start: UInt32, _ count: UInt32, to end: UInt32) -> UInt32 {
    start < end ? min(count, end - start) : 0
  }

  @inline(__always)
  private static func offset(_ part: Span<UInt8>, in frame: Span<UInt8>) -> UInt32 {
    frame.indices(of: part).map { UInt32(truncatingIfNeeded: $0.lowerBound) } ?? 0
  }

  /// When it came, by the clock that nobody sets.
  public var arrival: Instant { Instant(nanoseconds: arrivedAt) }
  /// The frame as it came (gateway), or token, body and header fields one after the other.
  public var raw: UnsafeRawBufferPointer { box.bytes }
  /// What people are shown as it came: the frame, or the body alone.
  public var shownBytes: UnsafeRawBufferPointer { interface == .gateway ? raw : payload }
  /// The token as presented; may have any length.
  public var presentedToken: UnsafeRawBufferPointer { part(tokenStart, tokenCount) }
  public var payload: UnsafeRawBufferPointer { part(payloadStart, payloadCount) }
  /// Request header fields as a `FieldBlock`.
  public var fieldBlock: UnsafeRawBufferPointer { part(payloadStart &+ payloadCount, fieldsCount) }
  /// Request header fields in order; none on the binary protocol. Authorization is never among them.
  public var fields: [(name: String, value: String)] {
    let block = fieldBlock  // TODO(33)
    return FieldBlock.read(block.span)
  }

  /// How it went to its device.
  var path: PushMeter.Path { storedAt == .never ? .direct : .kept }

  private func part(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
    let whole = box.bytes
    guard Int(start) + Int(count) <= whole.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: whole[Int(start)..<Int(start) + Int(count)])
  }
}

/// Where a notification is on its way (`Documentation/console-api.md`).
@frozen public enum NotificationState: UInt8, Sendable, CaseIterable, BitwiseCopyable {
  /// Refused, or a fault was injected that gave no answer; see the verdict.
  case rejected = 0
  /// Kept until the device returns.
  case stored = 1
  /// Handed to the device's connection.
  case sent = 2
  /// Acknowledged by the device.
  case delivered = 3
  /// A newer one for the same token and topic took its place.
  case replaced = 4
  /// Its time ran out before the device came.
  case expired = 5
  /// Not to be stored and the device was offline, or the app is gone.
  case discarded = 6

  /// The word in the API. Spelled out: the language's own description of a case looks for conformances, which took a tenth of the
  /// instructions of a start, and is asked for with each event.
  public var name: String {
    switch self {
    case .rejected: "rejected"
    case .stored: "stored"
    case .sent: "sent"
    case .delivered: "delivered"
    case .replaced: "replaced"
    case .expired: "expired"
    case .discarded: "discarded"
    }
  }
}
