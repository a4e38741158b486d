import Basics
import NATSWire
import Platform
import Transport

/// Reads one log from a sequence on. Each delivery is a consumer of its own with a subject of its own, so that nothing of an older
/// one is taken for its.
///
///     resting ─(the engine is there)→ checking ─(the stream is what it was)→ beginning ─(the consumer is made)→ running
///        ↑──────(connection lost; refused; something is missing; nothing heard: once more after a moment)─────────┘
///     ended, from each: told to, or the log is not what it was
final class LogFollower {
  private enum State { case resting, checking, beginning, running, ended }

  /// Without a word for so long, delivery begins again. Nanoseconds; NATS says every second that it has nothing new.
  private static let silenceLimit: Int64 = 3_000_000_000

  private let client: NATSClient
  private let configuration: JetStreamConfiguration
  private let created: String
  private let handle: (LogStream.Event) -> Void
  private var state = State.resting
  /// The sequence of the next record.
  private var next: UInt64
  private var reader: JetStreamDelivery
  private var subscription: NATSClient.Subscription?
  /// Counts deliveries, so that answers to an older one are not heard.
  private var attempt: UInt64 = 0
  /// Whether something was heard of an earlier delivery: what comes after that comes after a gap.
  private var wasRunning = false
  private var pulse = DeliveryPulse(begun: .distantPast)
  private var backoff = Backoff.ofNATS
  private var failures = 0
  private var timer: LoopEvent?
  private var watch: NATSClient.Watch?
  private(set) var trouble: JetStreamFailure?

  init(
    _ client: NATSClient, _ loop: EventLoop, _ configuration: JetStreamConfiguration, created: String,
    from first: UInt64, handle: @escaping (LogStream.Event) -> Void
  ) {
    (self.client, self.configuration, self.created, self.handle) = (client, configuration, created, handle)
    (next, reader) = (first, JetStreamDelivery(from: first))
    timer = LoopEvent(timerOn: loop) { [unowned self] in check() }
  }

  deinit { end() }

  func begin() {
    watch = client.watch(
      changed: { [weak self] state in
        switch state {
        case .ready: self?.connected()
        case .unreachable: self?.rest()
        }
      }, ticked: { [weak self] in self?.tick($0) })
    check()
  }

  func end() {
    rest()
    state = .ended
    if let watch { client.unwatch(watch) }
    watch = nil
  }

  /// Whether NATS has said lately what there is.
  func isLive(_ now: Instant) -> Bool {
    state == .running && pulse.isLive(now)
  }

  /// The stream may be there no more, which delivery does not tell.
  func doubt() {
    if state == .running, client.info != nil { again(.nobodyListens) }
  }

  // MARK: NATS

  private func connected() {
    failures = 0
    check()
  }

  private func rest() {
    timer?.cancel()
    if let subscription { client.unsubscribe(subscription) }
    subscription = nil
    attempt += 1
    if state != .ended { state = .resting }
  }

  private func tick(_ now: Instant) {
    guard state == .running, pulse.silence(now) >= Self.silenceLimit else { return }
    again(.late)
  }

  /// Begins again after a moment.
  private func again(_ failure: JetStreamFailure) {
    trouble = failure
    rest()
    failures += 1
    timer?.start(afterNanoseconds: backoff.wait(after: failures))
  }

  private func finish(_ event: LogStream.Event) {
    end()
    handle(event)
  }

  // MARK: Beginning

  private func check() {
    // Without a NATS server, `changed` tells when there is one.
    guard state == .resting, client.info != nil else { return }
    state = .checking
    let attempt = attempt
    client.request(.information(stream: configuration.name), within: LogStream.requestTimeout) {
      [weak self] answer in
      guard let self, attempt == self.attempt else { return }
      checked(answer)
    }
  }

  private func checked(_ answer: NATSAnswer) {
    let name = configuration.name
    do throws(JetStreamFailure) {
      let found = try answer.state(of: configuration, madeAt: created)
      if found.lastSequence &+ 1 < next {
        let problem =
          "the stream \(name) has lost records: it is at \(found.lastSequence), and was at \(next - 1)"
        finish(.lost(.unsuitable(problem)))
      } else if found.firstSequence > next {
        finish(.purged(first: found.firstSequence))
      } else {
        deliver()
      }
    } catch .unsuitable(let why) {
      finish(.lost(.unsuitable(why)))
    } catch { again(error) }
  }

  private func deliver() {
    state = .beginning
    (reader, pulse) = (JetStreamDelivery(from: next), DeliveryPulse(begun: SystemClock.now()))
    let unique = [UInt8].random(16)
    let subject = "_INBOX.LOG.\(Hex.encode(unique))"
    let attempt = attempt
    subscription = client.subscribe(subject) { [weak self] message in
      guard let self, attempt == self.attempt else { return }
      heard(message)
    }
    let request = JetStreamRequest.deliver(stream: configuration.name, from: next, to: subject)
    client.request(request, within: LogStream.requestTimeout) { [weak self] answer in
      guard let self, attempt == self.attempt else { return }
      do throws(JetStreamFailure) { begun(pending: try answer.pending()) } catch { again(error) }
    }
  }

  /// The consumer's first word, or the answer to the request for it: whichever is first.
  private func run() {
    guard state == .beginning else { return }
    (state, failures, trouble) = (.running, 0, nil)
    if wasRunning { handle(.gap) }
    wasRunning = true
  }

  private func begun(pending: UInt64) {
    run()
    if pulse.answered(pending: pending, SystemClock.now()) { catchUp() }
  }

  private func catchUp() {
    guard state == .running, pulse.catchUp() else { return }
    handle(.caughtUp)
  }

  // MARK: Delivery

  private func heard(_ message: NATSMessage) {
    run()
    if pulse.heard(SystemClock.now()) { handle(.gap) }
    // Whoever hears of a gap may have ended it.
    guard state == .running else { return }
    do throws(JetStreamFailure) {
      switch try reader.take(message) {
      case .record(let record): take(record)
      case .flowControl(let reply): client.publish(reply, [])
      case .idle: catchUp()
      }
    } catch { again(error) }
  }

  private func take(_ record: JetStreamRecord) {
    // There are no gaps in a stream of one subject, but for what was purged.
    guard record.sequence == next else { return finish(.purged(first: record.sequence)) }
    next = record.sequence + 1
    handle(.record(record))
    if reader.pending == 0 { catchUp() }
  }
}
