import Basics
import Broker
import Cluster
import Platform
import PushModel
import Services
import Transport
import Zones

/// The sink of a node: pushes for its own zones go to its broker, those for others to the nodes that lead them.
///
///     submit ─ zone is here ──────→ broker: the verdict at once
///        ├──── zone is elsewhere ─→ link to its leader: the verdict comes later
///        └──── nobody leads it ───→ held until somebody does, for a bounded time, then 503
///
/// What is held and sent, and what becomes of it, `EdgePushes` decides; here are its links, its clock and its providers.
package final class EdgeSink: PushSink {
  /// Held or under way for longer than this, a push is given up, in nanoseconds.
  static let timeout: Int64 = 5_000_000_000
  /// NATS may let a commit wait for so long before providers wait too, in nanoseconds.
  static let natsGrace: Int64 = 1_000_000_000
  /// Most that pushes for other nodes take here, in bytes.
  static let limit = 32 << 20

  private let broker: Broker
  private let cluster: ClusterNode
  private let clock: EmulatorClock
  private let waiters: PushWaiters
  private let caller: NodeCaller
  private lazy var links = EdgeLinks(caller, ordinal: cluster.ordinal, self)
  private lazy var commands = EdgeCommands(cluster: cluster, links: links, broker: broker)
  private lazy var desk = EdgePushes<PushTicket>(
    broker, cluster.map, limit: Self.limit, timeout: Self.timeout,
    .init(
      seat: { [cluster] in cluster.seat(of: ZoneNumber(Int($0))) },
      send: { [links] in links.send($0, since: $1, attempt: $2, to: $3) },
      began: { [capture] in capture?.awaits($0) },
      settled: { [unowned self] in settle($0, $1) }))
  /// Waiters whose push there was no room for, or no NATS server.
  private var busy: Set<Int> = []
  /// For channels of this node's own zones.
  private let broadcasts: LocalBroadcasts
  private let logger: Logger
  /// Watches what comes in, with its verdict; nil while nobody does.
  private let capture: (any TrafficRecorder)?
  /// Pushes that were not taken as NATS let this node wait, as a count.
  private var refused: UInt64 = 0

  init(
    broker: Broker, cluster: ClusterNode, clock: EmulatorClock, waiters: PushWaiters, caller: NodeCaller,
    capture: (any TrafficRecorder)?, logger: Logger
  ) {
    (self.broker, self.cluster, self.clock, self.waiters) = (broker, cluster, clock, waiters)
    (self.caller, self.capture, self.logger) = (caller, capture, logger)
    broadcasts = LocalBroadcasts(broker, waiters)
  }

  /// What providers ask for here and is another node's.
  package var others: any OtherNodes { commands }
  /// Pushes that wait for another node, as a count.
  package var waitingCount: Int { desk.count }
  /// Pushes that other nodes have decided, as a count.
  package var relayed: UInt64 { desk.decidedCount }
  /// Pushes of which nobody knows what became, or that nobody took, as a count.
  package var givenUp: UInt64 { desk.givenUpCount + refused }

  // MARK: The sink

  /// As many as one read of a gateway connection may bring.
  package var window: PushWindow { PushWindow(size: 16_384, decidesAllFirst: true) }

  package func submit(
    _ push: PlainSubmission, detail: NotificationDetail?, for ticket: PushTicket, now: Timestamp
  )
    -> PushVerdict
  {
    let desk = desk
    let place = desk.place(of: push)
    guard place.isHere else {
      let id = desk.relay(push, detail, at: place, for: ticket, now: now, since: SystemClock.now())
      return id.map { .later($0) } ?? wait(ticket)
    }
    guard cluster.waitingTime < Self.natsGrace else { return waitForNATS(push, detail, ticket, now) }
    return .now(broker.routing.submit(push, detail: detail, now: now))
  }

  /// NATS lets this node wait: nothing more is taken in, and after a while no more is waited.
  private func waitForNATS(
    _ push: PlainSubmission, _ detail: NotificationDetail?, _ ticket: PushTicket, _ now: Timestamp
  ) -> PushVerdict {
    guard cluster.waitingTime >= Self.timeout else { return wait(ticket) }
    let rejection = Rejection.unavailable(on: push.interface)
    let id = broker.routing.recordRejection(Submission(push, detail: detail), rejection, now: now)
    refused += 1
    return .now(SubmissionResult(id: id, rejection: rejection))
  }

  private func wait(_ ticket: PushTicket) -> PushVerdict {
    busy.insert(ticket.waiter)
    return .busy
  }

  package func discard(of waiter: Int) {
    desk.discard(where: { $0.waiter == waiter }, now: clock.now())
  }

  private func settle(_ pending: EdgePushes<PushTicket>.Pending, _ result: SubmissionResult) {
    capture?.decided(pending.id, isRecorded: true)
    if let rejection = result.rejection {
      logger.log(
        .info, "push rejected elsewhere",
        [("id", .integer(Int64(clamping: pending.id))), ("reason", .string(rejection.reason))])
    }
    waiters.settle(pending.ticket, result)
  }

  // MARK: Going on

  /// Zones have other leaders, or have one again.
  func release() { desk.release(now: clock.now()) }

  /// To be called some ten times a second.
  func tick() {
    commands.tick()
    links.tick(SystemClock.now())
    desk.giveUpOverdue(SystemClock.now(), now: clock.now())
    release()
    let mayGoOn = cluster.waitingTime < Self.natsGrace || cluster.waitingTime >= Self.timeout
    guard mayGoOn, desk.hasRoom, !busy.isEmpty else { return }
    let waiting = busy.sorted()
    busy = []
    for waiter in waiting { waiters[waiter]?.resume() }
  }

  func close() { links.close() }
}

/// What leaders say.
extension EdgeSink {
  func answered(_ reply: LinkFrame.Reply, by peer: String) {
    switch reply {
    case .verdict(let verdict): desk.take(verdict, from: peer, now: clock.now())
    case .step(let step): broker.history.noteElsewhere(step.id, step.state, at: step.at)
    case .done(let number, let outcome): commands.answered(number, outcome)
    // Its link has heard that.
    case .time: break
    }
  }

  /// A link is gone, or with `wasOpen` false could not be made.
  func lost(_ peer: String, wasOpen: Bool) {
    desk.lose(peer, wasOpen: wasOpen, now: clock.now())
    if !wasOpen { cluster.lost(peer) }
    release()
  }
}

extension EdgeSink: BroadcastSink {
  /// It is in the log of its channel's zone before its provider hears of it.
  package func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, for ticket: PushTicket,
    now: Timestamp
  ) -> PushVerdict {
    let zone = cluster.map.zone(ofChannel: key.id)
    guard cluster.seat(of: zone) != .here, let topic = broker.registry[key.topic].name else {
      return broadcasts.broadcast(
        submission, to: key, storageSeconds: storageSeconds, for: ticket, now: now)
    }
    let broadcast = broker.broadcasts.begin(submission, storageSeconds: storageSeconds, now: now)
    commands.ask(.broadcast(topic: topic, key.environment, id: key.id, broadcast), in: zone) {
      [unowned self] in
      let rejection = Rejection(ofBroadcast: $0)
      broker.history.endRelay(broadcast.id, rejection, .provider, now: clock.now())
      waiters.settle(ticket, SubmissionResult(id: broadcast.id, rejection: rejection))
    }
    return .later(broadcast.id)
  }
}

extension Rejection {
  /// What a provider hears of a broadcast that another node was asked for; nil for success.
  fileprivate init?(ofBroadcast outcome: LinkCommand.Outcome?) {
    switch outcome {
    case .done: return nil
    case .noChannel: self = .channelNotRegistered
    case .notMine, nil: self = .serviceUnavailable
    }
  }
}
