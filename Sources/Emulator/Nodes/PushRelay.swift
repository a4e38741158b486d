import Broker
import Cluster
import Platform
import PushModel
import Transport
import Zones

/// The sink of a node: pushes for its own zones go to its broker, those for others to the nodes that own them.
///
///     submit ─ zone is here ──────→ broker: the verdict at once
///        ├──── zone is elsewhere ─→ link to its owner: the verdict comes later
///        └──── nobody owns it ────→ held until somebody does, for a bounded time, then 503
///
/// What may have been done is never sent to another node: its provider hears 503, or that the gateway shuts down, and sends it again
/// itself.
final class PushRelay: PushSink {
  /// Held or under way for longer than this, a push is given up, in nanoseconds.
  static let patience: Int64 = 5_000_000_000
  /// The engine may let a commit wait for so long before providers wait too, in nanoseconds.
  static let engineGrace: Int64 = 1_000_000_000
  /// Most that pushes for other nodes take here, in bytes.
  static let limit = 32 << 20
  private static let tickInterval: Int64 = 100_000_000

  /// A push that its owner is asked about.
  private struct Pending {
    /// The message for the owner, whole.
    var message: [UInt8]
    var ticket: PushTicket
    /// In the history.
    var id: UInt64
    var interface: Interface
  }

  private let broker: Broker
  private let cluster: ClusterNode
  private let clock: EmulatorClock
  private let waiters: PushWaiters
  private let links: RelayLinks
  private var queue = RelayQueue<Pending>(limit: PushRelay.limit)
  /// Waiters whose push there was no room for, or no engine.
  private var busy: Set<Int> = []
  private var timer: LoopEvent?
  private let commands: CommandRelay
  private let logger: Logger
  /// Where what comes in is captured, with its verdict; nil while it is not.
  var capture: CaptureRecorder? {
    didSet { capture?.isAwaited = { [unowned self] in awaited.contains($0) } }
  }
  /// Those without a verdict, by their ids; only kept for the capture.
  private var awaited: Set<UInt64> = []
  /// Pushes that other nodes have decided, as a count.
  private(set) var relayed: UInt64 = 0
  /// Pushes of which nobody knows what became, or that nobody took, as a count.
  private(set) var givenUp: UInt64 = 0

  init(
    loop: EventLoop, broker: Broker, cluster: ClusterNode, clock: EmulatorClock, waiters: PushWaiters,
    links: RelayLinks, commands: CommandRelay, logger: Logger
  ) {
    (self.broker, self.cluster, self.clock, self.waiters, self.links) = (
      broker, cluster, clock, waiters, links
    )
    (self.commands, self.logger) = (commands, logger)
    timer = LoopEvent(timerOn: loop) { [unowned self] in tick() }
    timer?.start(afterNanoseconds: Self.tickInterval)
    links.onReply = { [unowned self] in take($0, from: $1) }
    links.onLost = { [unowned self] in lost($0, wasOpen: $1) }
  }

  /// Pushes that wait for another node, as a count.
  var waitingCount: Int { queue.count }

  // MARK: The sink

  /// As many as one read of a gateway connection may bring.
  var window: Int { 16_384 }
  var mayRetry: Bool { false }

  func submit(
    _ push: PlainSubmission, detail: NotificationDetail?, kept: Int64, for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    let row = push.registration ?? broker.row(of: push.token)
    let zone = self.zone(of: push, row)
    let seat = cluster.seat(of: ZoneNumber(Int(zone)))
    guard seat == .here, queue.isClear(zone) else {
      return relay(push, detail, row, zone, seat, ticket, now)
    }
    guard cluster.waitingTime < Self.engineGrace else { return waitForEngine(push, detail, ticket, now) }
    return .now(broker.submit(push, detail: detail, now: now))
  }

  private func zone(of push: PlainSubmission, _ row: RegistrationID?) -> UInt16 {
    if let row { return broker.registry[row].zone }
    // Who adopts it makes up its device.
    if broker.options.adoptsTokens, let token = ChosenToken(bytes: Array(push.token)),
      let udid = UDID(token.name)
    {
      return UInt16(cluster.map.zone(of: udid).number)
    }
    return UInt16(cluster.map.zone(ofUnknown: push.token).number)
  }

  private func relay(
    _ push: PlainSubmission, _ detail: NotificationDetail?, _ row: RegistrationID?, _ zone: UInt16,
    _ seat: ZoneSeat, _ ticket: PushTicket, _ now: Timestamp
  ) -> PushVerdict {
    guard queue.hasRoom else { return wait(ticket) }
    let id = broker.beginRelay(push, detail, row, now: now)
    if capture != nil { awaited.insert(id) }
    let topic = push.topic.flatMap { broker.registry[$0].name }
    let size = push.payload.count + push.token.count + 256
    let admission = queue.add(zone: zone, size: size, seat: .init(seat), now: SystemClock.now()) { number in
      let relayed = RelayedPush(number: number, id: id, zone: zone, push: push, topic: topic)
      return Pending(
        message: RelayFrame.bytes(of: relayed), ticket: ticket, id: id, interface: push.interface)
    }
    if case .send(let peer, let number) = admission, let message = queue[number]?.message {
      links.send(message, to: peer, cluster)
    }
    return .later(id)
  }

  /// The engine lets this node wait: nothing more is taken in, and after a while no more is waited.
  private func waitForEngine(
    _ push: PlainSubmission, _ detail: NotificationDetail?, _ ticket: PushTicket, _ now: Timestamp
  ) -> PushVerdict {
    guard cluster.waitingTime >= Self.patience else { return wait(ticket) }
    let rejection = Rejection.unavailable(on: push.interface)
    let id = broker.recordRejection(Submission(push, detail: detail), rejection, now: now)
    givenUp += 1
    return .now(SubmissionResult(id: id, rejection: rejection))
  }

  private func wait(_ ticket: PushTicket) -> PushVerdict {
    busy.insert(ticket.waiter)
    return .busy
  }

  func flush() {}
  func keep(_ frame: [UInt8], of provider: GatewayProvider) -> Int64 { 0 }
  func forget(kept: [Int64]) {}
  func kept(of waiter: Int) -> [Int64] { [] }
  func throwAway(of waiter: Int) {}

  // MARK: What owners say

  private func take(_ reply: RelayFrame.Reply, from peer: String) {
    switch reply {
    case .verdict(let verdict):
      guard let pending = queue.settle(verdict.number, by: peer, isMine: verdict.outcome != .notMine) else {
        return
      }
      if case .rejected(let rejection, let goneAt) = verdict.outcome {
        settle(pending, rejection, goneAt)
      } else {
        settle(pending, nil, nil)
      }
      relayed += 1
    case .step(let step): broker.noteElsewhere(step.id, step.state, at: step.at)
    case .done(let number, let outcome): commands.answered(number, outcome)
    }
  }

  private func settle(_ pending: Pending, _ rejection: Rejection?, _ goneAt: Timestamp?) {
    broker.endRelay(pending.id, rejection, pending.interface, now: clock.now())
    if let capture {
      awaited.remove(pending.id)
      capture.decided(pending.id)
    }
    if let rejection {
      logger.log(
        .info, "push rejected elsewhere",
        [("id", .integer(Int64(clamping: pending.id))), ("reason", .string(rejection.reason))])
    }
    var result = SubmissionResult(id: pending.id, rejection: rejection)
    result.goneAt = goneAt
    waiters.settle(pending.ticket, result)
  }

  private func lost(_ peer: String, wasOpen: Bool) {
    for pending in queue.lose(peer, wasOpen: wasOpen) { giveUp(pending) }
    if !wasOpen { cluster.lost(peer) }
    release()
  }

  private func giveUp(_ pending: Pending) {
    givenUp += 1
    settle(pending, .unavailable(on: pending.interface), nil)
  }

  // MARK: Going on

  /// Zones have other owners, or have one again.
  func seatsChanged() { release() }

  private func release() {
    for zone in queue.waitingZones {
      switch cluster.seat(of: ZoneNumber(Int(zone))) {
      case .nowhere: break
      case .here: while let pending = queue.takeFirst(zone) { takeHere(pending) }
      case .at(let peer):
        for number in queue.release(zone, to: peer.name) {
          if let message = queue[number]?.message { links.send(message, to: peer.name, cluster) }
        }
      }
    }
  }

  /// One that was to go elsewhere is for this node's broker now.
  private func takeHere(_ pending: Pending) {
    let now = clock.now()
    RelayFrame.withPush(in: pending.message) { relayed in
      guard let relayed else { return }
      var push = relayed.push
      push.topic = relayed.topic.flatMap { broker.registry.topic(named: $0) }
      let result = broker.submitRelayed(push, id: pending.id, now: now)
      settle(pending, result.rejection, result.goneAt)
    }
  }

  private func tick() {
    timer?.start(afterNanoseconds: Self.tickInterval)
    for pending in queue.takeOverdue(SystemClock.now(), after: Self.patience) { giveUp(pending) }
    release()
    let mayGoOn = cluster.waitingTime < Self.engineGrace || cluster.waitingTime >= Self.patience
    guard mayGoOn, queue.hasRoom, !busy.isEmpty else { return }
    let waiting = busy.sorted()
    busy = []
    for waiter in waiting { waiters[waiter]?.resume() }
  }
}

extension PushRelay: BroadcastSink {
  /// It is in the log of its channel's zone before its provider hears of it.
  func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, for ticket: PushTicket,
    now: Timestamp
  ) -> PushVerdict {
    let zone = cluster.map.zone(ofChannel: key.id)
    guard cluster.seat(of: zone) != .here, let topic = broker.registry[key.topic].name else {
      let id = broker.broadcast(submission, to: key, storageSeconds: storageSeconds, now: now)
      return .now(SubmissionResult(id: id))
    }
    let broadcast = broker.beginBroadcast(submission, storageSeconds: storageSeconds, now: now)
    commands.ask(.broadcast(topic: topic, key.environment, id: key.id, broadcast), in: zone) {
      [unowned self] in
      let rejection = Rejection(ofBroadcast: $0)
      broker.endRelay(broadcast.id, rejection, .provider, now: clock.now())
      waiters.settle(ticket, SubmissionResult(id: broadcast.id, rejection: rejection))
    }
    return .later(broadcast.id)
  }
}

extension RelayQueue.Seat {
  fileprivate init(_ seat: ZoneSeat) {
    switch seat {
    case .here: self = .here
    case .at(let peer): self = .at(peer.name)
    case .nowhere: self = .nowhere
    }
  }
}

extension Rejection {
  /// What a provider hears of a broadcast that another node was asked for; nil for success.
  fileprivate init?(ofBroadcast outcome: RelayedCommand.Outcome?) {
    switch outcome {
    case .done: return nil
    case .noChannel: self = .channelNotRegistered
    case .notMine, nil: self = .serviceUnavailable
    }
  }

  /// How each interface says that it can't take a push now.
  static func unavailable(on interface: Interface) -> Rejection {
    interface == .gateway ? .shutdown : .serviceUnavailable
  }
}
