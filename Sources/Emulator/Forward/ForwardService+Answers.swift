import Broker
import Platform
import PushModel
import Transport

/// What the other service says.
extension ForwardService: UpstreamObserver {
  func upstreamHasRoom() { pump() }

  func upstream(settled id: UInt64, _ outcome: HTTP2Outcome) {
    switch outcome {
    case .answered(let stream): answered(id, status: stream.status, body: Array(stream.message.body))
    case .refused: refused(id)
    case .lost(let reason): lost(id, because: reason)
    }
    pump()
  }

  /// Not for being idle, or for maintenance: the next connection will do.
  func upstreamTurnedAway(_ reason: String) {
    if Rejection(reason: reason)?.status == 403 {
      complain("the other service ended the connection", reason)
    }
  }

  private func answered(_ id: UInt64, status: Int, body: [UInt8]) {
    guard let push = queue[id] else { return }
    let text = ForwardVerdict.text(status: status, body: body)
    switch ForwardVerdict(status: status, body: body) {
    case .delivered:
      noteSuccess()
      settle(push, .delivered, nil, text)
    case .gone(let goneAt):
      noteSuccess()
      if let topic = push.topic {
        broker.noteForeignGone(
          token: push.token, topic: topic, environment: push.environment, goneAt: goneAt ?? clock.now())
      }
      settle(push, .discarded, nil, text)
    case .rejected(let rejection): reject(push, rejection, status: status, text)
    case .retryLater: retry(push, limit: Self.throttledLimit, .tooManyRequests, text)
    case .unavailable:
      pause(text)
      retry(push, limit: hasSeenOthersPass(push) ? Self.failureLimit : .max, .internalServerError, text)
    case .tokenExpired: renewToken(for: push, text)
    }
  }

  private func refused(_ id: UInt64) {
    queue.update(id) { $0.refusals += 1 }
    guard let push = queue[id], !isOfNoUse(push) else { return }
    counters.retries += 1
    // Once is a connection that leaves or a limit that fell; more is a peer that wants to be left alone.
    if push.refusals <= 1 { queue.putBack(id) } else { queue.retry(id, at: after(push.refusals - 1)) }
  }

  /// Sent again: a provider can't tell silence from success, so what is lost here is lost for good, while one that arrives
  /// twice has the same `apns-id`.
  private func lost(_ id: UInt64, because reason: String) {
    queue.update(id) { $0.losses += 1 }
    guard let push = queue[id], !isOfNoUse(push) else { return }
    guard push.losses < Self.lossLimit else {
      return reject(push, .internalServerError, status: 0, "no answer \(push.losses) times: \(reason)")
    }
    counters.retries += 1
    queue.retry(id, at: after(push.losses))
  }

  // MARK: Verdicts

  private func settle(
    _ push: ForwardPush, _ outcome: Broker.ForwardOutcome, _ rejection: Rejection?, _ text: String
  ) {
    _ = queue.settle(push.id)
    switch outcome {
    case .delivered: counters.delivered += 1
    case .rejected: counters.rejected += 1
    case .expired: counters.expired += 1
    case .discarded: counters.gone += 1
    }
    finish(push, outcome, "forwarded to \(target): \(text)")
    ended(push)
    if push.isThrownAway {
      noteThrownAway(push, isAccepted: rejection == nil)
    } else if let rejection {
      waiters.settle(PushTicket(push), SubmissionResult(id: push.record, rejection: rejection))
    } else {
      settleAccepted(push)
    }
  }

  private func reject(_ push: ForwardPush, _ rejection: Rejection, status: Int, _ text: String) {
    // Not the provider's fault: its operator must hear of it.
    if status == 403 { complain("the other service refuses this bridge", "\(text): \(rejection.sentence)") }
    settle(push, .rejected(rejection), rejection, text)
  }

  /// Its time is over; the provider has been told nothing, and that stays so.
  func expire(_ push: ForwardPush) {
    counters.expired += 1
    finish(push, .expired, "its time ran out before \(target) took it")
    ended(push)
    waiters.settle(PushTicket(push), SubmissionResult(id: push.record))
  }

  func finish(_ push: ForwardPush, _ outcome: Broker.ForwardOutcome, _ explanation: String) {
    broker.noteRead()
    broker.endForward(push.record, outcome, explanation: explanation, now: clock.now())
    // What follows an error is sent again by the provider, and recorded then.
    if !push.isThrownAway { capture?.decided(push.record) }
    logger.log(
      .info, "push \(outcome.word)",
      [
        ("id", .integer(Int64(clamping: push.record))), ("apnsId", .string(push.messageID.description)),
        ("attempts", .integer(Int64(push.attempts))), ("outcome", .string(explanation)),
      ])
  }

  // MARK: Trying again

  private func after(_ failures: Int) -> Int64 {
    SystemClock.monotonicNanoseconds() + backoff.wait(after: failures)
  }

  /// Tries again later, unless that was often enough.
  private func retry(_ push: ForwardPush, limit: Int, _ rejection: Rejection, _ text: String) {
    guard !isOfNoUse(push) else { return }
    guard push.attempts < limit else {
      return reject(push, rejection, status: 0, "\(text), \(push.attempts) times")
    }
    counters.retries += 1
    logger.log(
      .debug, "push will be forwarded again",
      [("id", .integer(Int64(clamping: push.id))), ("because", .string(text))])
    queue.retry(push.id, at: max(pausedUntil, after(push.attempts)))
  }

  /// Whether the other service has accepted others since it first turned this one away: then it is not down.
  private func hasSeenOthersPass(_ push: ForwardPush) -> Bool {
    guard let before = push.acceptedBefore else {
      queue.update(push.id) { $0.acceptedBefore = counters.delivered }
      return false
    }
    return counters.delivered > before
  }

  /// A connection on which a token has expired stays of no use (`Documentation/provider-api.md#renewal`).
  private func renewToken(for push: ForwardPush, _ text: String) {
    let isNewer = push.tokenNumber < tokens.number
    guard isNewer || (try? tokens.expired(now: Self.worldTime)) == true else {
      return reject(push, .expiredProviderToken, status: 403, text + " (do the clocks agree?)")
    }
    if !isNewer { client.leaveCurrent() }
    counters.retries += 1
    queue.putBack(push.id)
  }

  /// Holds everything back for a while. Answers to what was sent together count as one.
  func pause(_ because: String = "") {
    let now = SystemClock.monotonicNanoseconds()
    guard now >= pausedUntil else { return }
    pauses += 1
    let wait = backoff.wait(after: pauses)
    pausedUntil = now + wait
    guard !because.isEmpty else { return }
    logger.log(
      .warning, "the other service is busy",
      [
        ("to", .string(target)), ("answer", .string(because)), ("nextTry", .string("\(wait / 1_000_000) ms")),
      ])
  }

  private func noteSuccess() {
    pauses = 0
    if !complaints.isEmpty { complaints = [] }
  }

  /// Once for each reason until something succeeds.
  func complain(_ event: String, _ reason: String) {
    guard complaints.insert(event + reason).inserted else { return }
    logger.log(.error, event, [("to", .string(target)), ("because", .string(reason))])
  }
}

extension Broker.ForwardOutcome {
  /// For the log.
  fileprivate var word: String {
    switch self {
    case .delivered: "forwarded"
    case .rejected: "rejected"
    case .expired: "expired"
    case .discarded: "discarded"
    }
  }
}
