import Basics
import Broker
import Platform
import PushModel
import Services
import Transport

/// A bridge for programs that only speak the binary protocol: what comes in over the gateway goes out over HTTP/2 to
/// another service, whose answers come back as error packets and feedback.
///
/// It puts in sequence what its parts do; each of them owns its state. Success is silent on the gateway, so providers take
/// what was read for accepted: it is kept in the store until the other service has decided (`StoredPushes`). An orderly end
/// sends what there is time for, tells each provider how far it got, and keeps the rest for the next start.
package final class ForwardService {
  /// How long one answer is waited for while others come, in nanoseconds.
  private static let answerTimeout = 2 * UpstreamClient.timeout

  private let clock: EmulatorClock
  private let options: ForwardOptions
  private let client: UpstreamClient
  private let waiters: PushWaiters
  private let records: ForwardRecords
  private let kept: StoredPushes
  package var released = ReleasedPushes()
  private var queue: ForwardQueue
  private var pace: ForwardPace
  private var discarded = DiscardedPushes()
  /// Sent again by their providers, and accepted before: they are told at the next pump.
  private var acceptedBefore: [ForwardPush] = []
  /// There is a store.
  private let keepsQueue: Bool
  private var timer: LoopEvent?
  private var isPumping = false
  private var pumpAgain = false

  /// `ownCA` is the file of the CA that is trusted on loopback.
  package init(
    loop: EventLoop, options: ForwardOptions, broker: Broker, clock: EmulatorClock, waiters: PushWaiters,
    capture: (any TrafficRecorder)?, ownCA: String, logger: Logger, seed: UInt64, keepsQueue: Bool
  ) throws {
    (self.options, self.clock, self.waiters, self.keepsQueue) = (options, clock, waiters, keepsQueue)
    let target = options.target.description
    records = ForwardRecords(
      broker: broker, clock: clock, logger: logger, capture: capture, target: target)
    kept = StoredPushes(broker: broker, clock: clock, target: target, seed: seed ^ 0x666f_7277_6172_6431)
    queue = ForwardQueue(limit: options.queueLimit)
    pace = ForwardPace(seed: seed ^ 0x666f_7277_6172_6432)
    client = try UpstreamClient(
      loop: loop, options: options, ownCA: ownCA, logger: logger, seed: seed ^ 0x666f_7277_6172_6433)
    timer = LoopEvent(timerOn: loop) { [unowned self] in pump() }
    client.service = self
  }

  /// Queues what an earlier run has left, and looks whether the other service can be reached, so that a wrong address or CA is
  /// told at the start. `reading` says what the gateway makes of a frame.
  package func start(reading: FrameReading) {
    let left = kept.readBack(records, reading)
    for push in left { queue.restore(push) }
    records.noteRestored(left.count)
    client.connect()
  }

  package var metrics: [MetricFamily] {
    records.metrics(queue, isConnected: client.isConnected)
  }

  /// Whether nothing is left to send, or to be answered.
  package var isIdle: Bool { !hasWork }

  // MARK: Sending

  /// Sends what may be sent. To be called whenever that may be more than before.
  private func pump() {
    pumpAgain = true
    guard !isPumping else { return }
    isPumping = true
    while pumpAgain {
      pumpAgain = false
      sendReady()
      let again = acceptedBefore
      acceptedBefore = []
      for push in again { settleAccepted(push) }
      for waiter in queue.takeTurnedAway() { waiters[waiter]?.resume() }
    }
    isPumping = false
    client.flush()
    let now = SystemClock.now()
    if let next = pace.nextLook(at: queue, now: now) {
      timer?.start(afterNanoseconds: max(1_000_000, next.nanoseconds(since: now)))
    }
  }

  private func sendReady() {
    let now = SystemClock.now()
    guard !pace.isPaused(now) else { return }
    while queue.hasReady(now: now), client.takesMore(), let push = queue.next(now: now) {
      guard !isOver(push) else { continue }
      guard send(push) else { return queue.putBack(push.id) }
      records.sent(push)
    }
  }

  private func send(_ push: ForwardPush) -> Bool {
    do {
      guard let tokenNumber = try client.send(push) else {
        pumpAgain = true
        return false
      }
      queue.update(push.id) {
        ($0.tokenNumber, $0.sentAt) = (tokenNumber, SystemClock.now())
      }
      return true
    } catch {
      records.complain("no provider token can be made", "\(error)")
      _ = pace.pause(now: SystemClock.now())
      return false
    }
  }

  private func isOver(_ push: ForwardPush) -> Bool {
    guard push.expiresAt <= clock.now() else { return false }
    if let push = queue.settle(push.id) { expire(push) }
    return true
  }

  /// Once a second: what has expired is given up, and silent connections and forgotten requests too.
  package func tick() {
    client.endSilent()
    let limit = SystemClock.now().adding(nanoseconds: -Self.answerTimeout)
    for push in queue.underWayPushes where push.sentAt < limit { client.cancel(push.id) }
    let now = clock.now()
    // One that ends may let another of its token come forward, which has expired as well.
    while case let expired = queue.removeWaiting(where: { $0.expiresAt <= now }), !expired.isEmpty {
      for push in expired { expire(push) }
    }
    // Also with nothing left to send: somebody may wait for the room.
    pump()
  }

  // MARK: Verdicts

  private func answered(_ push: ForwardPush, status: Int, body: [UInt8]) {
    let text = ForwardVerdict.text(status: status, body: body)
    switch ForwardVerdict(status: status, body: body) {
    case .delivered:
      noteSuccess()
      settle(push, .delivered, nil, text)
    case .gone(let goneAt):
      noteSuccess()
      records.noteGone(push, goneAt)
      settle(push, .discarded, nil, text)
    case .rejected(let rejection): reject(push, rejection, status: status, text)
    case .retryLater: tryAgain(push, text) { $0.throttled(attempts: push.attempts, answer: text) }
    case .unavailable:
      let now = SystemClock.now()
      if let wait = pace.pause(now: now) { records.noteBusy(text, wait: wait) }
      tryAgain(push, text) {
        $0.unavailable(attempts: push.attempts, accepted: records.delivered, answer: text)
      }
    case .tokenExpired: renewToken(for: push, text)
    }
  }

  private func noteSuccess() {
    pace.noteSuccess()
    records.noteSuccess()
  }

  private func settle(
    _ push: ForwardPush, _ outcome: ForwardOutcome, _ rejection: Rejection?, _ text: String
  ) {
    _ = queue.settle(push.id)
    records.settled(push, outcome, text)
    ended(push)
    if push.isDiscarded {
      // Its provider will send it again, or has no interest in it.
      discarded.forget(push.id)
      if rejection == nil { remember(push, isAccepted: true) }
    } else if let rejection {
      waiters.settle(push.ticket, SubmissionResult(id: push.record, rejection: rejection))
    } else {
      settleAccepted(push)
    }
  }

  private func reject(_ push: ForwardPush, _ rejection: Rejection, status: Int, _ text: String) {
    // Not the provider's fault: its operator must hear of it.
    if status == 403 {
      records.complain("the other service refuses this bridge", "\(text): \(rejection.sentence)")
    }
    settle(push, .rejected(rejection), rejection, text)
  }

  /// Its time is over; the provider has been told nothing, and that stays so.
  private func expire(_ push: ForwardPush) {
    records.expired(push)
    ended(push)
    waiters.settle(push.ticket, SubmissionResult(id: push.record))
  }

  /// One is done with: it need not be kept, and the next of its token may follow.
  private func ended(_ push: ForwardPush) {
    kept.remove(push.kept)
    if push.isRestored { queue.restoredEnded(push) }
  }

  // MARK: Trying again

  /// Tries again as `decide` says; `text` is what the other service said.
  private func tryAgain(
    _ push: ForwardPush, _ text: String? = nil, _ decide: (inout ForwardTries) -> ForwardTries.Next
  ) {
    guard !isOfNoUse(push) else { return }
    var tries = push.tries
    let next = decide(&tries)
    queue.update(push.id) { $0.tries = tries }
    switch next {
    case .never(let rejection, let reason): return reject(push, rejection, status: 0, reason)
    case .atOnce: queue.putBack(push.id)
    case .later(let failures):
      queue.retry(push.id, at: pace.retry(after: failures, now: SystemClock.now()))
    }
    records.noteRetry(push, text)
  }

  private func renewToken(for push: ForwardPush, _ text: String) {
    guard client.renewToken(of: push) else {
      return reject(push, .expiredProviderToken, status: 403, text + " (do the clocks agree?)")
    }
    records.noteRetry(push)
    queue.putBack(push.id)
  }

  // MARK: What follows a rejected notification on its connection

  /// Tells its provider's connection that one was accepted; should that take it for discarded, it is known when it comes
  /// again.
  private func settleAccepted(_ push: ForwardPush) {
    waiters.settle(push.ticket, SubmissionResult(id: push.record)) { [unowned self] in
      remember(push, isAccepted: true)
    }
  }

  private func remember(_ push: ForwardPush, isAccepted: Bool) {
    discarded.remember(push, isAccepted: isAccepted, now: SystemClock.now())
  }

  /// One that would have to be tried again, while its provider takes it for discarded: so it is.
  private func isOfNoUse(_ push: ForwardPush) -> Bool {
    guard push.isDiscarded else { return false }
    _ = queue.settle(push.id)
    discarded.forget(push.id)
    drop(push)
    return true
  }

  /// The provider sends again what is still on its way: the answer will be for its new place.
  private func takeOver(_ id: UInt64, by push: ForwardPush) {
    guard let old = queue[id] else { return _ = queue.add(push) }
    records.tookOver(push, from: old)
    kept.remove(push.kept)
    queue.update(id) {
      ($0.record, $0.connection, $0.sequence) = (push.record, push.connection, push.sequence)
      $0.isDiscarded = false
    }
  }

  /// The provider sends again what the other service has accepted; and once more, if there is an error before it again.
  private func acceptAgain(_ push: ForwardPush, as id: UInt64) {
    records.acceptedBefore(push, as: id)
    ended(push)
    acceptedBefore.append(push)
  }

  private func drop(_ push: ForwardPush) {
    records.dropped(push)
    release([push.kept], whenClosed: push.connection)
  }

  // MARK: The end

  /// Says what is left, when nobody waits for verdicts any more. Those whose providers will send them again don't count: they
  /// were told how far the gateway got.
  package func shutDown() {
    records.noteLeft(kept.count - released.count, isKept: keepsQueue)
    client.shutDown()
  }
}

/// What the gateway hands over.
extension ForwardService: BridgeSink {
  package var window: PushWindow { PushWindow(size: options.window, mayRetry: true) }

  /// Takes a notification that has passed the gateway's own checks, while there is room.
  package func submit(
    _ push: PlainSubmission, detail: NotificationDetail?, for ticket: PushTicket, now: Timestamp
  )
    -> PushVerdict
  {
    guard queue.hasRoom(for: push.token, of: ticket.waiter) else { return .busy }
    let kept =
      ticket.kept != 0 ? ticket.kept : kept.add(Array(push.frame), push.topic, push.environment)
    return take(Submission(push, detail: detail), kept: kept, for: ticket)
  }

  private func take(_ submission: Submission, kept id: Int64, for ticket: PushTicket) -> PushVerdict {
    var submission = submission
    var push = kept.push(
      &submission, kept: id, connection: ticket.waiter, sequence: ticket.sequence, receivedAt: clock.now())
    let found = discarded.take(like: push, now: SystemClock.now())
    if case .underWay(let id)? = found { submission.plain.apnsID = queue[id]?.apnsID }
    records.begin(&push, submission)
    switch found {
    case nil: _ = queue.add(push)
    case .underWay(let id): takeOver(id, by: push)
    case .accepted(let id): acceptAgain(push, as: id)
    }
    return .later(push.record)
  }

  package func flush() { pump() }

  package func keep(_ frame: [UInt8], _ topic: TopicID?, _ environment: Environment) -> Int64 {
    kept.add(frame, topic, environment)
  }

  package func forget(_ ids: [Int64]) { for id in ids { kept.remove(id) } }

  package func keptOfSubmitted(on number: Int) -> [Int64] { queue.kept(of: number) }

  /// A notification on the connection was rejected. Those behind it that wait are discarded, as the gateway does
  /// (`Documentation/binary-protocol.md#error-packet`); those that are under way or were accepted can't be called back,
  /// so that they are known when the provider sends them again.
  package func discard(of connection: Int) {
    for push in queue.removeWaiting(where: { $0.connection == connection }) { drop(push) }
    for push in queue.underWayPushes where push.connection == connection {
      queue.update(push.id) { $0.isDiscarded = true }
      remember(push, isAccepted: false)
    }
  }
}

/// What the other service says.
extension ForwardService {
  /// Whether anybody wants a connection.
  var hasWork: Bool { queue.count > 0 }

  /// SETTINGS are here, there is room again, or the connection takes no more.
  func upstreamHasRoom() { pump() }

  func upstream(settled id: UInt64, _ outcome: HTTP2Outcome) {
    if let push = queue[id] {
      switch outcome {
      case .answered(let stream): answered(push, status: stream.status, body: stream.body)
      case .refused: tryAgain(push) { $0.refused() }
      case .lost(let reason): tryAgain(push) { $0.lost(because: reason) }
      }
    }
    pump()
  }

  /// It ended the connection, and said why. Not for being idle, or for maintenance: the next connection will do.
  func upstreamTurnedAway(_ reason: String) {
    if Rejection(reason: reason)?.status == 403 {
      records.complain("the other service ended the connection", reason)
    }
  }
}
