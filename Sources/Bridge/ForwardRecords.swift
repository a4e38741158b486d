import Basics
import Broker
import PushModel
import Services

/// What people get to see of notifications that are forwarded: history, capture, log and numbers.
final class ForwardRecords {
  /// What became of one, as it is counted.
  private enum Counted: String, CaseIterable { case delivered, rejected, gone, expired, dropped }

  /// Watches what comes in; nil while nobody does.
  let capture: (any TrafficRecorder)?
  private let broker: Broker
  private let clock: EmulatorClock
  private let logger: Logger
  private let target: String
  /// What became of them.
  private var counts: [Counted: Int] = [:]
  private var retries = 0
  /// Reasons that were complained of since the last success.
  private var complaints: Set<String> = []

  init(
    broker: Broker, clock: EmulatorClock, logger: Logger, capture: (any TrafficRecorder)?, target: String
  ) {
    (self.broker, self.clock, self.logger) = (broker, clock, logger)
    (self.capture, self.target) = (capture, target)
  }

  /// How many the other service has accepted.
  var delivered: Int { counts[.delivered] ?? 0 }

  func metrics(_ queue: ForwardQueue, isConnected: Bool) -> [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_forwarded_total", .counter, "Forwarded notifications by outcome.",
        Counted.allCases.map { .init(Double(counts[$0] ?? 0), [("outcome", $0.rawValue)]) }),
      MetricFamily(
        "apns_emulator_forward_retries_total", .counter, "Notifications that were sent again.",
        value: retries),
      MetricFamily(
        "apns_emulator_forward_queue", .gauge, "Notifications that wait to be forwarded or are on their way.",
        value: queue.count),
      MetricFamily(
        "apns_emulator_forward_under_way", .gauge, "Notifications that wait for their answer.",
        value: queue.underWayCount),
      MetricFamily(
        "apns_emulator_forward_connected", .gauge, "Whether there is a connection to the other service.",
        value: isConnected ? 1 : 0),
    ]
  }

  // MARK: One notification

  /// It waits to be forwarded, under the id that it gets here.
  func begin(_ push: inout ForwardPush, _ submission: Submission) {
    push.record = broker.history.beginElsewhere(submission.plain, submission.detail, now: clock.now())
    push.id = push.record
    capture?.awaits(push.record)
  }

  /// It is on its way to the other service.
  func sent(_ push: ForwardPush) {
    broker.noteRead()
    broker.history.noteForwarded(push.record, now: clock.now())
  }

  /// It is to be sent again.
  func noteRetry(_ push: ForwardPush, _ because: String? = nil) {
    retries += 1
    guard let because else { return }
    logger.log(
      .debug, "push will be forwarded again",
      [("id", .integer(Int64(clamping: push.id))), ("because", .string(because))])
  }

  /// The other service has decided; `text` is what it said.
  func settled(_ push: ForwardPush, _ outcome: ForwardOutcome, _ text: String) {
    let counted: Counted =
      switch outcome {
      case .delivered: .delivered
      case .rejected: .rejected
      case .expired: .expired
      case .discarded: .gone
      }
    end(push, outcome, counted, "forwarded to \(target): \(text)")
  }

  func expired(_ push: ForwardPush) {
    end(push, .expired, .expired, "it expired before \(target) accepted it")
  }

  /// It was discarded with what follows a rejection.
  func dropped(_ push: ForwardPush) {
    end(push, .discarded, .dropped, "not forwarded: an earlier one on the connection was rejected")
  }

  /// The provider has sent again, as `push`, what is on its way.
  func tookOver(_ push: ForwardPush, from old: ForwardPush) {
    end(old, .discarded, nil, "the provider sent it again, as \(push.record)")
    sent(push)
  }

  /// The provider has sent again what was accepted under another id.
  func acceptedBefore(_ push: ForwardPush, as id: UInt64) {
    end(push, .delivered, nil, "forwarded to \(target) already, as \(id)")
  }

  /// Its token is gone; nil if the answer does not say since when.
  func noteGone(_ push: ForwardPush, _ goneAt: Timestamp?) {
    // By its name: nothing is of the topic here, and its id may be nobody's by now.
    guard let topic = Topic(push.topicName).flatMap({ broker.registry.topic(named: $0) }) else { return }
    broker.feedback.reportForeignGone(
      token: push.token, topic: topic, environment: push.environment, goneAt: goneAt ?? clock.now())
  }

  private func end(
    _ push: ForwardPush, _ outcome: ForwardOutcome, _ counted: Counted?, _ explanation: String
  ) {
    if let counted { counts[counted, default: 0] += 1 }
    broker.noteRead()
    broker.history.endForward(push.record, outcome, explanation: explanation, now: clock.now())
    // What follows an error is sent again by the provider, and recorded then.
    capture?.decided(push.record, isRecorded: !push.isDiscarded)
    logger.log(
      .info, "push \(outcome.word)",
      [
        ("id", .integer(Int64(clamping: push.record))), ("apnsId", .string(push.apnsID.description)),
        ("attempts", .integer(Int64(push.attempts))), ("outcome", .string(explanation)),
      ])
  }

  // MARK: The other service

  /// For the operator: once for each reason until something succeeds.
  func complain(_ event: String, _ reason: String) {
    guard complaints.insert(event + reason).inserted else { return }
    logger.log(.error, event, [("to", .string(target)), ("because", .string(reason))])
  }

  func noteSuccess() { if !complaints.isEmpty { complaints = [] } }

  /// It is left alone for a while, in nanoseconds.
  func noteBusy(_ answer: String, wait: Int64) {
    logger.log(
      .warning, "the other service is busy",
      [
        ("to", .string(target)), ("answer", .string(answer)), ("nextTry", .string("\(wait / 1_000_000) ms")),
      ])
  }

  // MARK: Beginning and end of the process

  func noteRestored(_ count: Int) {
    guard count > 0 else { return }
    logger.log(
      .info, "notifications of an earlier run will be forwarded", [("count", .integer(Int64(count)))])
  }

  /// What was not sent in time.
  func noteLeft(_ count: Int, isKept: Bool) {
    guard count > 0 else { return }
    logger.log(
      .warning, isKept ? "notifications are stored for the next start" : "notifications were not forwarded",
      [("count", .integer(Int64(count)))])
  }
}

extension ForwardOutcome {
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
