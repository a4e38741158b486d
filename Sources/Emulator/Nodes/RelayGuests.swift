import Broker
import Cluster
import Platform
import PushModel
import Transport
import Zones

/// The links of other nodes to this one: what they ask is done here, if the zone is here, and what becomes of it is told them.
final class RelayGuests {
  fileprivate let broker: Broker
  fileprivate let clock: EmulatorClock
  fileprivate let owner: RelayOwner
  /// Between what the others are told of the time, in nanoseconds: what they send on an older word is taken for so much older.
  private static let timeInterval: Int64 = 500_000_000
  /// Between looks at whether this node has slept, in nanoseconds.
  private static let lookInterval: Int64 = 100_000_000

  /// By the ordinal of the node whose link it is.
  private var guests: [UInt64: RelayGuest] = [:]
  private var timer: LoopEvent?
  private var sleep = SleepWatch(now: SystemClock.now(), busy: SystemClock.processorNanoseconds())
  private var toldAt = SystemClock.now()
  /// When this node was awake again.
  fileprivate var awakeSince: Instant { sleep.awakeSince }
  /// Pushes of other nodes that were decided here, as a count.
  fileprivate(set) var decided: UInt64 = 0

  init(loop: EventLoop, _ broker: Broker, _ cluster: ClusterNode, _ clock: EmulatorClock) {
    (self.broker, self.clock) = (broker, clock)
    owner = RelayOwner(broker) { [unowned cluster] zone in
      cluster.seat(of: ZoneNumber(Int(zone))) == .here && cluster.waitingTime < PushRelay.engineGrace
    }
    broker.history.tellElsewhere { [unowned self] id, state, time in
      guests[ClusterMembership.ordinal(of: id)]?.reply(.step(RelayedStep(id: id, state: state, at: time)))
    }
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      timer?.start(afterNanoseconds: Self.lookInterval)
      look()
    }
    timer?.start(afterNanoseconds: Self.lookInterval)
  }

  /// Notes whether this node has slept; tells the others the time when it is due.
  fileprivate func look() {
    let now = SystemClock.now()
    guard let hasSlept = sleep.look(now, busy: SystemClock.processorNanoseconds) else { return }
    guard hasSlept || now.nanoseconds(since: toldAt) >= Self.timeInterval else { return }
    toldAt = now
    for guest in guests.values { guest.tellTime() }
  }

  /// Takes a link of another node.
  func take(_ peer: String, _ connection: SocketConnection) {
    let guest = RelayGuest(self, peer, connection)
    connection.handler = guest
    guest.tellTime()
    connection.setPaused(false)
  }

  fileprivate func introduced(_ guest: RelayGuest, _ ordinal: UInt64) { guests[ordinal] = guest }

  fileprivate func forget(_ guest: RelayGuest) {
    guests = guests.filter { $0.value !== guest }
  }
}

/// One link of another node. It answers in the order of asking, and not before the engine has what it answers for.
private final class RelayGuest: ConnectionHandler {
  /// What may wait for a node that does not read, in bytes: beyond it the node is not listened to.
  private static let outputLimit = 8 << 20

  private unowned let guests: RelayGuests
  private let peer: String
  private unowned let connection: SocketConnection
  private var decoder = RelayDecoder()
  private var gate = RelayGate(patience: PushRelay.patience)

  init(_ guests: RelayGuests, _ peer: String, _ connection: SocketConnection) {
    (self.guests, self.peer, self.connection) = (guests, peer, connection)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    let now = guests.clock.now()
    guests.broker.noteRead()
    guests.look()
    (gate.hasEnded, gate.awakeSince) = (connection.peerIsGone, guests.awakeSince)
    do {
      try decoder.requests(in: bytes) { take($0, now) }
      connection.hold(decoder.heldBytes)
    } catch { return connection.abort("\(error)") }
    guard connection.queuedBytes > Self.outputLimit else { return }
    connection.setPaused(true)
    connection.notifyWhenDrained()
  }

  func connectionDrained(_ connection: SocketConnection) { connection.setPaused(false) }

  func connectionClosed(_ connection: SocketConnection, reason: String) { guests.forget(self) }

  private func take(_ request: RelayFrame.Request, _ now: Timestamp) {
    switch request {
    case .introduction(let ordinal): guests.introduced(self, ordinal)
    case .push(let relayed):
      let outcome = guests.owner.decide(relayed, &gate, now: now, at: SystemClock.now())
      if outcome != .notMine { guests.decided += 1 }
      reply(.verdict(RelayedVerdict(number: relayed.number, outcome)))
    case .command(let command):
      reply(.done(number: command.number, guests.owner.carryOut(command, gate, at: SystemClock.now())))
    }
  }

  func tellTime() { reply(.time(RelayGate.time(SystemClock.now()))) }

  func reply(_ reply: RelayFrame.Reply) { connection.send(RelayFrame.bytes(of: reply)) }
}
