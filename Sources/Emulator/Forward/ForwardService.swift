import Broker
import Console
import LegacyWire
import Platform
import ProviderAPI
import PushModel
import Transport

/// A bridge for programs that only speak the binary protocol: what comes in over the gateway goes out over HTTP/2 to
/// another service, whose answers come back as error packets and feedback.
///
/// Success is silent on the gateway, so providers take what was read for accepted: it is kept in the store until the other
/// service has decided (`ForwardService+Restart.swift`). An orderly end sends what there is time for, tells each provider how
/// far it got, and keeps the rest for the next start.
final class ForwardService {
  /// How long providers are kept waiting for answers at the end, in nanoseconds: less than the whole end may take.
  private static let endPatience: Int64 = 1_500_000_000
  /// How long one answer is waited for while others come, in nanoseconds.
  private static let answerPatience = 2 * UpstreamClient.patience
  /// Unknown outcomes after which a notification counts as failed, as a count: it may be what kills the connections.
  static let lossLimit = 5
  /// Tries after which a notification for a device that gets too many counts as failed, as a count (some ten seconds): those
  /// behind it on its connection can't wait for ever.
  static let throttledLimit = 5
  /// The same for one that alone is answered with a server error, while others pass (some three minutes).
  static let failureLimit = 10

  /// Where what comes in is captured; nil while it is not.
  var capture: CaptureRecorder?
  let broker: Broker
  let clock: EmulatorClock
  let limits: LegacyLimits
  let options: ForwardOptions
  let logger: Logger
  let client: UpstreamClient
  private let ids: MessageIDGenerator
  var queue: ForwardQueue
  var tokens: ProviderTokenSource
  var backoff: Backoff
  var counters = ForwardCounters()
  var thrownAway = ThrownAwayPushes()
  var restored = RestoredPushes()
  /// Sent again by their providers, and accepted before: they are told at the next pump.
  var acceptedBefore: [ForwardPush] = []
  /// There is a store.
  private let keepsQueue: Bool
  let waiters: PushWaiters
  /// Numbers of waiters.
  private var waitingForRoom: Set<Int> = []
  /// Those whose next push must not overtake one from before a restart.
  private var behindRestored: Set<Int> = []
  private var timer: LoopEvent?
  private var endTimer: LoopEvent?
  private var isPumping = false
  private var pumpAgain = false
  /// Nothing is sent before this moment: the other service is busy. Monotonic nanoseconds.
  var pausedUntil: Int64 = 0
  /// Pauses in a row.
  var pauses = 0
  /// Reasons that were complained of since the last success.
  var complaints: Set<String> = []

  init(
    loop: EventLoop, options: ForwardOptions, broker: Broker, clock: EmulatorClock, limits: LegacyLimits,
    waiters: PushWaiters, ownCA: String, logger: Logger, seed: UInt64, keepsQueue: Bool
  ) throws {
    self.keepsQueue = keepsQueue
    (self.options, self.broker, self.clock, self.limits) = (options, broker, clock, limits)
    (self.waiters, self.logger) = (waiters, logger)
    let signer = try options.signer()
    tokens = ProviderTokenSource { try signer.token(at: $0) }
    queue = ForwardQueue(limit: options.queueLimit)
    ids = MessageIDGenerator(seed: seed ^ 0x666f_7277_6172_6431)
    backoff = Backoff.forwarding(seed: seed ^ 0x666f_7277_6172_6432)
    client = try UpstreamClient(
      loop: loop, options: options, ownCA: ownCA, logger: logger, seed: seed ^ 0x666f_7277_6172_6433)
    timer = LoopEvent(timerOn: loop) { [unowned self] in pump() }
    endTimer = LoopEvent(timerOn: loop) { [unowned self] in endAll() }
    client.hasWork = { [unowned self] in queue.count > 0 }
    client.observer = self
  }

  /// Queues what an earlier run has left, and looks whether the other service can be reached, so that a wrong address or CA is
  /// told at the start.
  func start() {
    restore()
    client.connect()
  }

  var target: String { options.target.description }
  var metrics: [MetricFamily] {
    counters.metrics(waiting: waitingCount, underWay: queue.underWayCount, isConnected: client.isConnected)
  }
  /// Whether nothing is left to do.
  var isIdle: Bool { queue.count == 0 && waiters.isEmpty }
  /// Those that wait or are on their way, as a count.
  var waitingCount: Int { queue.count + restored.count }

  private var hasRoom: Bool { waitingCount < queue.limit }

  /// With the next pump, which follows every answer.
  func resumeBehindRestored() {
    waitingForRoom.formUnion(behindRestored)
    behindRestored = []
  }

  /// Takes a notification that has passed the gateway's own checks, while there is room.
  private func take(_ submission: Submission, kept: Int64, for ticket: PushTicket) -> PushVerdict {
    let now = clock.now()
    var submission = submission
    prepare(
      &submission, broker.pendingForwards[kept]?.messageID ?? nextMessageID(),
      "waits to be forwarded to \(target)")
    var push = ForwardPush(
      submission, topicName: name(submission.topic), connection: ticket.waiter, sequence: ticket.sequence,
      now: now)
    let found = thrownAway.take(like: push, now: SystemClock.monotonicNanoseconds())
    if case .underWay(let id)? = found { submission.messageID = queue[id]?.messageID }
    push.kept = kept
    push.record = broker.beginForward(submission, now: now)
    push.id = push.record
    switch found {
    case nil: _ = queue.add(push)
    case .underWay(let id): takeOver(id, by: push)
    case .accepted(let id): acceptAgain(push, as: id)
    }
    return .later(push.record)
  }

  /// What the gateway does not know of a push.
  func prepare(_ submission: inout Submission, _ messageID: MessageID, _ explanation: String) {
    submission.messageID = messageID
    submission.pushType = PushType(forwarding: Array(submission.payload), to: name(submission.topic))
    submission.detail = NotificationDetail(explanation: explanation, upstream: target)
  }

  func name(_ topic: TopicID?) -> String { topic.flatMap { broker.registry[$0].name?.name } ?? "" }

  /// A random UUID as clients make them: version 4, in lower case (`Documentation/provider-api.md#request`).
  func nextMessageID() -> MessageID {
    let id = ids.next()
    return MessageID(high: id.high & ~0xf000 | 0x4000, low: id.low & (.max >> 2) | 1 << 63, upperCase: 0)
  }

  // MARK: Sending

  /// Sends what may be sent. To be called whenever that may be more than before.
  func pump() {
    pumpAgain = true
    guard !isPumping else { return }
    isPumping = true
    while pumpAgain {
      pumpAgain = false
      sendReady()
      settleAccepted()
      resumeWaiting()
    }
    isPumping = false
    client.flush()
    schedule()
  }

  private func sendReady() {
    let now = SystemClock.monotonicNanoseconds()
    guard now >= pausedUntil else { return }
    while queue.hasReady(now: now), let upstream = client.connectionWithRoom(),
      let push = queue.next(now: now)
    {
      guard !isOver(push) else { continue }
      guard send(push, on: upstream) else { return queue.putBack(push.id) }
      broker.noteRead()
      broker.noteForwarded(push.record, now: clock.now())
    }
  }

  private func send(_ push: ForwardPush, on upstream: HTTP2ClientConnection) -> Bool {
    do {
      let token = try tokens.token(now: Self.worldTime)
      queue.update(push.id) {
        ($0.tokenNumber, $0.sentAt) = (tokens.number, SystemClock.monotonicNanoseconds())
      }
      let head = push.head(authority: authority, providerToken: token)
      let context = Int(truncatingIfNeeded: push.id)
      if upstream.send(head, path: push.path, body: push.payload, context: context) { return true }
      // Its stream numbers are used up, or it has failed.
      client.leaveCurrent()
      pumpAgain = true
      return false
    } catch {
      complain("no provider token can be made", "\(error)")
      pause()
      return false
    }
  }

  /// The host that requests name, with the port where it is not HTTPS' own (RFC 9110 4.2.2).
  private var authority: String {
    let port = options.target.port
    return port == 443 ? client.serverName : SocketAddress(host: client.serverName, port: port).description
  }

  /// What provider tokens are judged by (`ProviderTokenSource`).
  static var worldTime: Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }

  private func isOver(_ push: ForwardPush) -> Bool {
    guard push.expiresAt <= clock.now() else { return false }
    if let push = queue.settle(push.id) { expire(push) }
    return true
  }

  private func resumeWaiting() {
    guard hasRoom, !waitingForRoom.isEmpty else { return }
    let waiting = waitingForRoom.sorted()
    waitingForRoom = []
    for waiter in waiting { waiters[waiter]?.resume() }
  }

  private func schedule() {
    let now = SystemClock.monotonicNanoseconds()
    let moments = [queue.nextMoment, queue.hasReady(now: now) && pausedUntil > now ? pausedUntil : nil]
    guard let next = moments.compactMap(\.self).min() else { return }
    timer?.start(afterNanoseconds: max(1_000_000, max(next, pausedUntil) - now))
  }

  /// Once a second: what has expired is given up, and silent connections and forgotten requests too.
  func tick() {
    client.checkPatience()
    let limit = SystemClock.monotonicNanoseconds() - Self.answerPatience
    for push in queue.underWayPushes where push.sentAt < limit { client.cancel(push.id) }
    let now = clock.now()
    for push in queue.removeWaiting(where: { $0.expiresAt <= now }) { expire(push) }
    if queue.count > 0 { pump() }
  }

  // MARK: The end

  /// Providers hear how far they got once the answers are here or the time is over.
  func shutDown() { endTimer?.start(afterNanoseconds: Self.endPatience) }

  private func endAll() {
    for waiter in waiters.all { waiter.endWithoutVerdicts() }
    tellOfWaiting()
    client.shutDown()
  }

  /// Those whose providers will send them again don't count: they were told how far the gateway got.
  private func tellOfWaiting() {
    let left = broker.pendingForwards.count - waiters.all.reduce(0) { $0 + $1.forgottenCount }
    guard left > 0 else { return }
    logger.log(
      .warning, keepsQueue ? "notifications are kept for the next start" : "notifications were not forwarded",
      [("count", .integer(Int64(left)))])
  }
}

extension ForwardService: PushSink {
  var window: Int { options.window }
  var mayRetry: Bool { true }

  func submit(
    _ push: PlainSubmission, detail: NotificationDetail?, kept: Int64, for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    guard hasRoom else {
      waitingForRoom.insert(ticket.waiter)
      return .busy
    }
    guard !restored.holds(push.token) else {
      behindRestored.insert(ticket.waiter)
      return .busy
    }
    let kept = kept != 0 ? kept : keep(Array(push.frame), push.topic, push.environment)
    return take(Submission(push, detail: detail), kept: kept, for: ticket)
  }

  func flush() { pump() }
}
