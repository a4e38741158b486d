import NATSWire
import Platform
import PushModel
import Transport
import Zones

/// Whoever has a zone's lease carried out. Calls come on the loop.
protocol ZoneDriverOwner: AnyObject {
  /// The log says what has changed.
  func zone(_ zone: ZoneNumber, apply changes: [UInt8]) throws
  func zoneBegan(_ zone: ZoneNumber, epoch: UInt64)
  func zone(_ zone: ZoneNumber, confirmed turns: ClosedRange<UInt64>)
  func zoneLeft(_ zone: ZoneNumber, to node: String)
  /// Somebody else owns the log now.
  func zoneWasRead(_ zone: ZoneNumber)
  /// This node can't go on: it was away too long, or the log is not what it must be.
  func zoneFailed(_ zone: ZoneNumber, _ sentence: String)
}

/// One zone at one node: its log in the engine, and the lease that says what to do with it.
final class ZoneDriver {
  let zone: ZoneNumber
  private let log: LogStream
  private let node: String
  private weak var owner: (any ZoneDriverOwner)?
  /// nil until the log is open.
  private(set) var lease: ZoneLease?
  /// The log's size, as of its opening.
  private(set) var state: JetStreamState?

  init(_ zone: ZoneNumber, _ log: LogStream, node: String, owner: any ZoneDriverOwner) {
    (self.zone, self.log, self.node, self.owner) = (zone, log, node, owner)
  }

  /// The subjects and streams of logs.
  static func configuration(_ zone: ZoneNumber, replicas: Int) -> JetStreamConfiguration {
    JetStreamConfiguration(name: "APNS_Z\(zone)", subject: "apns.log.\(zone)", replicas: replicas)
  }

  func open() {
    log.open { [unowned self] result in
      switch result {
      case .success(let state): opened(state)
      case .failure(let failure): owner?.zoneFailed(zone, "\(failure)")
      }
    }
  }

  private func opened(_ state: JetStreamState) {
    guard state.differences.isEmpty else {
      let name = log.configuration.name
      owner?.zoneFailed(
        zone,
        "the stream \(name) of the engine is not one of ours: \(state.differences.joined(separator: "; "))")
      return
    }
    self.state = state
    lease = ZoneLease(node: node, stream: state.created, now: SystemClock.now())
    follow()
  }

  private func follow() {
    log.follow(from: (lease?.reader.last ?? 0) + 1) { [unowned self] in heard($0) }
  }

  private func heard(_ event: LogStream.Event) {
    let now = SystemClock.now()
    switch event {
    case .record(let record):
      let before = ownerName
      perform(lease?.see(record, now: now))
      if ownerName != before { owner?.zoneWasRead(zone) }
    case .gap: lease?.noteGap(now: now)
    case .caughtUp:
      lease?.noteCaughtUp()
      owner?.zoneWasRead(zone)
    case .purged(let first):
      owner?.zoneFailed(zone, "its log begins at \(first), and what is before that was not read")
    case .lost(let failure): owner?.zoneFailed(zone, "\(failure)")
    }
  }

  // MARK: What the node asks

  var role: ZoneLease.Role? { lease?.role }

  /// Who owns the zone by the log, or is to; nil in a new one.
  var ownerName: String? {
    switch role {
    case .owning: node
    case .leaving(let heir): heir
    default: lease.flatMap { $0.reader.successor ?? $0.reader.owner }
    }
  }

  var trouble: JetStreamFailure? { lease?.trouble ?? log.trouble }

  /// To be called some ten times a second.
  func tick(_ now: Instant, mayClaim: Bool) {
    // Silence says nothing while the engine does not deliver.
    if !log.isLive(now), lease?.role == .following { lease?.noteGap(now: now) }
    perform(lease?.tick(now, mayClaim: mayClaim))
  }

  /// What a turn has changed; answers the turn's number. nil where the zone is not ours.
  func add(_ changes: [UInt8]) -> UInt64? {
    guard let turn = lease?.add(changes) else { return nil }
    perform(lease?.flush(SystemClock.now()))
    return turn
  }

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
      log.append(record, behind: behind) { [weak self] in self?.appended($0) }
    case .readBack(let sequence): log.readBack(sequence) { [weak self] in self?.read($0) }
    case .apply(let changes):
      do { try owner?.zone(zone, apply: changes) } catch { owner?.zoneFailed(zone, "\(error)") }
    case .begin(let epoch):
      // What we write ourselves need not be read.
      log.stopFollowing()
      owner?.zoneBegan(zone, epoch: epoch)
    case .confirm(let turns): owner?.zone(zone, confirmed: turns)
    case .left(let node):
      owner?.zoneLeft(zone, to: node)
      follow()
    case .drop:
      owner?.zoneFailed(zone, "another node has taken it over, as nothing was heard of this one for too long")
    case .stop(let why): owner?.zoneFailed(zone, why)
    }
  }

  private func appended(_ answer: Result<UInt64, JetStreamFailure>) {
    perform(lease?.appended(answer, now: SystemClock.now()))
    perform(lease?.flush(SystemClock.now()))
  }

  private func read(_ answer: Result<JetStreamRecord, JetStreamFailure>) {
    perform(lease?.readBack(answer, now: SystemClock.now()))
    perform(lease?.flush(SystemClock.now()))
  }
}
