import Basics
import Broker
import Cluster
import Platform
import Runtime
import Transport
import Zones

/// The links of edges to this node: what they ask is done here, if it is the leader of the zone, and what becomes of it is told them.
final class LeaderLinks {
  fileprivate let broker: Broker
  fileprivate let clock: EmulatorClock
  fileprivate let leader: ZoneLeader
  /// Between what the others are told of the time, in nanoseconds: what they send on an older word is taken for so much older.
  private static let timeInterval: Int64 = 500_000_000

  /// By the ordinal of the node whose link it is.
  private var links: [UInt64: LeaderLink] = [:]
  private var sleep = SleepWatch(now: SystemClock.now(), busy: SystemClock.processorNanoseconds())
  private var toldAt = SystemClock.now()
  /// When this node was awake again.
  fileprivate var awakeSince: Instant { sleep.awakeSince }

  init(_ broker: Broker, _ cluster: ClusterNode, _ clock: EmulatorClock) {
    (self.broker, self.clock) = (broker, clock)
    leader = ZoneLeader(broker) { [unowned cluster] zone in
      cluster.seat(of: ZoneNumber(Int(zone))) == .here && cluster.waitingTime < EdgeSink.natsGrace
    }
    broker.history.onStepElsewhere { [unowned self] id, state, time in
      links[ClusterMembership.ordinal(of: id)]?.reply(.step(LinkStep(id: id, state: state, at: time)))
    }
  }

  /// Notes whether this node has slept; tells the others the time when it is due. To be called some ten times a second.
  func look() {
    let now = SystemClock.now()
    guard let hasSlept = sleep.look(now, busy: SystemClock.processorNanoseconds) else { return }
    guard hasSlept || now.nanoseconds(since: toldAt) >= Self.timeInterval else { return }
    toldAt = now
    for link in links.values { link.tellTime() }
  }

  /// Takes a link of another node.
  func take(_ peer: String, _ connection: SocketConnection) {
    let link = LeaderLink(self, peer, connection)
    connection.handler = link
    link.tellTime()
    connection.setPaused(false)
  }

  fileprivate func introduced(_ link: LeaderLink, _ ordinal: UInt64) { links[ordinal] = link }

  fileprivate func forget(_ link: LeaderLink) {
    links = links.filter { $0.value !== link }
  }
}

/// One link of an edge. It answers in the order of asking, and not before NATS has what it answers for.
private final class LeaderLink: ConnectionHandler {
  /// What may wait for a node that does not read, in bytes: beyond it the node is not listened to.
  private static let outputLimit = 8 << 20

  private unowned let links: LeaderLinks
  private let peer: String
  private unowned let connection: SocketConnection
  private var decoder = LinkDecoder()
  private var gate = LeaderGate(timeout: EdgeSink.timeout)

  init(_ links: LeaderLinks, _ peer: String, _ connection: SocketConnection) {
    (self.links, self.peer, self.connection) = (links, peer, connection)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    let now = links.clock.now()
    links.broker.noteRead()
    links.look()
    (gate.hasEnded, gate.awakeSince) = (connection.peerIsGone, links.awakeSince)
    do {
      try decoder.requests(in: bytes) { take($0, now) }
      connection.hold(decoder.heldBytes)
    } catch { return connection.abort("\(error)") }
    guard connection.queuedBytes > Self.outputLimit else { return }
    connection.setPaused(true)
    connection.notifyWhenDrained()
  }

  func connectionDrained(_ connection: SocketConnection) { connection.setPaused(false) }

  func connectionClosed(_ connection: SocketConnection, reason: String) { links.forget(self) }

  private func take(_ request: LinkFrame.Request, _ now: Timestamp) {
    switch request {
    case .introduction(let ordinal): links.introduced(self, ordinal)
    case .push(let relayed):
      let outcome = links.leader.decide(relayed, &gate, now: now, at: SystemClock.now())
      reply(.verdict(LinkVerdict(number: relayed.number, outcome)))
    case .command(let command):
      reply(.done(number: command.number, links.leader.obey(command, gate, at: SystemClock.now())))
    }
  }

  func tellTime() { reply(.time(LeaderGate.time(SystemClock.now()))) }

  func reply(_ reply: LinkFrame.Reply) { connection.send(LinkFrame.bytes(of: reply)) }
}

/// Finds that this node has slept, as it was stopped or had no processor. No clock: it is told the time.
struct SleepWatch {
  /// Who has not looked for so long, and had nothing to do, has slept, in nanoseconds. One that has too much to do must not have the
  /// others say everything again each turn.
  private static let limit: Int64 = 250_000_000
  /// Between looks that count, in nanoseconds: the processor's time is a system call.
  private static let pause: Int64 = 1_000_000
  /// Between sleeps that count, in nanoseconds: a node that has a fifth of a processor is stopped again and again, and could do nothing
  /// that the others ask. Less than after which others may take its zones (`ZoneLease.Terms.timeToLive`).
  private static let rest: Int64 = 2_000_000_000

  private var lookedAt: Instant
  /// What the thread had of the processor then, in nanoseconds.
  private var busyThen: Int64
  /// When this node was awake again.
  private(set) var awakeSince = Instant.distantPast

  init(now: Instant, busy: Int64) { (lookedAt, busyThen) = (now, busy) }

  /// `busy` answers what the thread has had of the processor, in nanoseconds. Nil if it is too early for a look, else whether it has
  /// slept since the last.
  mutating func look(_ now: Instant, busy: () -> Int64) -> Bool? {
    let whole = now.nanoseconds(since: lookedAt)
    guard whole >= Self.pause else { return nil }
    let busy = busy()
    let hasSlept = whole - (busy - busyThen) > Self.limit
    (lookedAt, busyThen) = (now, busy)
    guard hasSlept, now.nanoseconds(since: awakeSince) >= Self.rest else { return false }
    awakeSince = now
    return true
  }
}
