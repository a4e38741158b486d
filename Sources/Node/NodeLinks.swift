import Basics
import Broker
import Cluster
import Platform
import Services
import Transport
import Zones

/// This node's links to the others: one to each that something was sent to, made when it is first needed.
final class EdgeLinks {
  /// The other says the time some times a second. Nanoseconds without a word until the link is given up: longer than any push
  /// waits.
  private static let silenceLimit: Int64 = 6_000_000_000

  /// Has the links, and hears what comes on them.
  fileprivate unowned let sink: EdgeSink
  private let caller: NodeCaller
  private let ordinal: UInt64
  private var links: [String: EdgeLink] = [:] { didSet { latest = nil } }
  /// The one that was sent on last: most of what is sent goes where the one before went.
  private var latest: EdgeLink?

  init(_ caller: NodeCaller, ordinal: UInt64, _ sink: EdgeSink) {
    (self.caller, self.ordinal, self.sink) = (caller, ordinal, sink)
  }

  /// Sends a whole request that this node has had since then, now or when the link is there.
  func send(_ message: [UInt8], since: Instant, attempt: UInt32 = 0, to peer: NodePeer) {
    let request = EdgeLink.Request(message: message, since: since, attempt: attempt)
    if let latest, latest.peer == peer.name { return latest.send(request) }
    if let link = links[peer.name] {
      latest = link
      return link.send(request)
    }
    let link = EdgeLink(peer.name, self, ordinal: ordinal)
    links[peer.name] = link
    link.send(request)
    link.begin(peer, caller)
  }

  fileprivate func lost(_ link: EdgeLink, wasOpen: Bool) {
    guard links[link.peer] === link else { return }
    links[link.peer] = nil
    sink.lost(link.peer, wasOpen: wasOpen)
  }

  /// Ends links on which nothing is heard any more; to be called some times a second.
  func tick(_ now: Instant) {
    for link in links.values where link.silence(now) >= Self.silenceLimit {
      link.abort("nothing was received for \(Self.silenceLimit / 1_000_000_000) s")
    }
  }

  func close() {
    for link in links.values { link.close() }
    links = [:]
  }
}

/// A link to one node.
///
///     calling ─(connected: says who this is)→ introduced ─(hears the time)→ open: what waited is said, and all that comes
private final class EdgeLink: ConnectionHandler {
  /// A message, and what is told of it when it goes out.
  struct Request {
    var message: [UInt8]
    var since: Instant
    var attempt: UInt32
  }

  let peer: String
  private let ordinal: UInt64
  private weak var links: EdgeLinks?
  private var connection: SocketConnection?
  private var decoder = LinkDecoder()
  /// What is to be said once it is open.
  private var early: [Request] = []
  /// A message as it goes out; its room stays.
  private var outgoing: [UInt8] = []
  /// What the other's clock said last; nil until it is open.
  private var heard: UInt64?
  /// When anything was heard last.
  private var heardAt = Instant.distantPast
  /// Of the one call that makes it.
  private var cancel: (() -> Void)?

  init(_ peer: String, _ links: EdgeLinks, ordinal: UInt64) {
    (self.peer, self.links, self.ordinal) = (peer, links, ordinal)
  }

  var isOpen: Bool { heard != nil }

  func begin(_ peer: NodePeer, _ caller: NodeCaller) {
    cancel = caller.call(peer, for: .link) { [weak self] in self?.called($0) }
  }

  func send(_ request: Request) {
    guard let connection, let heard else { return early.append(request) }
    let age = SystemClock.now().nanoseconds(since: request.since)
    outgoing.removeAll(keepingCapacity: true)
    outgoing += request.message
    LinkStamp(heard: heard, age: UInt64(clamping: age), attempt: request.attempt).mark(&outgoing)
    connection.send(outgoing)
  }

  private func hear(_ time: UInt64) {
    heard = time
    let waiting = early
    early = []
    for request in waiting { send(request) }
  }

  private func called(_ result: Result<SocketConnection, NodeCaller.Failure>) {
    guard case .success(let connection) = result else {
      links?.lost(self, wasOpen: false)
      return
    }
    (self.connection, heardAt) = (connection, SystemClock.now())
    connection.handler = self
    connection.setPaused(false)
    connection.send(LinkFrame.introduction(ordinal: ordinal))
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    heardAt = SystemClock.now()
    // Held once for all that was read.
    let sink = links?.sink
    do {
      try decoder.replies(in: bytes) {
        if case .time(let time) = $0 { hear(time) } else { sink?.answered($0, by: peer) }
      }
      connection.hold(decoder.heldBytes)
    } catch { connection.abort("\(error)") }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    links?.lost(self, wasOpen: isOpen)
  }

  /// For how long nothing was heard, in nanoseconds.
  func silence(_ now: Instant) -> Int64 { connection == nil ? 0 : now.nanoseconds(since: heardAt) }

  func abort(_ reason: String) { connection?.abort(reason) }

  func close() {
    cancel?()
    connection?.close()
  }
}

/// Takes the links of other nodes.
package protocol LinkTaker: AnyObject {
  /// The connection is open and quiet, and its handler is the taker's to set.
  func take(_ peer: String, _ connection: SocketConnection)
}

/// The links of edges to this node: what they ask is done here, if it is the leader of the zone, and what becomes of it is told them.
package final class LeaderLinks: LinkTaker {
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
    // Set here, as the leader needs the broker, whose history tells it nothing without a cluster.
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

  package func take(_ peer: String, _ connection: SocketConnection) {
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

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
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
package struct SleepWatch {
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
  package private(set) var awakeSince = Instant.distantPast

  package init(now: Instant, busy: Int64) { (lookedAt, busyThen) = (now, busy) }

  /// `busy` answers what the thread has had of the processor, in nanoseconds. Nil if it is too early for a look, else whether it has
  /// slept since the last.
  package mutating func look(_ now: Instant, busy: () -> Int64) -> Bool? {
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
