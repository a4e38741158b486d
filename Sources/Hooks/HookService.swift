import Basics
import Broker
import Platform
import Services
import Transport

/// Tells commands and web servers of each push that a device has acknowledged (`Documentation/hooks.md`).
///
/// Deliveries are found in the broker's event log at the end of a turn, after the commit; the way of a push pays what it pays for
/// any watcher. What a hook does with them takes its time beside the loop.
package final class HookService {
  /// How long one try may take, in nanoseconds.
  static let timeout: Int64 = 30_000_000_000
  /// Most deliveries that are described in one turn, as a count: some milliseconds of work.
  static let perTurn = 100
  /// Before more are begun where one could not be started, in nanoseconds.
  private static let pause: Int64 = 1_000_000_000
  /// Between lines that tell of what was dropped, in nanoseconds.
  private static let noticeInterval: Int64 = 10_000_000_000

  /// One hook with what waits for it.
  private final class Hook {
    let target: HookTarget
    var queue = HookQueue()
    var backoff: Backoff
    var runs: [UInt64: any HookRun] = [:]
    /// Dropped ones that the log has told of, and when.
    var droppedTold: UInt64 = 0
    var toldAt = Instant.distantPast

    init(_ target: HookTarget, seed: UInt64) {
      self.target = target
      backoff = Backoff(first: 1_000_000_000, longest: 60_000_000_000, seed: seed)
    }
  }

  private let loop: EventLoop
  private let broker: Broker
  private let logger: Logger
  /// The document of a delivery; nil if it has left the history.
  private let describe: (BrokerEvent) -> [UInt8]?
  /// What commands find in their environment besides this process's own.
  private var environment: [String: String] = [:]
  private let hooks: [Hook]
  private let context: TLSContext?
  private var timer: LoopEvent?
  /// The next event to be looked at.
  private var nextEvent: UInt64
  private var runCount: UInt64 = 0
  private var isOver = false
  private var isAdvancing = false

  /// nil if there is nothing to tell.
  package init?(
    _ targets: [HookTarget], loop: EventLoop, broker: Broker, logger: Logger, seed: UInt64,
    describe: @escaping (BrokerEvent) -> [UInt8]?
  ) throws {
    guard !targets.isEmpty else { return nil }
    (self.loop, self.broker, self.logger, self.describe) = (loop, broker, logger, describe)
    hooks = targets.map { Hook($0, seed: seed) }
    let isSecure = targets.contains { if case .url(let url) = $0 { url.isSecure } else { false } }
    context = isSecure ? try TLSContext.clientOfSystemTrust(policy: TLSPolicy()) : nil
    broker.events.turnOn()
    nextEvent = broker.events.nextNumber
    timer = LoopEvent(timerOn: loop) { [unowned self] in advance() }
  }

  /// `environment` is for commands.
  package func start(environment: [String: String]) { self.environment = environment }

  // MARK: What happened

  /// To be called at the end of each turn, after its commit.
  package func turnEnded() {
    guard !isOver, nextEvent < broker.events.nextNumber else { return }
    skipForgotten()
    var described = 0
    while nextEvent < broker.events.nextNumber, described < Self.perTurn {
      if let event = broker.events[nextEvent], event.kind == .delivery, event.state == .delivered,
        tell(of: event)
      {
        described += 1
      }
      nextEvent += 1
    }
    advance()
  }

  /// The log of events is a ring. What has left it is counted whole, though not all of it were deliveries.
  private func skipForgotten() {
    let oldest = broker.events.firstNumber
    guard nextEvent < oldest else { return }
    for hook in hooks { hook.queue.drop(Int(clamping: oldest - nextEvent)) }
    nextEvent = oldest
  }

  /// Offers a delivery to every hook; answers whether it had to be described.
  private func tell(of event: BrokerEvent) -> Bool {
    var body: [UInt8]?
    for hook in hooks {
      guard hook.queue.hasRoom else {
        hook.queue.drop()
        continue
      }
      body = body ?? describe(event)
      // It has left the history already.
      guard let body else {
        hook.queue.drop()
        continue
      }
      _ = hook.queue.offer(HookQueue.Item(id: event.subject, body: body))
    }
    return body != nil
  }

  // MARK: Running

  /// Starts what there is a place for, and sees to it that the rest is thought of.
  private func advance() {
    guard !isOver, !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    let now = SystemClock.now()
    for hook in hooks {
      // What can't even be started is no better started a thousand times: the rest waits for its second try.
      while let item = hook.queue.next(now: now), start(item, hook) {}
      noteDropped(hook, now)
    }
    let isBehind = nextEvent < broker.events.nextNumber
    let dues =
      hooks.compactMap(\.queue.nextDue)
      + hooks.filter(\.queue.canStart).map { _ in now.adding(nanoseconds: Self.pause) }
    if let due = isBehind ? now : dues.min() {
      timer?.start(afterNanoseconds: max(0, due.nanoseconds(since: now)))
    }
  }

  /// Answers whether it is under way.
  private func start(_ item: HookQueue.Item, _ hook: Hook) -> Bool {
    runCount += 1
    let number = runCount
    let then: (HookOutcome) -> Void = { [unowned self] outcome in
      hook.runs[number] = nil
      ended(item, hook, outcome)
      advance()
    }
    do {
      switch hook.target {
      case .command(let text):
        hook.runs[number] = try CommandRun(
          loop, text, environment, item.body, within: Self.timeout,
          heard: { [unowned self] in say($0, hook, item) }, then: then)
      case .url(let url):
        let run = PostRun(loop, url, context, item.body, within: Self.timeout, then: then)
        hook.runs[number] = run
        run.start()
      }
    } catch {
      ended(item, hook, .failed("\(error)", isWorthRetrying: true))
    }
    return hook.runs[number] != nil
  }

  private func ended(_ item: HookQueue.Item, _ hook: Hook, _ outcome: HookOutcome) {
    guard case .failed(let sentence, let isWorthRetrying) = outcome else { return hook.queue.succeeded(item) }
    let isTriedAgain = hook.queue.failed(
      item, isWorthRetrying: isWorthRetrying, now: SystemClock.now(), &hook.backoff)
    logger.log(
      .warning, isTriedAgain ? "hook failed, will be retried" : "hook failed",
      names(hook, item) + [
        ("try", .integer(Int64(item.failures + 1))), ("because", .string(sentence)),
      ])
  }

  private func say(_ line: String, _ hook: Hook, _ item: HookQueue.Item) {
    logger.log(.debug, "hook says", names(hook, item) + [("line", .string(line))])
  }

  private func names(_ hook: Hook, _ item: HookQueue.Item) -> [(String, JSONValue)] {
    [("hook", .string(hook.target.label)), ("id", .integer(Int64(clamping: item.id)))]
  }

  private func noteDropped(_ hook: Hook, _ now: Instant) {
    let dropped = hook.queue.counts.dropped
    guard dropped > hook.droppedTold, now.nanoseconds(since: hook.toldAt) >= Self.noticeInterval else {
      return
    }
    tellOfLost(
      Int(clamping: dropped - hook.droppedTold), hook,
      because: "\(HookQueue.countLimit) deliveries or \(HookQueue.byteLimit >> 20) MiB wait already")
    (hook.droppedTold, hook.toldAt) = (dropped, now)
  }

  private func tellOfLost(_ count: Int, _ hook: Hook, because reason: String) {
    logger.log(
      .warning, "deliveries not sent to the hook",
      [
        ("hook", .string(hook.target.label)), ("count", .integer(Int64(count))),
        ("because", .string(reason)),
      ])
  }

  // MARK: The end

  /// Ends what runs, and says what is lost.
  package func shutDown() {
    guard !isOver else { return }
    isOver = true
    timer?.cancel()
    let runs = hooks.flatMap(\.runs.values)
    for run in runs { run.stop() }
    for run in runs { run.awaitEnd() }
    for hook in hooks {
      hook.queue.giveUp()
      let lost = Int(clamping: hook.queue.counts.dropped - hook.droppedTold) + hook.runs.count
      hook.runs = [:]
      if lost > 0 {
        tellOfLost(lost, hook, because: "the hook's queue was full, or the emulator is shutting down")
      }
    }
  }

  /// Whether nothing waits and nothing runs.
  package var isIdle: Bool { nextEvent >= broker.events.nextNumber && hooks.allSatisfy(\.queue.isEmpty) }

  package var metrics: [MetricFamily] {
    func samples(_ value: (HookQueue) -> some BinaryInteger) -> [MetricFamily.Sample] {
      hooks.enumerated().map { .init(Double(value($1.queue)), [("hook", "\($0 + 1) \($1.target.label)")]) }
    }
    func counter(_ name: String, _ help: String, _ path: KeyPath<HookQueue.Counts, UInt64>) -> MetricFamily {
      MetricFamily("apns_emulator_hook_\(name)_total", .counter, help, samples { $0.counts[keyPath: path] })
    }
    return [
      MetricFamily(
        "apns_emulator_hook_queue", .gauge, "Deliveries that wait for a hook or are being handled by it.",
        samples { $0.count }),
      counter("runs", "Attempts to notify a hook of a delivery.", \.run),
      counter("done", "Deliveries that a hook was notified of.", \.done),
      counter("retries", "Failed attempts that are retried.", \.retried),
      counter("failures", "Deliveries that were given up.", \.failed),
      counter("dropped", "Deliveries dropped because a hook's queue was full.", \.dropped),
    ]
  }
}
