import Basics
import Broker
import PushModel
import Zones

/// The pushes that came by this node and are another's to decide: says what is to be sent to whom, and what becomes of each. No I/O, no
/// clock; `EdgeQueue` keeps the books.
///
///     relay ─→ sent to the zone's leader or held ─┬─ its verdict ─────────────────→ settled
///                 ↑                               ├─ not mine, or no link came to be ─→ held, and so on
///                 └── release ── held ←───────────┘
///                                  ├─ the zone is here now ─→ decided here ─→ settled
///                                  └─ for too long, or the link was cut, or thrown away ─→ settled: it can't be taken now
///
/// Each is settled once. What may have been done is never sent again: its provider hears that it was not taken, and sends it again itself.
package final class EdgePushes<Ticket> {
  /// A push that its leader is asked about.
  package struct Pending {
    /// The message for the leader, whole.
    fileprivate let message: [UInt8]
    package let ticket: Ticket
    /// In the history.
    package let id: UInt64
    package let interface: Interface
  }

  /// What is known around it, and what it wants done. All at once, within the call that leads to it.
  package struct Surroundings {
    /// Where a zone is, as far as this node knows.
    package var seat: (_ zone: UInt16) -> ZoneSeat
    /// Say this, which is here since then and was said so often before, to a node, by a link that is there or is made.
    package var send: (_ message: [UInt8], _ since: Instant, _ attempt: UInt32, _ peer: NodePeer) -> Void
    /// A push has its id, and waits.
    package var began: (_ id: UInt64) -> Void
    package var settled: (Pending, SubmissionResult) -> Void

    package init(
      seat: @escaping (UInt16) -> ZoneSeat, send: @escaping ([UInt8], Instant, UInt32, NodePeer) -> Void,
      began: @escaping (UInt64) -> Void = { _ in }, settled: @escaping (Pending, SubmissionResult) -> Void
    ) {
      (self.seat, self.send, self.began, self.settled) = (seat, send, began, settled)
    }
  }

  /// Where a push is to be decided.
  package struct Place {
    fileprivate let row: RegistrationID?
    fileprivate let zone: UInt16
    fileprivate let seat: ZoneSeat
    /// Here, and at once: nothing of its zone waits.
    package let isHere: Bool
  }

  private let broker: Broker
  private let map: ZoneMap
  /// Held or under way for longer than this, a push is given up, in nanoseconds.
  private let timeout: Int64
  private let surroundings: Surroundings
  private var queue: EdgeQueue<Pending>
  /// Pushes that other nodes have decided, as a count.
  package private(set) var decidedCount: UInt64 = 0
  /// Pushes of which nobody knows what became, or that nobody took, as a count.
  package private(set) var givenUpCount: UInt64 = 0

  /// `limit` is what waits at most, in bytes; `timeout` how long, in nanoseconds.
  package init(
    _ broker: Broker, _ map: ZoneMap, limit: Int, timeout: Int64, _ surroundings: Surroundings
  ) {
    (self.broker, self.map, self.timeout, self.surroundings) = (broker, map, timeout, surroundings)
    queue = EdgeQueue(limit: limit)
  }

  /// Pushes that wait, as a count.
  package var count: Int { queue.count }
  package var hasRoom: Bool { queue.hasRoom }

  // MARK: In

  package func place(of push: PlainSubmission) -> Place {
    let row = push.registration ?? broker.registry.find(presented: push.token)
    let zone = zone(of: push, row)
    let seat = surroundings.seat(zone)
    return Place(row: row, zone: zone, seat: seat, isHere: seat == .here && queue.isClear(zone))
  }

  private func zone(of push: PlainSubmission, _ row: RegistrationID?) -> UInt16 {
    if let row { return broker.registry[row].zone }
    // Who adopts it makes up its device.
    if broker.options.adoptsTokens, let token = CustomToken(bytes: Array(push.token)),
      let udid = UDID(token.name)
    {
      return UInt16(map.zone(of: udid).number)
    }
    return UInt16(map.zone(ofUnknown: push.token).number)
  }

  /// Takes a push for another node; answers its id, nil if there is no room. Its bytes are copied.
  package func relay(
    _ push: PlainSubmission, _ detail: NotificationDetail?, at place: Place, for ticket: Ticket,
    now: Timestamp, since instant: Instant
  ) -> UInt64? {
    guard queue.hasRoom else { return nil }
    let id = broker.history.beginElsewhere(push, detail, place.row, now: now)
    surroundings.began(id)
    let topic = push.topic.flatMap { broker.registry[$0].name }
    let size = push.payload.count + push.token.count + 256
    let admission = queue.add(zone: place.zone, size: size, seat: place.seat, now: instant) { number in
      let relayed = LinkPush(number: number, id: id, zone: place.zone, push: push, topic: topic)
      return Pending(
        message: LinkFrame.bytes(of: relayed), ticket: ticket, id: id, interface: push.interface)
    }
    if case .send(let peer, let number) = admission { send(number, to: peer) }
    return id
  }

  private func send(_ number: UInt64, to peer: NodePeer) {
    guard let (pending, since, attempt) = queue[number] else { return }
    surroundings.send(pending.message, since, attempt, peer)
  }

  // MARK: What becomes of them

  /// What a leader says. An answer that nobody waits for any more is passed over.
  package func take(_ verdict: LinkVerdict, from peer: String, now: Timestamp) {
    let isMine = verdict.outcome != .notMine
    guard let pending = queue.settle(verdict.number, by: peer, isMine: isMine) else { return }
    guard isMine else { return giveUp(pending, now) }
    decidedCount += 1
    guard case .rejected(let rejection, let goneAt) = verdict.outcome else {
      return settle(pending, nil, now: now)
    }
    settle(pending, rejection, goneAt, now: now)
  }

  /// The link to a node was cut; with `wasOpen` false there was none, and nothing was said on it.
  package func lose(_ peer: String, wasOpen: Bool, now: Timestamp) {
    for pending in queue.lose(peer, wasOpen: wasOpen) { giveUp(pending, now) }
  }

  /// Gives up what has waited for too long.
  package func giveUpOverdue(_ instant: Instant, now: Timestamp) {
    for pending in queue.takeOverdue(instant, after: timeout) { giveUp(pending, now) }
  }

  /// Their provider takes these for discarded: what is held is not sent any more, and what is under way not sent again.
  package func discard(where isUnwanted: (Ticket) -> Bool, now: Timestamp) {
    guard queue.count > 0 else { return }
    for pending in queue.discard(where: { isUnwanted($0.ticket) }) { giveUp(pending, now) }
  }

  private func giveUp(_ pending: Pending, _ now: Timestamp) {
    givenUpCount += 1
    settle(pending, .unavailable(on: pending.interface), now: now)
  }

  private func settle(
    _ pending: Pending, _ rejection: Rejection?, _ goneAt: Timestamp? = nil, now: Timestamp
  ) {
    broker.history.endRelay(pending.id, rejection, pending.interface, now: now)
    surroundings.settled(
      pending, SubmissionResult(id: pending.id, rejection: rejection, goneAt: goneAt))
  }

  // MARK: Going on

  /// Sends what is held to whoever leads its zone now: to be called when that may have changed, and some times a second.
  package func release(now: Timestamp) {
    for zone in queue.waitingZones {
      switch surroundings.seat(zone) {
      case .nowhere: break
      case .here: while let pending = queue.takeFirst(zone) { decideHere(pending, now) }
      case .at(let peer): for number in queue.release(zone, to: peer.name) { send(number, to: peer) }
      }
    }
  }

  /// One that was to go elsewhere is for this node's broker now.
  private func decideHere(_ pending: Pending, _ now: Timestamp) {
    LinkFrame.withPush(in: pending.message) { relayed in
      guard let relayed else { return }
      var push = relayed.push
      push.topic = relayed.topic.flatMap { broker.registry.topic(named: $0) }
      let result = broker.routing.submitRelayed(push, id: pending.id, now: now)
      settle(pending, result.rejection, result.goneAt, now: now)
    }
  }
}

extension Rejection {
  /// How each interface says that it can't take a push now.
  package static func unavailable(on interface: Interface) -> Rejection {
    interface == .gateway ? .shutdown : .serviceUnavailable
  }
}
