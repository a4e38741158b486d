import Basics
import Capture
import Platform
import PushModel
import Transport

/// Goes through the capture at its pace and hands each push to the lane of its connection. Reads on only as fast as the
/// lanes get rid of what they have, so that memory does not depend on the length of the capture.
package final class ReplayRunner: LaneOwner {
  /// How many bytes of frames go by between two looks at what the lanes hold.
  private static let heldInterval = 1 << 20

  private let options: ReplayOptions
  private let loop: EventLoop
  private let credentials: any ReplayCredentials
  private let observer: any ReplayObserver
  private let feed: CaptureFeed
  private let size: Int
  private var bytesRead = 0
  /// What was read, up to its last entry.
  private var batch = CaptureBatch()
  private var index = 0
  private var isAtEnd = false
  private var isWaitingForFile = false
  private var isPumping = false
  /// Recorded connections that are open.
  private var connections: [UInt32: CapturedConnection] = [:]
  private let lanes = ReplayLanes()
  /// Why it did not come to its end.
  package private(set) var failure: (any Error)?
  /// The lane of the last frame, where frames go as they are: most often it is the next one's too.
  private var latestNumber: UInt32 = 0
  private var latestLane: LegacyLane?
  private let isPlain: Bool
  /// Which file is being read, counted from 0.
  private var fileIndex = 0
  private var file: String { options.files[fileIndex] }
  private var session = ""
  /// When the recording's zero is now.
  private var zero = Instant.distantPast
  private var sinceLook = 0
  private var movedAt = SystemClock.now()
  private var timer: LoopEvent?
  private var fileEvent: LoopEvent?
  private var watch: LoopEvent?

  /// Stops the loop when all outcomes are known, or it can't go on.
  package init(
    _ options: ReplayOptions, on loop: EventLoop, as credentials: any ReplayCredentials,
    telling observer: any ReplayObserver
  ) throws {
    (self.options, self.loop, self.credentials, self.observer) = (options, loop, credentials, observer)
    isPlain = options.form != .http2 && options.mapping.tokens.isEmpty
    let source = CaptureSource(options.files, leavesTogether: isPlain, warn: options.warn)
    size = source.size
    feed = try CaptureFeed(source)
  }

  deinit { feed.end() }

  /// Begins to replay everything, as the loop turns.
  package func begin() {
    timer = LoopEvent(timerOn: loop) { [unowned self] in pump() }
    let fileEvent = LoopEvent(loop, descriptor: feed.awaited, .read) { [unowned self] in
      feed.heard()
      pump()
    }
    fileEvent.start()
    self.fileEvent = fileEvent
    watch = LoopEvent(timerOn: loop) { [unowned self] in look() }
    zero = SystemClock.now()
    timer?.start(afterNanoseconds: 0)
    look()
  }

  private func fail(_ error: any Error) {
    failure = failure ?? error
    loop.stop()
  }

  // MARK: Going on

  /// Hands out what is due, until the lanes have enough.
  func pump() {
    guard !isPumping, failure == nil else { return }
    isPumping = true
    defer { isPumping = false }
    do { try handOutDue() } catch { return fail(error) }
    latestLane?.advance()
    lanes.advance()
    if isAtEnd, lanes.isEmpty { loop.stop() }
  }

  private func handOutDue() throws {
    while try loadNext() {
      guard !lanes.hasTooManyFinishing, hasRoom() else { return }
      let entry = batch.entries[index]
      guard isDue(entry) else { return }
      index += 1
      sinceLook += batch.content(entry).count
      if let lane = try handOut(entry), lane.isFull { return }
    }
  }

  /// Whether there is an entry; at the end every lane is told.
  private func loadNext() throws -> Bool {
    if index < batch.entries.count { return true }
    guard !isAtEnd else { return false }
    index = 0
    observer.progress(bytesRead, of: size)
    if !batch.entries.isEmpty { giveBatchBack() }
    let next = try feed.take()
    isWaitingForFile = false
    switch next {
    case .delivery(let delivery):
      (batch, bytesRead, fileIndex) = (delivery.batch, delivery.bytesRead, delivery.fileIndex)
      return true
    case .later: isWaitingForFile = true
    case .end:
      isAtEnd = true
      lanes.finishAll()
    }
    return false
  }

  private func giveBatchBack() {
    // Kept by nobody else, so that the thread reads into its memory.
    var done = CaptureBatch()
    swap(&done, &batch)
    feed.giveBack(done)
  }

  private func isDue(_ entry: CaptureEntry) -> Bool {
    guard case .factor(let factor) = options.speed else { return true }
    let due = zero.adding(nanoseconds: Int64(min(9e18, Double(entry.nanoseconds) / factor)))
    let now = SystemClock.now()
    if due <= now { return true }
    timer?.start(afterNanoseconds: due.nanoseconds(since: now))
    // While it waits, nothing is late.
    movedAt = max(movedAt, due)
    return false
  }

  private func hasRoom() -> Bool {
    guard sinceLook >= Self.heldInterval else { return true }
    guard lanes.haveRoom() else { return false }
    sinceLook = 0
    return true
  }

  /// Ends the replay if nothing has been heard for too long, and moves the bar.
  private func look() {
    observer.progress(bytesRead, of: size)
    observer.flush()
    if let failure = observer.failure { fail(failure) }
    if isWaitingForFile { movedAt = SystemClock.now() }
    if SystemClock.now().nanoseconds(since: movedAt) > options.timeout {
      fail(
        ReplayFailure.sentence(
          "no answer came for \(options.timeout / 1_000_000_000) s (--timeout), after "
            + "\(observer.report.total) outcomes")
      )
    }
    watch?.start(afterNanoseconds: 200_000_000)
  }

  // MARK: Entries

  private func tag(_ entry: CaptureEntry) -> Int { ReplayTag(file: fileIndex, entry).word }

  /// Answers the lane that got something.
  @inline(__always)
  private func handOut(_ entry: CaptureEntry) throws -> (any ReplayLane)? {
    switch entry.kind {
    case .frame where entry.connection == latestNumber && latestLane != nil:
      if entry.detail < 0 {
        latestLane?.push(batch.content(entry), count: Int(entry.frames), tag: tag(entry))
      } else {
        latestLane?.push(batch.content(entry), tag: tag(entry), recorded: batch.outcome(entry))
      }
      return latestLane
    case .frame, .request: return try push(entry)
    case .header: begin(batch.starts[Int(entry.detail)])
    case .opened:
      let connection = batch.connections[Int(entry.detail)]
      connections[connection.number] = connection
    case .closed:
      if entry.connection == latestNumber { latestLane = nil }
      connections[entry.connection] = nil
      lanes.finish(entry.connection)
    case .lost: observer.report.lost += Int(entry.detail)
    }
    return nil
  }

  /// Another run of the emulator was recorded behind the first: its clock and its connections begin again.
  private func begin(_ startedAt: String) {
    guard startedAt != session else { return }
    session = startedAt
    latestLane = nil
    lanes.finishAll()
    connections = [:]
    zero = SystemClock.now()
  }

  private func push(_ entry: CaptureEntry) throws -> (any ReplayLane)? {
    guard let connection = connections[entry.connection] else {
      throw ReplayFailure.sentence(
        "\(file), line \(entry.line): expected a push of a known connection, got one of \(entry.connection); "
          + "give rotated files together, the oldest first")
    }
    let push = RecordedPush(
      entry: entry, batch: batch, connection: connection,
      tag: tag(entry))
    guard let lane = try hand(push) else {
      observer.report.addUntranslatable()
      return nil
    }
    (latestNumber, latestLane) = (entry.connection, isPlain ? lane as? LegacyLane : nil)
    return lane
  }

  // MARK: Lanes

  package func settled(_ push: ReplayedPush) { observer.settled(push) }

  package func silences(_ count: Int) { observer.report.addSilences(count) }

  package func progressed() {
    movedAt = SystemClock.now()
    pump()
  }

  package func failed(_ lane: any ReplayLane, _ why: String) {
    fail(ReplayFailure.unreachable(lane.address, why))
  }

  package func ended(_ lane: any ReplayLane) {
    lanes.ended(lane)
    if !isPumping || isAtEnd { timer?.start(afterNanoseconds: 0) }
  }
}

extension ReplayRunner {
  /// Hands a push to its lane; nil if the protocol that is wanted has no words for it.
  @inline(__always)
  private func hand(_ push: RecordedPush) throws -> (any ReplayLane)? {
    let recorded: ReplayOptions.Form = push.entry.kind == .frame ? .legacy : .http2
    switch (recorded, options.form ?? recorded) {
    case (.legacy, .legacy): return try frame(push, push.content)
    case (.legacy, .http2): return try translated(push)
    case (.http2, .http2): return try request(push)
    case (.http2, .legacy): return try translatedFrame(push)
    }
  }

  // MARK: Binary

  @inline(__always)
  private func frame(_ push: RecordedPush, _ frame: Span<UInt8>) throws -> any ReplayLane {
    let lane = try legacyLane(
      ReplayLanes.Key(connection: push.connection.number), push, push.connection.topic)
    guard push.entry.frames == 1 else {
      lane.push(frame, count: Int(push.entry.frames), tag: push.tag)
      return lane
    }
    let outcome = push.entry.detail < 0 ? nil : push.outcome
    if let mapped = PushTranslation.frame(frame, options.mapping) {
      lane.push(mapped.span, tag: push.tag, recorded: outcome)
    } else {
      lane.push(frame, tag: push.tag, recorded: outcome)
    }
    return lane
  }

  private func translatedFrame(_ push: RecordedPush) throws -> (any ReplayLane)? {
    let identifier = UInt32(truncatingIfNeeded: push.entry.line)
    guard let topic = push.topic,
      let frame = PushTranslation.frame(
        path: push.path, fields: push.fields, body: push.content, identifier: identifier, options.mapping)
    else { return nil }
    let key = ReplayLanes.Key(connection: push.connection.number, topic: topic)
    let lane = try legacyLane(key, push, topic)
    lane.push(frame.span, tag: push.tag, recorded: push.outcome)
    return lane
  }

  private func legacyLane(_ key: ReplayLanes.Key, _ push: RecordedPush, _ topic: String?) throws -> LegacyLane
  {
    try lanes.lane(key) {
      guard let topic else {
        throw ReplayFailure.sentence(
          "line \(push.entry.line): the certificate of connection \(key.connection) had no topic; name a certificate with --cert"
        )
      }
      let address = try options.address(.legacy)
      let context = try credentials.context(options.mapping.topic(topic), maximum: .tls12)
      let name = serverName("gateway", push.connection.environment, address)
      return LegacyLane(of: self, to: address, recordedForm: push.form) { [loop] handler in
        try TLSClient.connect(
          loop: loop, to: address, serverName: name, context: context, handler: handler)
      }
    }
  }

  // MARK: HTTP/2

  private func request(_ push: RecordedPush) throws -> any ReplayLane {
    let topic = push.connection.topic.map { options.mapping.topic($0) }
    let lane = try httpLane(push, certificate: topic)
    let digest = FieldBlock.value(of: "authorization", in: push.fields).text
    let authorization = try credentials.authorization(
      digest, topic: options.mapping.topic(push.topic ?? ""), push.outcome)
    let head = HTTP2RequestHead(
      of: push, authorization: authorization, serverName("api", push.connection.environment, nil),
      options.mapping)
    let path = PushTranslation.path(push.path, options.mapping)
    lane.push(
      head, path: path, body: Array(push.content), tag: push.tag, identifier: nil, recorded: push.outcome)
    return lane
  }

  private func translated(_ push: RecordedPush) throws -> (any ReplayLane)? {
    guard let topic = push.topic,
      let request = PushTranslation.request(from: push.content, topic: topic, options.mapping)
    else { return nil }
    let mapped = options.mapping.topic(topic)
    let usesKey = credentials.hasOwnKey || !credentials.hasCertificate(mapped)
    let lane = try httpLane(push, certificate: usesKey ? nil : mapped)
    var fields = request.fields
    if usesKey {
      fields.insert((name: "authorization", value: try credentials.authorization(topic: mapped)), at: 0)
    }
    let head = HTTP2RequestHead(
      authority: serverName("api", push.connection.environment, nil), fields: fields)
    lane.push(
      head, path: request.path, body: request.body, tag: push.tag,
      identifier: push.identifier, recorded: push.outcome)
    return lane
  }

  private func httpLane(_ push: RecordedPush, certificate topic: String?) throws -> HTTPLane {
    try lanes.lane(ReplayLanes.Key(connection: push.connection.number)) {
      let address = try options.address(.http2)
      let context = try credentials.context(topic, maximum: .tls13)
      let name = serverName("api", push.connection.environment, address)
      return HTTPLane(of: self, to: address, recordedForm: push.form) { [loop] owner in
        try HTTP2ClientConnection(
          loop: loop, to: address, serverName: name, context: context, owner: owner)
      }
    }
  }

  /// Apple's name for a service on this machine, which says the environment; elsewhere the host's own.
  private func serverName(_ service: String, _ environment: Environment, _ address: SocketAddress?) -> String
  {
    let apple = environment.host(of: service)
    guard let address = address ?? options.target else { return apple }
    return address.isLoopback ? apple : address.host
  }
}
