import PushModel

/// What happened to notifications: one by one in the journal, as events for those who watch, and in numbers. Each step of
/// a notification is one call here, so that the three agree.
final class History {
  let journal: Journal
  let meter = PushMeter()
  let events = EventLog()
  @exclusivity(unchecked) var counters = BrokerCounters()

  /// Told of steps of notifications that are in another process's history; nil while there is none.
  var elsewhere: ((UInt64, NotificationState, Timestamp) -> Void)?

  /// What is kept of notifications that were refused.
  private let keptOfRefused: KeptOfRefused

  init(capacity: Int, keptOfRefused: KeptOfRefused = KeptOfRefused()) {
    journal = Journal(capacity: capacity)
    self.keptOfRefused = keptOfRefused
  }

  // MARK: Arrival

  /// A notification has come, accepted unless there is a rejection; answers its id. Where it goes is told next.
  @inline(__always)
  func received(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, registration: RegistrationID?,
    rejection: Rejection? = nil, now: Timestamp
  ) -> UInt64 {
    counters.received += 1
    let (id, record, memory) = journal.append()
    record.pointee.begin(
      id: id, submission, memory, registration: registration, rejection: rejection, now: now,
      arrivedAt: meter.instant)
    if record.pointee.box.capacity != memory.capacity { journal.noteMemory(of: record, before: memory) }
    if let detail { journal.attach(detail, to: id) }
    note(.notification, id, rejection == nil ? .discarded : .rejected, now)
    if id >= journal.drainsFrom { journal.drain() }
    if rejection != nil { journal.cutNewest(to: keptOfRefused) }
    return id
  }

  @inline(__always)
  func countAccepted(_ interface: Interface) {
    counters.accepted += 1
    meter.countAccepted(interface)
  }

  func countRejected(_ rejection: Rejection, isAnswered: Bool, _ interface: Interface) {
    counters.rejected += 1
    meter.count(rejection, isAnswered: isAnswered, interface)
  }

  // MARK: What becomes of it

  /// It waits for another service.
  func waits(_ id: UInt64, _ now: Timestamp) {
    note(.delivery, id, .stored, now)
    journal.pointer(id)?.pointee.state = .stored
  }

  /// It is kept for its device.
  func stored(_ id: UInt64, _ now: Timestamp) {
    note(.delivery, id, .stored, now)
    guard let record = journal.pointer(id) else { return tellElsewhere(id, .stored, now) }
    record.pointee.state = .stored
    record.pointee.storedAt = now
  }

  /// It was handed on.
  @inline(__always)
  func sent(_ id: UInt64, _ path: PushMeter.Path, _ now: Timestamp) {
    counters.sent += 1
    note(.delivery, id, .sent, now)
    guard let record = journal.pointer(id) else { return tellElsewhere(id, .sent, now) }
    record.pointee.state = .sent
    record.pointee.sentAt = now
    meter.noteSent(record, path)
  }

  /// It goes no further; `path` is the one that it went unless its record says so.
  func ended(
    _ id: UInt64, _ state: NotificationState, by path: PushMeter.Path? = nil, _ now: Timestamp
  ) {
    switch state {
    case .discarded: counters.discarded += 1
    case .expired: counters.expired += 1
    case .delivered: counters.delivered += 1
    default: break
    }
    note(.delivery, id, state, now)
    guard let record = journal.pointer(id) else { return tellElsewhere(id, state, now) }
    record.pointee.state = state
    record.pointee.endedAt = now
    if state == .delivered { meter.noteAcknowledged(record, path ?? record.pointee.path) }
  }

  /// One that is not here: it may have left the ring, or be another's.
  @inline(never)
  private func tellElsewhere(_ id: UInt64, _ state: NotificationState, _ now: Timestamp) {
    elsewhere?(id, state, now)
  }

  /// A phone tells what it has made of it.
  func toldByPhone(_ id: UInt64, _ step: PhoneStep, _ now: Timestamp) {
    guard let record = journal[id] else { return }
    journal.add(step, to: id)
    note(.phone, id, record.state, now)
  }

  // MARK: Events

  @inline(__always)
  func note(_ kind: BrokerEvent.Kind, _ id: UInt64, _ state: NotificationState, _ now: Timestamp) {
    guard events.isOn else { return }
    events.append(
      BrokerEvent(kind: kind, change: .none, state: state, environment: .sandbox, subject: id, at: now))
  }

  func noteDevice(
    _ change: BrokerEvent.Change, _ device: DeviceID, _ environment: Environment, _ now: Timestamp
  ) {
    note(.device, change, device.number, environment, now)
  }

  func noteToken(
    _ change: BrokerEvent.Change, _ row: RegistrationID, _ environment: Environment, _ now: Timestamp
  ) {
    note(.token, change, row.number, environment, now)
  }

  private func note(
    _ kind: BrokerEvent.Kind, _ change: BrokerEvent.Change, _ row: Int32, _ environment: Environment,
    _ now: Timestamp
  ) {
    guard events.isOn else { return }
    events.append(
      BrokerEvent(
        kind: kind, change: change, state: .rejected, environment: environment, subject: UInt64(row), at: now)
    )
  }
}

/// Totals since the start, for metrics.
public struct BrokerCounters: Sendable {
  public var received: UInt64 = 0
  public var accepted: UInt64 = 0
  public var rejected: UInt64 = 0
  public var stored: UInt64 = 0
  public var sent: UInt64 = 0
  public var delivered: UInt64 = 0
  public var replaced: UInt64 = 0
  public var expired: UInt64 = 0
  public var discarded: UInt64 = 0
}
