import Basics
import NATSWire

/// One node's part in one zone: it follows the log, takes the zone over when its leader is silent, and then writes the log, one
/// append at a time. The log is the lease. No I/O, no clock.
///
///     following ─(silence for `timeToLive`)→ claiming ─(epoch record acknowledged)→ owning ─(somebody else has appended)→ dropped
///         ↑─────────(somebody else was first)──────┘            stopped, from each: the log can't be what it is
///         └──────(the handover record acknowledged)── leaving ←─(handOver)── owning
///
/// The owner hands in what NATS says and the time, takes `Action`s, and performs them in order.
public struct ZoneLease: Sendable {
  public enum Role: Equatable, Sendable {
    case following
    /// The epoch record is on its way.
    case claiming
    case leading
    /// Ours until the handover record is written: nothing more is added.
    case leaving(to: String)
    /// It was ours. What is known here holds changes that nobody will confirm: a new lease begins with a snapshot.
    case dropped
    /// The log is damaged, or has lost what it had acknowledged.
    case stopped(String)

    public var isLeaving: Bool { if case .leaving = self { true } else { false } }
  }

  public enum Action: Equatable, Sendable {
    /// Append with this condition, and hand in what becomes of it.
    case append([UInt8], behind: UInt64)
    /// Read one message back, and hand it in.
    case readBack(UInt64)
    /// Changes of somebody else's: bring the zone's state up to date.
    case apply([UInt8])
    /// The zone is ours from now on.
    case begin(epoch: UInt64)
    /// These turns are in the log: whatever waited for them may be said.
    case confirm(turns: ClosedRange<UInt64>)
    /// The zone is the other node's, in order: what is known here is what the log says. What was delivered meanwhile was not looked
    /// at: deliver again from behind `reader.last`.
    case left(to: String)
    /// The zone is not ours any more, though we did not leave it: what is known here may be wrong.
    case drop
    case stop(String)
    /// The log has a record that can't be there: what it is, and its sequence.
    case damaged(String, UInt64)
    /// This message of the log is none that a node has written, and counts for nothing.
    case passedOver(UInt64)
  }

  /// Changes that wait for their append, and those on their way.
  private struct Batch {
    var bytes: [UInt8] = []
    var turns: ClosedRange<UInt64>?
  }

  /// The one append that is under way.
  private struct Outstanding {
    var record: [UInt8]
    var behind: UInt64
    var turns: ClosedRange<UInt64>?
    /// When it was sent first: whoever sees it counts from later.
    var sentAt: Instant
    /// When to send it again; nil while an answer is awaited.
    var retryAt: Instant?
    var attempts = 0
    var isReadBack = false
    var isHandover = false
  }

  /// What a lease is worth.
  public struct Terms: Sendable {
    /// Silence after which others may take a zone, in nanoseconds.
    public var timeToLive: Int64 = 3_000_000_000
    /// How much earlier a leader stops to answer by itself.
    public var margin: Int64 = 500_000_000
    /// Quiet after which a leader says that it lives.
    public var heartbeat: Int64 = 1_000_000_000
    /// Largest record, in bytes: what does not fit is cut.
    public var recordLimit = 1_000_000
    /// Most changes that wait, in bytes.
    public var queueLimit = 8 << 20
    /// Wait before an append is sent again that NATS did not take, doubled each time up to a second.
    public var retry: Int64 = 20_000_000

    public init() {}
  }

  public private(set) var role = Role.following
  /// Why the append that is under way was not taken so far: for people who wonder why nothing goes on.
  public private(set) var trouble: JetStreamFailure?
  public private(set) var reader: ZoneReader
  private let node: String
  private let stream: String
  private let terms: Terms
  /// Records that count for nothing, as an operator has said.
  private let aside: Set<UInt64>
  /// The last record that we have in the log.
  private var written = ZonePlace()
  private var outstanding: Outstanding?
  private var queue = Batch()
  /// What is left of a batch that did not fit into one record, the pieces in order.
  private var pieces: [ZoneRecord.Body] = []
  private var pieceTurns: ClosedRange<UInt64>?
  private var nextTurn: UInt64 = 1
  /// Since when nothing new was seen while NATS was there.
  private var silentSince: Instant
  /// When the append was sent that was acknowledged last.
  private var provenAt: Instant?
  /// The end of the log has been seen.
  public private(set) var isCaughtUp = false

  public init(
    node: String, stream: String, terms: Terms = Terms(), behind place: ZonePlace = ZonePlace(),
    aside: Set<UInt64> = [], now: Instant
  ) {
    (self.node, self.stream, self.terms, self.aside) = (node, stream, terms, aside)
    (reader, silentSince) = (ZoneReader(stream: stream, behind: place, aside: aside), now)
  }

  /// Whether what is known here may be told without another append: others can't own the zone before this ends.
  public func mayAnswer(_ now: Instant) -> Bool {
    guard role == .leading, let provenAt else { return false }
    return now.nanoseconds(since: provenAt) < terms.timeToLive - terms.margin
  }

  /// The last record that was read or written.
  public var last: UInt64 { writes ? written.sequence : reader.last }

  /// The reign of whoever leads the zone, or did last, by the log; 0 in a new one.
  public var epoch: UInt64 { writes ? written.epoch : reader.epoch }

  /// Where our own log is; nil unless it is ours.
  public var writtenPlace: ZonePlace? { role == .leading ? written : nil }

  /// Changes that wait for their append, in bytes.
  public var waitingBytes: Int { queue.bytes.count + (outstanding?.record.count ?? 0) }

  /// How long the append that is under way has waited for NATS, in nanoseconds; nil while there is none.
  public func appendWait(_ now: Instant) -> Int64? { outstanding.map { now.nanoseconds(since: $0.sentAt) } }

  /// How long nothing was heard of the zone's leader, in nanoseconds, by another node.
  public func silence(_ now: Instant) -> Int64 {
    role == .following ? now.nanoseconds(since: silentSince) : 0
  }

  /// Whether there is room for more changes: beyond it the node stops reading.
  public var hasRoom: Bool { queue.bytes.count < terms.queueLimit }

  // MARK: Following

  /// A record that NATS has delivered.
  public mutating func see(_ record: JetStreamRecord, now: Instant) -> [Action] {
    guard role == .following || role == .claiming, record.sequence > reader.last else { return [] }
    do throws(ZoneLogDamage) {
      let changes = try reader.take(record)
      silentSince = now
      return changes.map { [.apply($0)] } ?? []
    } catch {
      guard error.isForeign else { return stop(error) }
      reader.passOver(record.sequence)
      return [.passedOver(record.sequence)]
    }
  }

  /// The same of one that nobody of the cluster has written: it says nothing, and its writer does not own the zone.
  public mutating func passOver(_ sequence: UInt64) {
    if role == .following || role == .claiming { reader.passOver(sequence) }
  }

  /// NATS was unreachable, or the delivery had to begin again: silence did not count meanwhile.
  public mutating func noteGap(now: Instant) { (silentSince, isCaughtUp) = (now, false) }

  /// Nothing is delivered at the moment: silence does not count.
  public mutating func noteStandstill(now: Instant) { silentSince = now }

  /// All that was in the log when the delivery began has been seen.
  public mutating func noteCaughtUp() { isCaughtUp = true }

  /// To be called some ten times a second.
  public mutating func tick(_ now: Instant, mayClaim: Bool = true) -> [Action] {
    switch role {
    case .dropped, .stopped: return []
    case .following:
      guard mayClaim, mayTakeAtOnce || now.nanoseconds(since: silentSince) >= terms.timeToLive else {
        return []
      }
      return claim(now)
    case .claiming, .leading, .leaving:
      if let again = sendAgain(now) { return [again] }
      guard role == .leading, outstanding == nil else { return [] }
      guard let provenAt, now.nanoseconds(since: provenAt) >= terms.heartbeat else { return [] }
      return [append(.heartbeat, turns: nil, now)]
    }
  }

  /// Whether no silence is needed: the leader has left the zone to us, or was this node itself before it was started again.
  private var mayTakeAtOnce: Bool {
    isCaughtUp && (reader.successor ?? reader.leader ?? node) == node
  }

  private mutating func claim(_ now: Instant) -> [Action] {
    role = .claiming
    // Counted from the record before the first, so that the epoch record is number 0.
    written = ZonePlace(sequence: reader.last, epoch: reader.epoch + 1, number: .max, leader: node)
    return [append(.epoch, turns: nil, now)]
  }

  // MARK: Writing

  private var writes: Bool {
    switch role {
    case .leading, .leaving: true
    default: false
    }
  }

  /// Changes of one turn, to be appended; answers the turn's number, which `confirm` will tell. Nil where the zone is not ours or
  /// there is no room.
  public mutating func add(_ changes: [UInt8]) -> UInt64? {
    guard role == .leading, hasRoom else { return nil }
    defer { nextTurn += 1 }
    queue.bytes += changes
    queue.turns = (queue.turns?.lowerBound ?? nextTurn)...nextTurn
    return nextTurn
  }

  /// Leaves the zone to another node once what was added is in the log. Its sessions have ended, and nothing is added any more.
  public mutating func handOver(to node: String) {
    if role == .leading { role = .leaving(to: node) }
  }

  /// What to append now: to be asked after `add`, and after whatever NATS has said.
  public mutating func flush(_ now: Instant) -> [Action] {
    guard writes, outstanding == nil else { return [] }
    if pieces.isEmpty { cutQueue() }
    guard !pieces.isEmpty else {
      guard case .leaving(let node) = role else { return [] }
      return [append(.handover(to: node), turns: nil, now)]
    }
    let body = pieces.removeFirst()
    return [append(body, turns: pieces.isEmpty ? pieceTurns : nil, now)]
  }

  /// Takes all that waits as one group.
  private mutating func cutQueue() {
    guard let turns = queue.turns else { return }
    let limit = terms.recordLimit - ZoneRecord.overhead
    var rest = queue.bytes[...]
    while rest.count > limit {
      pieces.append(.piece(Array(rest.prefix(limit))))
      rest = rest.dropFirst(limit)
    }
    pieces.append(.changes(Array(rest)))
    pieceTurns = turns
    queue = Batch()
  }

  private mutating func append(_ body: ZoneRecord.Body, turns: ClosedRange<UInt64>?, _ now: Instant) -> Action
  {
    let record = ZoneRecord(
      epoch: written.epoch, number: written.number &+ 1, node: node, stream: stream, body: body)
    var fresh = Outstanding(record: record.encoded, behind: written.sequence, turns: turns, sentAt: now)
    if case .handover = body { fresh.isHandover = true }
    (outstanding, trouble) = (fresh, nil)
    return .append(fresh.record, behind: fresh.behind)
  }

  /// An append that was not taken, when its time has come; the same bytes behind the same sequence, so that it can't be there twice.
  private mutating func sendAgain(_ now: Instant) -> Action? {
    guard let waiting = outstanding, let retryAt = waiting.retryAt, now >= retryAt else { return nil }
    outstanding?.retryAt = nil
    return waiting.isReadBack
      ? .readBack(waiting.behind + 1) : .append(waiting.record, behind: waiting.behind)
  }

  // MARK: The NATS server's answers

  /// What became of the append.
  public mutating func appended(_ answer: Result<UInt64, JetStreamFailure>, now: Instant) -> [Action] {
    guard let waiting = outstanding, !waiting.isReadBack else { return [] }
    switch answer {
    case .success(let sequence) where sequence > waiting.behind: return isWritten(waiting, sequence, now)
    case .success(let sequence):
      return stop("the NATS server has stored record \(sequence) after \(waiting.behind)")
    case .failure(.wrongLastSequence(let last)) where last < waiting.behind:
      return stop(
        "the NATS server has lost records: it is at \(last), and had acknowledged \(waiting.behind)")
    case .failure(.wrongLastSequence):
      outstanding?.isReadBack = true
      return [.readBack(waiting.behind + 1)]
    case .failure(.unsuitable(let why)): return stop(why)
    case .failure(let failure): return retryLater(failure, now)
    }
  }

  /// What stands where our append was to be.
  public mutating func readBack(_ answer: Result<JetStreamRecord, JetStreamFailure>, now: Instant)
    -> [Action]
  {
    guard let waiting = outstanding, waiting.isReadBack else { return [] }
    switch answer {
    case .success(let record) where record.payload == waiting.record:
      return isWritten(waiting, record.sequence, now)
    case .success(let record): return somebodyElse(has: record, waiting, now)
    case .failure(.alien): return appendBehindAlien(waiting)
    // Purged already: then it was read, and snapshotted, by somebody else.
    case .failure(.refused(JetStreamFailure.messageNotFoundCode, _)): return lose(now)
    case .failure(.unsuitable(let why)): return stop(why)
    case .failure(let failure): return retryLater(failure, now)
    }
  }

  /// Who has taken the zone over, or was first, writes what can be next, in an epoch of its own; else it is damage.
  private mutating func somebodyElse(
    has record: JetStreamRecord, _ waiting: Outstanding, _ now: Instant
  ) -> [Action] {
    var log = writes ? ZoneReader(stream: stream, behind: written, aside: aside) : reader
    let isForeign = ZoneRecord.isForeign(record.payload)
    // What was delivered meanwhile has been looked at.
    if record.sequence <= log.last { return isForeign ? appendBehindAlien(waiting) : lose(now) }
    do throws(ZoneLogDamage) {
      _ = try log.take(record)
      guard !aside.contains(record.sequence) else { return appendBehindAlien(waiting) }
      guard !writes || log.epoch > written.epoch else {
        return stop(
          ZoneLogDamage(record.sequence, "it is in this node's name, and this one has not written it"))
      }
      return lose(now)
    } catch {
      guard isForeign else { return stop(error) }
      return [.passedOver(record.sequence)] + appendBehindAlien(waiting)
    }
  }

  /// Nobody of the cluster has written what stands there, so the zone is as it was. What was to stand there can't come to be there any
  /// more: only one append is on its way, still.
  private mutating func appendBehindAlien(_ waiting: Outstanding) -> [Action] {
    let behind = waiting.behind + 1
    outstanding?.behind = behind
    outstanding?.isReadBack = false
    return [.append(waiting.record, behind: behind)]
  }

  private mutating func retryLater(_ failure: JetStreamFailure, _ now: Instant) -> [Action] {
    guard var waiting = outstanding else { return [] }
    trouble = failure
    waiting.attempts += 1
    let pause = min(terms.retry << min(waiting.attempts - 1, 6), 1_000_000_000)
    waiting.retryAt = now.adding(nanoseconds: pause)
    outstanding = waiting
    return []
  }

  private mutating func isWritten(_ done: Outstanding, _ sequence: UInt64, _ now: Instant) -> [Action] {
    (outstanding, trouble) = (nil, nil)
    (written.sequence, written.number) = (sequence, written.number &+ 1)
    provenAt = done.sentAt
    switch role {
    case .claiming:
      role = .leading
      return [.begin(epoch: written.epoch)]
    case .leaving(let node) where done.isHandover: return leave(to: node, now)
    default: return done.turns.map { [.confirm(turns: $0)] } ?? []
    }
  }

  /// The zone is the other's; should that not take it, silence counts from here.
  private mutating func leave(to node: String, _ now: Instant) -> [Action] {
    written.successor = node
    reader = ZoneReader(stream: stream, behind: written, aside: aside)
    (role, provenAt, silentSince, isCaughtUp) = (.following, nil, now, false)
    return [.left(to: node)]
  }

  /// Somebody else writes the log.
  private mutating func lose(_ now: Instant) -> [Action] {
    trouble = nil
    guard writes else {
      (role, outstanding, silentSince) = (.following, nil, now)
      return []
    }
    (role, outstanding, queue, pieces, provenAt) = (.dropped, nil, Batch(), [], nil)
    return [.drop]
  }

  private mutating func stop(_ why: String) -> [Action] { halt(why, .stop(why)) }

  private mutating func stop(_ damage: ZoneLogDamage) -> [Action] {
    halt("\(damage)", .damaged(damage.problem, damage.sequence))
  }

  private mutating func halt(_ why: String, _ action: Action) -> [Action] {
    (role, outstanding, queue, pieces, provenAt) = (.stopped(why), nil, Batch(), [], nil)
    return [action]
  }
}
