import Basics
import PushModel

/// What happened to notifications: one by one in the journal, as events for those who watch, and in numbers. Each step of
/// a notification is one call here, so that the three agree.
public final class History {
  /// The newest notifications.
  public let journal: Journal
  /// How it all went, in numbers.
  public let meter = PushMeter()
  /// What happened, once somebody watches.
  public let events = EventLog()
  private var counts = BrokerCounters()

  /// Told of steps of notifications that are in another process's history; nil while there is none. Set later: a node's links are made
  /// for the broker that has this.
  private var elsewhere: ((UInt64, NotificationState, Timestamp) -> Void)?

  /// The node of a cluster by which comes what is here; nil for an emulator that is alone.
  public var nodeName: String?
  /// What is kept of notifications that were refused.
  private let keptOfRefused: KeptOfRefused

  init(capacity: Int, keptOfRefused: KeptOfRefused) {
    journal = Journal(capacity: capacity)
    self.keptOfRefused = keptOfRefused
  }

  public var counters: BrokerCounters { counts }

  // MARK: Arrival

  /// A notification has come, accepted unless there is a rejection; answers its id. Where it goes is told next.
  @inline(__always)
  func received(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, registration: RegistrationID?,
    rejection: Rejection? = nil, now: Timestamp
  ) -> UInt64 {
    counts.received &+= 1
    // Without this one: whether somebody else decides about it is told next.
    journal.drainIfDue()
    let id = journal.add(
      submission, registration: registration, rejection: rejection, now: now, arrivedAt: meter.instant)
    if let detail { journal.attach(detail, to: id) }
    note(.notification, id, rejection == nil ? .discarded : .rejected, now)
    if rejection != nil { journal.cutNewest(to: keptOfRefused) }
    return id
  }

  @inline(__always)
  func countAccepted(_ interface: Interface) {
    counts.accepted &+= 1
    meter.countAccepted(interface)
  }

  private func countRejected(_ rejection: Rejection, isAnswered: Bool, _ interface: Interface) {
    counts.rejected &+= 1
    meter.count(rejection, isAnswered: isAnswered, interface)
  }

  /// One is imported, of which no provider has heard.
  func imported(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, registration: RegistrationID, now: Timestamp
  ) -> UInt64 {
    counts.accepted &+= 1
    return received(submission, detail, registration: registration, now: now)
  }

  /// Remembers a notification that is accepted and goes nowhere, or to nobody by its token: a broadcast.
  public func recordAccepted(_ submission: Submission, now: Timestamp) -> UInt64 {
    countAccepted(submission.plain.interface)
    return received(submission.plain, submission.detail, registration: nil, now: now)
  }

  /// Remembers a notification that is refused; answers its id.
  @inline(never)
  func recordRejected(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, _ rejection: Rejection,
    registration: RegistrationID?, now: Timestamp
  ) -> UInt64 {
    countRejected(rejection, isAnswered: detail?.fault?.isAnswered != false, submission.interface)
    return received(submission, detail, registration: registration, rejection: rejection, now: now)
  }

  /// Numbers notifications from here on, before the first comes: each process has a range of its own.
  public func countIds(from id: UInt64) { journal.skip(past: id) }

  // MARK: What becomes of it

  /// It is kept for its device.
  func stored(_ id: UInt64, _ now: Timestamp) {
    counts.stored &+= 1
    storedAgain(id, now)
  }

  /// It was on its way to its device, and is kept for it again.
  func storedAgain(_ id: UInt64, _ now: Timestamp) {
    note(.delivery, id, .stored, now)
    if !journal.setStored(id, now) { tellElsewhere(id, .stored, now) }
  }

  /// A newer one has taken its place.
  func replaced(_ id: UInt64, _ now: Timestamp) {
    counts.replaced &+= 1
    ended(id, .replaced, now)
  }

  /// It was handed on.
  @inline(__always)
  func sent(_ id: UInt64, _ path: PushMeter.Path, _ now: Timestamp) {
    counts.sent &+= 1
    note(.delivery, id, .sent, now)
    guard let arrival = journal.setSent(id, now) else { return tellElsewhere(id, .sent, now) }
    meter.noteSent(arrival, path)
  }

  /// It goes no further; `path` is the one that it went unless its record says so.
  func ended(
    _ id: UInt64, _ state: NotificationState, by path: PushMeter.Path? = nil, _ now: Timestamp
  ) {
    switch state {
    case .discarded:
      counts.discarded &+= 1
      // Its app may be gone, of which the binary protocol says nothing.
      journal.mark(id)
    case .expired: counts.expired &+= 1
    case .delivered: counts.delivered &+= 1
    default: break
    }
    note(.delivery, id, state, now)
    guard let arrival = journal.setEnded(id, state, now) else { return tellElsewhere(id, state, now) }
    if state == .delivered { meter.noteAcknowledged(arrival, path ?? arrival.path) }
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

  /// A broadcast was handed to one device.
  func broadcastSent() { counts.sent &+= 1 }

  /// Where a broadcast went.
  func endBroadcast(_ id: UInt64, count: Int, isStored: Bool, now: Timestamp) {
    let state: NotificationState = count > 0 ? .sent : isStored ? .stored : .discarded
    note(.delivery, id, state, now)
    switch state {
    case .sent: _ = journal.setSent(id, now)
    case .stored: _ = journal.setStored(id, now)
    default: journal.setState(id, state)
    }
  }

  // MARK: Notifications that somebody else decides about

  /// Remembers a notification that another service, or another process, is asked about; answers its id.
  public func beginElsewhere(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, _ row: RegistrationID? = nil, now: Timestamp
  ) -> UInt64 {
    let id = received(submission, detail, registration: row, now: now)
    note(.delivery, id, .stored, now)
    journal.setElsewhere(id)
    return id
  }

  /// It is on its way to the other service.
  public func noteForwarded(_ id: UInt64, now: Timestamp) { sent(id, .forwarded, now) }

  /// The verdict of the process that owns the token; nil for accepted.
  public func endRelay(_ id: UInt64, _ rejection: Rejection?, _ interface: Interface, now: Timestamp) {
    guard let rejection else { return countAccepted(interface) }
    countRejected(rejection, isAnswered: true, interface)
    ended(id, .rejected, now)
    journal.setRejection(id, rejection)
  }

  /// The end of what was forwarded; `explanation` says who answered what.
  public func endForward(_ id: UInt64, _ outcome: ForwardOutcome, explanation: String, now: Timestamp) {
    let (state, rejection) = outcome.entry
    if let rejection {
      countRejected(rejection, isAnswered: true, .gateway)
    } else {
      countAccepted(.gateway)
    }
    ended(id, state, by: .forwarded, now)
    // An old one may have left the journal; attaching to it would never be undone.
    journal.setRejection(id, rejection)
    journal.detail(id)?.explanation = explanation
  }

  /// What the owner says became of a notification that it has accepted.
  public func noteElsewhere(_ id: UInt64, _ state: NotificationState, at time: Timestamp) {
    guard let record = journal[id] else { return }
    switch state {
    case .stored: storedAgain(id, time)
    case .sent: sent(id, record.state == .stored ? .kept : .direct, time)
    default: ended(id, state, time)
    }
  }

  /// Has steps of notifications told that are in the history of another process.
  public func onStepElsewhere(_ tell: @escaping (UInt64, NotificationState, Timestamp) -> Void) {
    elsewhere = tell
  }

  // MARK: Events

  @inline(__always)
  func note(_ kind: BrokerEvent.Kind, _ id: UInt64, _ state: NotificationState, _ now: Timestamp) {
    guard events.isOn else { return }
    events.append(BrokerEvent(kind: kind, state: state, subject: id, at: now))
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
      BrokerEvent(kind: kind, change: change, environment: environment, subject: UInt64(row), at: now))
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

/// What became of a forwarded notification.
public enum ForwardOutcome: Sendable {
  /// The other service took it.
  case delivered
  case rejected(Rejection)
  /// Taken, as far as the provider is concerned, and given up: its time ran out.
  case expired
  /// Taken, as far as the provider is concerned, and of no use: the token is gone, or an error before it counts.
  case discarded

  /// What the journal says of it.
  fileprivate var entry: (NotificationState, Rejection?) {
    switch self {
    case .delivered: (.delivered, nil)
    case .rejected(let rejection): (.rejected, rejection)
    case .expired: (.expired, nil)
    case .discarded: (.discarded, nil)
    }
  }
}
