import Basics
import Broker
import NATSWire
import Platform
import Transport
import Zones

/// Keeps the token map in the logs of its zones: a turn's changes go to the logs of the zones that this node leads, and the commit
/// is complete when all of them have it.
///
///     commit ─→ each zone's lease: one record, or a place in the next ─→ confirmed, zone by zone ─→ `ended`
package final class ClusterStore: BrokerStore {
  private let map: ZoneMap
  /// Hands a zone's changes to its lease; answers the turn's number there.
  private let add: (ZoneNumber, [UInt8]) -> UInt64?
  /// The turn in each zone that the commit under way waits for.
  private var waiting: [ZoneNumber: UInt64] = [:]
  /// Who waits for it.
  private var ended: ((Result<Void, any Error>) -> Void)?
  private var beganAt = Instant.distantPast
  /// Records that the last commit took, as a count.
  private var recordCount = 0
  /// A record costs the nodes and NATS some 50 µs, whether it tells of one push or of a hundred: with so many nanoseconds
  /// for each, many zones in a commit make it one of many pushes, and a single zone hardly waits.
  private static let restForRecord: Int64 = 50_000
  private static let longestRest: Int64 = 2_000_000
  private let now: () -> Instant

  package init(
    _ map: ZoneMap, now: @escaping () -> Instant, add: @escaping (ZoneNumber, [UInt8]) -> UInt64?
  ) {
    (self.map, self.now, self.add) = (map, now, add)
  }

  package var commitsLater: Bool { true }

  /// Whether a commit is under way.
  package var isCommitting: Bool { !waiting.isEmpty }

  /// How long NATS has let this node wait for the commit that is under way, in nanoseconds.
  var waitingTime: Int64 { isCommitting ? now().nanoseconds(since: beganAt) : 0 }

  package func commit(
    _ changes: BrokerChanges, of broker: Broker, ended: @escaping (Result<Void, any Error>) -> Void
  ) -> CommitProgress {
    self.ended = ended
    let told = StateChanges(map, broker)
    told.add(changes)
    for (zone, bytes) in told.byZone {
      // One that was left a moment ago tells nothing any more.
      if let turn = add(zone, bytes) { waiting[zone] = turn }
    }
    (beganAt, recordCount) = (now(), waiting.count)
    return waiting.isEmpty ? .complete : .later
  }

  package var restAfterCommit: Int64 {
    let due = min(Int64(recordCount) * Self.restForRecord, Self.longestRest)
    return max(0, due - now().nanoseconds(since: beganAt))
  }

  /// The log of a zone has these turns.
  package func confirmed(_ zone: ZoneNumber, _ turns: ClosedRange<UInt64>) {
    guard let turn = waiting[zone], turn <= turns.upperBound else { return }
    waiting[zone] = nil
    if waiting.isEmpty { ended?(.success(())) }
  }

  /// Nothing more will be written.
  func fail(_ error: any Error) {
    let wasCommitting = isCommitting
    waiting = [:]
    if wasCommitting { ended?(.failure(error)) }
  }

  package func checkpointIfIdle() {}
  package func close() {}
}

/// Whoever has a zone's lease carried out. Calls come on the loop.
protocol ZoneDriverDelegate: AnyObject {
  /// The log says what has changed.
  func zone(_ zone: ZoneNumber, apply changes: [UInt8]) throws
  func zoneBegan(_ zone: ZoneNumber, epoch: UInt64)
  func zone(_ zone: ZoneNumber, confirmed turns: ClosedRange<UInt64>)
  func zoneLeft(_ zone: ZoneNumber, to node: String)
  /// Somebody else leads the log now.
  func zoneWasRead(_ zone: ZoneNumber)
  /// What a snapshot of the zone tells has that new beginning behind it.
  func zone(_ zone: ZoneNumber, hasStartedOver number: UInt64)
  /// What is needed for a snapshot of the zone, which is about to be made.
  func zoneSnapshot(
    _ zone: ZoneNumber, _ log: LogStream, at place: ZonePlace, of stream: String,
    done: @escaping (SnapshotWriter.Outcome) -> Void
  ) -> SnapshotWriter?
  /// A stream has something that nobody of the cluster has written, there or somewhere: it counts for nothing.
  func zonePassedOver(_ stream: String, _ sequence: UInt64?)
  /// This node can't go on: it was missing too long, or the log is not what it must be.
  func zoneFailed(_ zone: ZoneNumber, _ sentence: String)
}

/// One zone at one node: its log in NATS, and the lease that says what to do with it.
final class ZoneDriver {
  let zone: ZoneNumber
  /// The log has grown by so much since the last snapshot: time for another. Records, as a count, and bytes.
  private static let snapshotDue = (records: 20_000, bytes: 8 << 20)
  /// More than that a NATS server need not say: what is appended is added to it.
  private static let grownLimit: UInt64 = 1 << 62

  private let log: LogStream
  private let snapshots: LogStream
  private let client: NATSClient
  private let node: String
  private let asides: SetAside
  private weak var delegate: (any ZoneDriverDelegate)?
  /// nil until the log is open.
  private(set) var lease: ZoneLease?
  private var reader: SnapshotReader?
  private var writer: SnapshotWriter?
  /// What lies behind the last snapshot, as far as this node knows.
  private var grown = (records: 0, bytes: 0)
  /// Snapshots that this node has made of it, as a count.
  private(set) var snapshotCount = 0

  init(
    _ zone: ZoneNumber, _ client: NATSClient, _ loop: EventLoop, _ settings: NodeSettings,
    asides: SetAside, delegate: any ZoneDriverDelegate
  ) {
    (self.zone, self.client, self.node, self.delegate) = (zone, client, settings.name, delegate)
    self.asides = asides
    log = settings.log(client, loop) { $0.log(of: zone, replicas: $1) }
    snapshots = settings.log(client, loop) { $0.snapshots(of: zone, replicas: $1) }
  }

  func open() {
    log.open { [unowned self] result in
      switch result {
      case .success(let state): opened(state)
      case .failure(let failure): delegate?.zoneFailed(zone, "\(failure)")
      }
    }
  }

  private func opened(_ state: JetStreamState) {
    grown = (
      Int(clamping: min(state.messages, Self.grownLimit)), Int(clamping: min(state.bytes, Self.grownLimit))
    )
    reader = SnapshotReader(client, snapshots, of: state.created) { [unowned self] in
      heard($0, of: state)
    }
    reader?.begin()
  }

  private func heard(_ event: SnapshotReader.Event, of state: JetStreamState) {
    switch event {
    case .begins(let end): delegate?.zone(zone, hasStartedOver: end.startsOver)
    case .piece(let changes):
      apply(changes) {
        let name = snapshots.configuration.name
        delegate?.zoneFailed(
          zone, "its snapshot, in the stream \(name): \($0). Restore the NATS server's data")
      }
    case .failed(let sentence): delegate?.zoneFailed(zone, sentence)
    case .done(let end):
      reader = nil
      guard end != nil || state.firstSequence <= 1 || state.messages == 0 && state.lastSequence == 0 else {
        delegate?.zoneFailed(
          zone, "its log begins at \(state.firstSequence), and there is no snapshot of what was before")
        return
      }
      lease = ZoneLease(
        node: node, stream: state.created, behind: end?.place ?? ZonePlace(),
        aside: asides.sequences(of: zone, madeAt: state.created), now: SystemClock.now())
      follow()
    }
  }

  /// `failed` says what can't go on with changes that can't be read, with what is wrong.
  private func apply(_ changes: [UInt8], failed: (String) -> Void) {
    do { try delegate?.zone(zone, apply: changes) } catch { failed("\(error)") }
  }

  private func follow() {
    log.follow(from: (lease?.reader.last ?? 0) + 1) { [unowned self] in heard($0) }
  }

  private func heard(_ event: LogStream.Event) {
    let now = SystemClock.now()
    switch event {
    case .record(let record):
      let before = leaderName
      perform(lease?.see(record, now: now))
      if leaderName != before { delegate?.zoneWasRead(zone) }
    case .alien(let sequence):
      lease?.passOver(sequence)
      delegate?.zonePassedOver(log.configuration.name, nil)
    case .gap: lease?.noteGap(now: now)
    case .caughtUp:
      lease?.noteCaughtUp()
      delegate?.zoneWasRead(zone)
    case .purged(let first):
      delegate?.zoneFailed(zone, "its log begins at \(first), and the records before that were not read")
    case .lost(let failure): delegate?.zoneFailed(zone, "\(failure)")
    }
  }

  // MARK: What the node asks

  var role: ZoneLease.Role? { lease?.role }

  /// Who leads the zone by the log, or is to; nil in a new one.
  var leaderName: String? {
    switch role {
    case .leading: node
    case .leaving(let heir): heir
    default: lease.flatMap { $0.reader.successor ?? $0.reader.leader }
    }
  }

  var trouble: JetStreamFailure? { lease?.trouble ?? log.trouble }

  /// To be called some ten times a second.
  func tick(_ now: Instant, mayClaim: Bool) {
    // Silence says nothing while NATS does not deliver.
    if !log.isLive(now), lease?.role == .following { lease?.noteStandstill(now: now) }
    perform(lease?.tick(now, mayClaim: mayClaim))
  }

  /// What a turn has changed; answers the turn's number. nil where the zone is not ours.
  func add(_ changes: [UInt8]) -> UInt64? {
    guard let turn = lease?.add(changes) else { return nil }
    perform(lease?.flush(SystemClock.now()))
    return turn
  }

  // MARK: Snapshots

  /// Whether it is time for one.
  var wantsSnapshot: Bool {
    role == .leading && writer == nil
      && (grown.records >= Self.snapshotDue.records || grown.bytes >= Self.snapshotDue.bytes)
  }

  var isMakingSnapshot: Bool { writer != nil }

  /// Begins one, behind all that is in the log now.
  func makeSnapshot() {
    guard let place = lease?.writtenPlace, let stream = log.created else { return }
    grown = (0, 0)
    writer = delegate?.zoneSnapshot(zone, snapshots, at: place, of: stream) { [unowned self] in
      writer = nil
      guard case .done(let end) = $0 else { return }
      snapshotCount += 1
      log.purge(before: end.place.sequence + 1) { _ in }
    }
    writer?.begin()
  }

  /// Everything is forgotten: what a snapshot has told so far is of the time before.
  func startedOver() { writer?.giveUp("everything was reset") }

  func handOver(to node: String) {
    lease?.handOver(to: node)
    perform(lease?.flush(SystemClock.now()))
  }

  // MARK: What the lease wants

  private func perform(_ actions: [ZoneLease.Action]?) {
    for action in actions ?? [] { perform(action) }
  }

  private func perform(_ action: ZoneLease.Action) {
    switch action {
    case .append(let record, let behind):
      grown = (grown.records + 1, grown.bytes + record.count)
      log.append(record, behind: behind) { [weak self] in self?.appended($0) }
    case .readBack(let sequence): log.readBack(sequence) { [weak self] in self?.read($0) }
    case .apply(let changes): apply(changes) { damaged($0, lease?.reader.last ?? 0) }
    case .begin(let epoch):
      // What we write ourselves need not be read.
      log.stopFollowing()
      delegate?.zoneBegan(zone, epoch: epoch)
    case .confirm(let turns): delegate?.zone(zone, confirmed: turns)
    case .left(let node):
      writer?.giveUp("the zone was left")
      delegate?.zoneLeft(zone, to: node)
      follow()
    case .drop:
      delegate?.zoneFailed(
        zone, "another node has become its leader, as this node did not respond for too long")
    case .stop(let why): delegate?.zoneFailed(zone, why)
    case .passedOver(let sequence): delegate?.zonePassedOver(log.configuration.name, sequence)
    case .damaged(let problem, let sequence): damaged(problem, sequence)
    }
  }

  private func damaged(_ problem: String, _ sequence: UInt64) {
    let cure =
      "restore the NATS server's data, or stop all nodes and discard the message: apns-emulator cluster repair \(zone) \(sequence)"
    delegate?.zoneFailed(
      zone, "message \(sequence) of the stream \(log.configuration.name): \(problem). To go on \(cure)")
  }

  private func appended(_ answer: Result<UInt64, JetStreamFailure>) {
    perform(lease?.appended(answer, now: SystemClock.now()))
    perform(lease?.flush(SystemClock.now()))
  }

  private func read(_ answer: Result<JetStreamRecord, JetStreamFailure>) {
    if case .failure(.alien) = answer { delegate?.zonePassedOver(log.configuration.name, nil) }
    perform(lease?.readBack(answer, now: SystemClock.now()))
    perform(lease?.flush(SystemClock.now()))
  }
}
