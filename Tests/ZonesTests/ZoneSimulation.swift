import Basics
import NATSWire

import Zones

/// Nodes that want the same zone, on a NATS server that delays, loses answers, sends twice, and is away at times: all in virtual
/// time, and the same for the same seed.
struct ZoneSimulation {
  struct Violation: Error, CustomStringConvertible { let description: String }

  private static let step: Int64 = 10_000_000
  private static let stream = "2026-01-02T03:04:05Z"
  /// Virtual time of a schedule, in steps, of which the last are calm.
  private static let steps = 2500, calmSteps = 900

  /// Something on its way.
  private enum Parcel {
    case request(node: Int, attempt: Int, [UInt8], behind: UInt64)
    case answer(node: Int, attempt: Int, Result<UInt64, JetStreamFailure>)
    case found(node: Int, attempt: Int, Result<JetStreamRecord, JetStreamFailure>)
  }

  private struct Node {
    var lease: ZoneLease
    /// How fast its clock runs: a thousandth of a second each second, and more.
    var rate: Double
    var clock: Double = 0
    var pausedUntil = 0
    /// What was applied and added, in order.
    var state: [UInt64] = []
    var added: [UInt64: UInt64] = [:]
    /// The request under way, and until when it waits.
    var attempt = 0
    var waitsUntil: Int?
    var isReadBack = false
    /// The next record of the log to be delivered.
    var delivered = 0

    var now: Instant { Instant(nanoseconds: Int64(clock)) }
  }

  private var choices: SeededChoices
  private var nodes: [Node] = []
  private var log: [[UInt8]] = []
  /// Somebody who reads the log as it is written, and nothing else, and the changes that they know.
  private var witness = ZoneReader(stream: Self.stream)
  private var written: [UInt64] = []
  private var writtenOnce: Set<UInt64> = []
  private var parcels: [(at: Int, parcel: Parcel)] = []
  private var time = 0
  private var awayUntil = 0
  private var nextChange: UInt64 = 1
  private var confirmed: Set<UInt64> = []
  /// Leaders there have been, and appends that had to be sent again.
  private(set) var reigns = 0, retries = 0, handovers = 0
  var confirmedCount: Int { confirmed.count }

  init(seed: UInt64, nodes count: Int) {
    choices = SeededChoices(seed: seed)
    for number in 0..<count { nodes.append(fresh(number)) }
  }

  private mutating func fresh(_ number: Int) -> Node {
    let now = Instant(nanoseconds: 0)
    let rate = 0.98 + choices.unit() * 0.04
    return Node(lease: ZoneLease(node: "node-\(number)", stream: Self.stream, now: now), rate: rate)
  }

  private var isCalm: Bool { time > Self.steps - Self.calmSteps }

  private mutating func happens(_ probability: Double) -> Bool { !isCalm && choices.unit() < probability }

  mutating func run() throws {
    while time < Self.steps {
      time += 1
      if happens(0.002) { awayUntil = time + Int(choices.whole(upTo: 500)) }
      try carryParcels()
      for index in nodes.indices { try turn(of: index) }
      try checkLeaders()
    }
    try checkEnd()
  }

  // MARK: NATS

  private mutating func send(_ parcel: Parcel) {
    guard time >= awayUntil, !happens(0.02) else { return }
    parcels.append((time + 1 + Int(choices.whole(upTo: isCalm ? 1 : 20)), parcel))
    // On its way twice, as after a connection that was lost and found.
    if happens(0.01) { parcels.append((time + 1 + Int(choices.whole(upTo: 200)), parcel)) }
  }

  private mutating func carryParcels() throws {
    let due = parcels.filter { $0.at <= time }
    parcels.removeAll { $0.at <= time }
    for (_, parcel) in due {
      switch parcel {
      case .request(let node, let attempt, let record, let behind):
        guard time >= awayUntil else { continue }
        send(.answer(node: node, attempt: attempt, try append(record, behind)))
      case .answer(let node, let attempt, let answer):
        try take(node, attempt) { $0.appended(answer, now: $1) }
      case .found(let node, let attempt, let answer): try take(node, attempt) { $0.readBack(answer, now: $1) }
      }
    }
  }

  private mutating func append(
    _ record: [UInt8], _ behind: UInt64
  ) throws -> Result<UInt64, JetStreamFailure> {
    guard log.count == behind else { return .failure(.wrongLastSequence(UInt64(log.count))) }
    log.append(record)
    let sequence = UInt64(log.count)
    for change in try witness.take(JetStreamRecord(sequence: sequence, payload: record)).map(Self.changes)
      ?? []
    {
      guard writtenOnce.insert(change).inserted else {
        throw Violation(description: "change \(change) is in the log twice")
      }
      written.append(change)
    }
    return .success(sequence)
  }

  private func record(_ sequence: UInt64) -> Result<JetStreamRecord, JetStreamFailure> {
    guard sequence <= log.count else { return .failure(.refused(code: 10037, words: "no message found")) }
    return .success(JetStreamRecord(sequence: sequence, payload: log[Int(sequence) - 1]))
  }

  // MARK: Nodes

  /// An answer, unless the node has given up waiting for it.
  private mutating func take(
    _ index: Int, _ attempt: Int, _ hand: (inout ZoneLease, Instant) -> [ZoneLease.Action]
  ) throws {
    guard nodes[index].attempt == attempt, nodes[index].waitsUntil != nil, nodes[index].pausedUntil <= time
    else {
      return
    }
    nodes[index].waitsUntil = nil
    let now = nodes[index].now
    try perform(hand(&nodes[index].lease, now), index)
  }

  private mutating func turn(of index: Int) throws {
    nodes[index].clock += Double(Self.step) * nodes[index].rate
    if happens(0.0015) { nodes[index].pausedUntil = time + Int(choices.whole(upTo: 800)) }
    guard nodes[index].pausedUntil <= time else { return }
    if happens(0.0005) { nodes[index] = restarted(index) }
    try deliver(index)
    try giveUpWaiting(index)
    let now = nodes[index].now
    try perform(nodes[index].lease.tick(now), index)
    if nodes[index].lease.role == .leading, choices.unit() < 0.3 { try add(index) }
    if happens(0.002) {
      nodes[index].lease.handOver(to: "node-\(choices.whole(upTo: Int64(nodes.count - 1)))")
    }
    try perform(nodes[index].lease.flush(nodes[index].now), index)
  }

  /// The same node after `kill -9`: it knows nothing, and its old requests are still on their way.
  private mutating func restarted(_ index: Int) -> Node {
    var node = nodes[index]
    // Under its own name it need not wait for silence, whatever of its last life is still on its way.
    let name = choices.unit() < 0.5 ? "node-\(index)" : "node-\(index)-\(time)"
    node.lease = ZoneLease(node: name, stream: Self.stream, now: node.now)
    (node.state, node.added, node.waitsUntil, node.delivered) = ([], [:], nil, 0)
    node.attempt += 1
    return node
  }

  private mutating func deliver(_ index: Int) throws {
    guard time >= awayUntil else { return nodes[index].lease.noteGap(now: nodes[index].now) }
    guard isCalm || choices.unit() < 0.5 else { return }
    while nodes[index].delivered < log.count {
      let sequence = nodes[index].delivered + 1
      nodes[index].delivered = sequence
      let record = JetStreamRecord(sequence: UInt64(sequence), payload: log[sequence - 1])
      let now = nodes[index].now
      try perform(nodes[index].lease.see(record, now: now), index)
    }
    nodes[index].lease.noteCaughtUp()
  }

  private mutating func giveUpWaiting(_ index: Int) throws {
    guard let waitsUntil = nodes[index].waitsUntil, waitsUntil <= time else { return }
    nodes[index].waitsUntil = nil
    retries += 1
    let now = nodes[index].now
    let actions =
      nodes[index].isReadBack
      ? nodes[index].lease.readBack(.failure(.late), now: now)
      : nodes[index].lease.appended(.failure(.late), now: now)
    try perform(actions, index)
  }

  private mutating func add(_ index: Int) throws {
    let change = nextChange
    nextChange += 1
    let bytes = withUnsafeBytes(of: change.bigEndian) { Array($0) }
    guard let turn = nodes[index].lease.add(bytes) else {
      throw Violation(description: "an owner has no room")
    }
    nodes[index].state.append(change)
    nodes[index].added[turn] = change
  }

  private mutating func perform(_ actions: [ZoneLease.Action], _ index: Int) throws {
    for action in actions {
      switch action {
      case .append(let record, let behind):
        wait(index, isReadBack: false)
        send(.request(node: index, attempt: nodes[index].attempt, record, behind: behind))
      case .readBack(let sequence):
        wait(index, isReadBack: true)
        send(.found(node: index, attempt: nodes[index].attempt, record(sequence)))
      case .apply(let changes): nodes[index].state += Self.changes(changes)
      case .begin: reigns += 1
      case .left:
        handovers += 1
        nodes[index].delivered = Int(nodes[index].lease.reader.last)
      case .confirm(let turns):
        for turn in turns {
          guard let change = nodes[index].added.removeValue(forKey: turn) else {
            throw Violation(description: "turn \(turn) was confirmed twice")
          }
          confirmed.insert(change)
          guard writtenOnce.contains(change) else {
            throw Violation(description: "change \(change) was confirmed, and is not in the log")
          }
        }
      case .drop: nodes[index] = restarted(index)
      case .stop(let why): throw Violation(description: why)
      case .damaged(let why, let sequence): throw Violation(description: "\(sequence): \(why)")
      case .passedOver: break
      }
    }
  }

  private mutating func wait(_ index: Int, isReadBack: Bool) {
    nodes[index].attempt += 1
    (nodes[index].waitsUntil, nodes[index].isReadBack) = (time + 50, isReadBack)
  }

  private static func changes(_ bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count, by: 8).map { start in
      bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  // MARK: What must hold

  private func checkLeaders() throws {
    let sure = nodes.filter { $0.pausedUntil <= time && $0.lease.mayAnswer($0.now) }
    guard sure.count <= 1 else { throw Violation(description: "\(sure.count) nodes own the zone at once") }
  }

  private func checkEnd() throws {
    let leaders = nodes.filter { $0.lease.role == .leading }
    guard leaders.count == 1, let leader = leaders.first else {
      throw Violation(description: "\(leaders.count) owners after a long calm: \(nodes.map(\.lease.role))")
    }
    guard leader.state.starts(with: written) else {
      throw Violation(description: "the owner knows another zone than the log tells of")
    }
  }
}
