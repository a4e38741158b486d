import Basics
import NATSWire
import Platform
import Transport
import Zones

/// One log in NATS: a stream with one subject, followed in order and appended to behind a known sequence.
///
///     let log = LogStream(client: client, loop: loop, configuration: configuration)
///     log.open { … log.follow(from: 1) { event in … } }
///     log.append(bytes, behind: last) { … }
package final class LogStream {
  /// What is heard of a log that is followed.
  package enum Event: Equatable, Sendable {
    /// Each once, in order.
    case record(JetStreamRecord)
    /// One that nobody of the cluster has written, in its order. It counts for nothing.
    case alien(UInt64)
    /// Delivery was interrupted: that nothing was heard meanwhile does not mean that nothing was appended.
    case gap
    /// All that was in the log when delivery began has been told. Again after each interruption.
    case caughtUp
    /// What is next was purged: a snapshot has it. Following has ended.
    case purged(first: UInt64)
    /// The log has lost what it had, or is another. Following has ended.
    case lost(JetStreamFailure)
  }

  /// How long NATS has to take an append, in nanoseconds. A late one is sent again, and can't be there twice: no need to wait long.
  private static let appendTimeout: Int64 = 2_000_000_000
  /// The same for what else is asked, which may be asked again. A NATS cluster that has no leader yet says nothing.
  static let requestTimeout: Int64 = 3_000_000_000
  /// Most bytes of an append's headers.
  private static let headerLimit = 1024
  /// How often an append may come behind somebody else's, as a count. Each time theirs was taken, so they come to an end.
  private static let tries = 200

  package let configuration: JetStreamConfiguration
  private let client: NATSClient
  private let loop: EventLoop
  /// That will be appended, in bytes.
  private let largestRecord: Int
  /// Of all records; nil in a cluster without `--cluster-secret`.
  private let seal: ClusterSeal?
  /// When the stream was made, in the NATS server's words; nil until it is open.
  package private(set) var created: String?
  /// The connection on which it was found to be the same, by number.
  private var verifiedOn: UInt64 = 0
  private var opening: LogOpening?
  private var follower: LogFollower?

  package init(
    client: NATSClient, loop: EventLoop, configuration: JetStreamConfiguration,
    largestRecord: Int = ZoneLease.Terms().recordLimit, seal: ClusterSeal? = nil
  ) {
    (self.client, self.loop, self.configuration) = (client, loop, configuration)
    (self.largestRecord, self.seal) = (largestRecord, seal)
  }

  /// Why opening or following does not go on at the moment; nil while all is well.
  package var trouble: JetStreamFailure? { opening?.trouble ?? follower?.trouble }

  // MARK: Opening

  /// Makes the stream if it is not there, unless `isMade` is false, and checks that it is one of ours. Waits for a NATS server
  /// that is unreachable; `done` is called once.
  package func open(
    isMade: Bool = true, done: @escaping (Result<JetStreamState, JetStreamFailure>) -> Void
  ) {
    opening?.end()
    let opening = LogOpening(
      client, loop, configuration, isMade: isMade,
      room: largestRecord + Self.headerLimit + (seal == nil ? 0 : ClusterSeal.byteCount)
    ) { [weak self] result in
      guard let self else { return }
      self.opening = nil
      if case .success(let state) = result { (created, verifiedOn) = (state.created, client.connections) }
      done(result)
    }
    self.opening = opening
    opening.begin()
  }

  // MARK: Reading

  /// Tells each record from a sequence on once, in order, however often the connection is lost, until `stopFollowing`. The log must
  /// be open.
  package func follow(from first: UInt64, handle: @escaping (Event) -> Void) {
    follower?.end()
    guard let created else {
      return handle(.lost(.unsuitable("the log \(configuration.name) was not opened")))
    }
    follower = LogFollower(
      client, loop, configuration, created: created, from: max(1, first)
    ) { [seal, configuration] event in
      guard case .record(let record) = event else { return handle(event) }
      do throws(JetStreamFailure) {
        handle(.record(try record.opened(seal, configuration, madeAt: created)))
      } catch { handle(.alien(record.sequence)) }
    }
    follower?.begin()
  }

  package func stopFollowing() {
    follower?.end()
    follower = nil
  }

  /// Whether NATS delivers at the moment: only then does silence mean that nothing is appended.
  package func isLive(_ now: Instant) -> Bool { follower?.isLive(now) ?? false }

  /// What stands at a sequence, by the word of the stream's leader. `created` says when the stream was made, where it was not opened.
  package func readBack(
    _ sequence: UInt64, madeAt created: String? = nil,
    done: @escaping (Result<JetStreamRecord, JetStreamFailure>) -> Void
  ) {
    let request = JetStreamRequest.message(stream: configuration.name, sequence: sequence)
    let created = created ?? self.created ?? ""
    client.request(request, within: Self.appendTimeout) { [seal, configuration] answer in
      do throws(JetStreamFailure) {
        done(.success(try answer.record().opened(seal, configuration, madeAt: created)))
      } catch .refused(
        JetStreamFailure.streamNotFoundCode, _)
      {
        done(.failure(.unsuitable("the stream \(configuration.name) was deleted")))
      } catch { done(.failure(error)) }
    }
  }

  // MARK: Writing

  /// Appends if nothing else was appended behind `last`; answers the record's sequence. Whether it is there is not known after a
  /// failure that `isPassing`: the same bytes behind the same sequence may be tried again then. `unsuitable` says that the log is
  /// not what it was when it was opened.
  package func append(
    _ bytes: [UInt8], behind last: UInt64, done: @escaping (Result<UInt64, JetStreamFailure>) -> Void
  ) {
    guard isVerified else {
      return verify { [weak self] failure in
        if let failure { done(.failure(failure)) } else { self?.send(bytes, behind: last, done: done) }
      }
    }
    send(bytes, behind: last, done: done)
  }

  private func send(
    _ bytes: [UInt8], behind last: UInt64, done: @escaping (Result<UInt64, JetStreamFailure>) -> Void
  ) {
    let name = configuration.name
    let condition = AppendCondition.headers(lastSequence: last, stream: name)
    let place = ClusterSeal.Place(name: name, created: created ?? "", sequence: last &+ 1)
    let message = seal?.sealed(bytes, at: place) ?? bytes
    client.request(configuration.subject, headers: condition, message, within: Self.appendTimeout) {
      [weak self] answer in
      guard let self, answer == .nobodyListens, client.info != nil else {
        return done(Result { () throws(JetStreamFailure) in try answer.appended(to: name) })
      }
      // Of a NATS server that is there: the stream may not be.
      follower?.doubt()
      verify { done(.failure($0 ?? .nobodyListens)) }
    }
  }

  /// Whether the stream was looked at on this connection. A NATS server that comes back may have another of the same name, and take
  /// for it what was meant for this one.
  private var isVerified: Bool { created == nil || verifiedOn == client.connections }

  private func verify(then: @escaping (JetStreamFailure?) -> Void) {
    let connection = client.connections
    client.request(.information(stream: configuration.name), within: Self.appendTimeout) {
      [weak self] answer in
      guard let self else { return then(.late) }
      do throws(JetStreamFailure) {
        _ = try answer.state(of: configuration, madeAt: created)
        verifiedOn = connection
        then(nil)
      } catch { then(error) }
    }
  }

  /// Appends whatever others append meanwhile; `last` is where the log was, as far as is known. After a failure it is not known
  /// whether it is there.
  func appendAtEnd(
    _ bytes: [UInt8], behind last: UInt64, tries: Int = LogStream.tries,
    done: @escaping (Result<UInt64, JetStreamFailure>) -> Void
  ) {
    append(bytes, behind: last) { [weak self] in
      guard let self, case .failure(.wrongLastSequence(let end)) = $0, end > last, tries > 1 else {
        return done($0)
      }
      appendAtEnd(bytes, behind: end, tries: tries - 1, done: done)
    }
  }

  /// Calls back after a while, unless what this answers goes before.
  func after(_ nanoseconds: Int64, _ handler: @escaping () -> Void) -> LoopEvent {
    let timer = LoopEvent(timerOn: loop, handler: handler)
    timer.start(afterNanoseconds: nanoseconds)
    return timer
  }

  /// Forgets what lies before a sequence. Appends wait meanwhile (11 µs a record): in small steps.
  package func purge(before sequence: UInt64, done: @escaping (Result<Void, JetStreamFailure>) -> Void) {
    // There is nothing before the first, for which the server takes a request to forget all (nats-server 2.9.10, PurgeEx).
    guard sequence > 1 else { return done(.success(())) }
    let request = JetStreamRequest.purge(stream: configuration.name, before: sequence)
    client.request(request, within: Self.requestTimeout) { answer in
      done(Result { () throws(JetStreamFailure) in try answer.isDone() })
    }
  }
}

extension JetStreamRecord {
  /// Without its seal, if it has to have one; `alien` if it is none of the cluster's.
  fileprivate func opened(
    _ seal: ClusterSeal?, _ configuration: JetStreamConfiguration, madeAt created: String
  ) throws(JetStreamFailure) -> JetStreamRecord {
    guard let seal else { return self }
    let place = ClusterSeal.Place(name: configuration.name, created: created, sequence: sequence)
    guard let contents = seal.opened(payload, at: place) else {
      throw .alien(isSealed: ClusterSeal.isSealed(payload))
    }
    return JetStreamRecord(sequence: sequence, headers: headers, payload: contents)
  }
}

extension NATSAnswer {
  /// The state of a stream that was made then; `unsuitable` where it is there no more, or another has its name.
  func state(
    of configuration: JetStreamConfiguration, madeAt created: String?
  ) throws(JetStreamFailure) -> JetStreamState {
    let found: JetStreamState
    do throws(JetStreamFailure) {
      found = try state(of: configuration)
    } catch .refused(JetStreamFailure.streamNotFoundCode, _) {
      throw .unsuitable("the stream \(configuration.name) was deleted")
    }
    guard created == nil || found.created == created else {
      throw .unsuitable("the stream \(configuration.name) was deleted and made again, at \(found.created)")
    }
    return found
  }
}

/// Opens one log: looks for its stream, makes it if there is none, and looks again whether it is as it must be.
final class LogOpening {
  private let client: NATSClient
  private let configuration: JetStreamConfiguration
  /// Whether one that is not there is made.
  private let isMade: Bool
  /// Largest message that will be sent, in bytes.
  private let room: Int
  private let done: (Result<JetStreamState, JetStreamFailure>) -> Void
  private var backoff = Backoff.ofNATS
  private var failures = 0
  /// How often another stream had the subject, as a count. Whoever makes a stream while somebody else does is told so at times
  /// (nats-server 2.9.10), and then finds it made.
  private var overlaps = 0
  private static let overlapLimit = 5
  private var timer: LoopEvent?
  private var watch: NATSClient.Watch?
  private(set) var trouble: JetStreamFailure?

  init(
    _ client: NATSClient, _ loop: EventLoop, _ configuration: JetStreamConfiguration, isMade: Bool,
    room: Int, done: @escaping (Result<JetStreamState, JetStreamFailure>) -> Void
  ) {
    (self.client, self.configuration) = (client, configuration)
    (self.isMade, self.room, self.done) = (isMade, room, done)
    timer = LoopEvent(timerOn: loop) { [unowned self] in look() }
  }

  deinit { end() }

  func begin() {
    watch = client.watch(changed: { [weak self] in if case .ready = $0 { self?.look() } })
    look()
  }

  func end() {
    timer?.cancel()
    if let watch { client.unwatch(watch) }
    watch = nil
  }

  private func look() {
    timer?.cancel()
    // Nothing is asked while there is no NATS server: `changed` tells when there is one.
    guard watch != nil, let info = client.info else { return }
    guard info.maximumPayload >= room else {
      return finish(.failure(.tooLarge(room, limit: info.maximumPayload)))
    }
    ask(.information(stream: configuration.name)) { [configuration, isMade] failure in
      if case .refused(JetStreamFailure.streamNotFoundCode, _) = failure, isMade {
        .create(configuration)
      } else {
        nil
      }
    }
  }

  /// `next` says what to ask after a failure, nil for nothing.
  private func ask(_ request: JetStreamRequest, next: @escaping (JetStreamFailure) -> JetStreamRequest?) {
    client.request(request, within: LogStream.requestTimeout) { [weak self] answer in
      guard let self, watch != nil else { return }
      do throws(JetStreamFailure) {
        found(try answer.state(of: configuration))
      } catch {
        guard let request = next(error) else { return failed(error) }
        ask(request) { _ in nil }
      }
    }
  }

  private func found(_ state: JetStreamState) {
    guard state.differences.isEmpty else {
      let differences = state.differences.joined(separator: "; ")
      return finish(
        .failure(
          .unsuitable(
            "the stream \(configuration.name) was not made by apns-emulator, or was changed: \(differences)"))
      )
    }
    finish(.success(state))
  }

  private func failed(_ failure: JetStreamFailure) {
    trouble = failure
    if case .nobodyListens = failure, let info = client.info, !info.hasJetStream {
      return finish(
        .failure(.unsuitable("the NATS server \(info.serverName) has no JetStream: start it with -js")))
    }
    guard mayPass(failure) else { return finish(.failure(failure)) }
    failures += 1
    if client.info != nil { timer?.start(afterNanoseconds: backoff.wait(after: failures)) }
  }

  private func mayPass(_ failure: JetStreamFailure) -> Bool {
    guard case .refused(JetStreamFailure.subjectsOverlapCode, _) = failure else { return failure.isPassing }
    overlaps += 1
    return overlaps < Self.overlapLimit
  }

  private func finish(_ result: Result<JetStreamState, JetStreamFailure>) {
    end()
    done(result)
  }
}
