import Basics
import Faults
import Platform
import ProviderAPI
import PushModel
import Services
import Transport

/// What answers the requests of one HTTP/2 connection.
protocol HTTP2Responder: AnyObject {
  /// Judges one request and answers it on `session`, once.
  func respond(to request: HTTP2Request, on session: HTTP2ServerSession, now: Timestamp)
  /// Why the connection can't go on from the start: the reason of a GOAWAY.
  var connectionRejection: Rejection? { get }
  /// Streams that the client may open at first.
  var initialStreams: Int { get }
  /// What the connection is seen to do, for advice; nil where no pushes come.
  var watch: RequestWatch? { get }
}

extension HTTP2Responder {
  var watch: RequestWatch? { nil }
}

/// One HTTP/2 connection of a provider: TLS bytes to requests, answers back.
///
/// Answers are queued while the turn runs and leave after its commit, so a 200 never precedes the store
/// (`Sources/ARCHITECTURE.md#promises` 1).
final class HTTP2Connection: ConnectionHandler {
  /// Output that may wait for a client that does not read, in bytes; beyond it nothing more is produced, which makes
  /// nghttp2's own limits on unread acknowledgements count.
  private static let outputLimit = 256 << 10
  /// What a client that was told why it is given up may still send, in bytes: what was under way, not a flood.
  private static let inputAfterTermination = 4 << 20

  private let service: ProviderService
  /// The link back is cut when it closes, which may be amid any call to it that ends it.
  let connection: SocketConnection
  private let makeResponder: (HTTP2Connection) -> any HTTP2Responder
  private var session: HTTP2ServerSession?
  private var responder: (any HTTP2Responder)?
  /// Requests that a fault holds up, in the order of coming.
  private var faulted: [FaultedRequest] = []
  /// When GOAWAY was said.
  private var endingSince: Instant?
  private var watch: RequestWatch?
  private var hasHeard = false
  /// The highest stream that was judged, and the highest that may be.
  private(set) var highestServed: Int32 = 0
  private var highestAllowed = Int32.max
  /// GOAWAY was said, as a fault wants it, and the connection goes on for the streams that may be judged.
  private var isLeftOpen = false
  /// Whether a fault has said how many streams its client may open; nothing else says so then.
  private(set) var hasFixedStreams = false
  /// Requests that are not answered yet.
  var openStreams: Int { session?.openStreams ?? 0 }
  private var lastHeard = Instant.distantPast

  init(
    _ service: ProviderService, _ connection: SocketConnection,
    makeResponder: @escaping (HTTP2Connection) -> any HTTP2Responder
  ) {
    (self.service, self.connection, self.makeResponder) = (service, connection, makeResponder)
  }

  func connectionOpened(_ connection: SocketConnection) {
    let responder = makeResponder(self)
    var options = service.options.http2
    options.streams = connection.streamLimit ?? responder.initialStreams
    hasFixedStreams = connection.streamLimit != nil
    options.waitsForPreface = connection.alpn == nil
    guard let session = HTTP2ServerSession(options: options) else {
      return connection.abort("no memory")
    }
    (self.session, self.responder, watch) = (session, responder, responder.watch)
    service.remember(self)
    lastHeard = SystemClock.now()
    if let rejection = responder.connectionRejection {
      // Nothing is lost at this GOAWAY: with the same certificate it can't be sent again.
      watch = nil
      session.goAway(.noError, lastStreamID: 0, debugData: ErrorBody.bytes(rejection))
      beginEnding()
    }
    writeOutput()
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    guard let session, let responder else { return }
    let now = service.clock.now()
    (lastHeard, hasHeard) = (SystemClock.now(), true)
    service.broker.noteRead(at: lastHeard)
    switch session.receive(bytes) {
    case .taken:
      answerAll(session, responder, now)
      watch?.looks(at: session)
    case .notHTTP2(let first): return refuseOtherProtocol(first, session)
    case .failed(let reason):
      // A flood of what must be acknowledged, or no memory: nothing can be said, and nobody reads.
      service.logger.log(.info, "provider connection dropped", [("because", .string(reason))])
      return connection.abort(reason)
    }
    // Some clients write fields and payload apart and wait for the first to be acknowledged (hyper, below apns2).
    if session.isAmidRequest { connection.acknowledgeReceived() }
    writeOutput()
  }

  func connectionDrained(_ connection: SocketConnection) { writeOutput() }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    service.forget(self)
    letGo()
    service.logger.log(.debug, "provider connection ended", [("because", .string(reason))])
  }

  /// GOAWAY with the reason of a server that goes (`Documentation/configuration.md#flags-of-serve`); open streams end first.
  func shutDown() { end(.shutdown) }

  /// Ends the connection if nothing was heard for longer than the operator allows.
  func endIfIdle(_ now: Instant, seconds: Int64) {
    guard now.nanoseconds(since: lastHeard) / 1_000_000_000 > seconds else { return }
    end(.idleTimeout)
  }

  private func end(_ rejection: Rejection) {
    guard let session, connection.isOpen, !isEnding else { return }
    // Nothing can be said on it.
    guard !connection.isStalled else { return connection.close() }
    endDelays()
    session.goAway(.noError, debugData: ErrorBody.bytes(rejection))
    beginEnding()
    writeOutput()
    // A client that may not speak HTTP/2 has been told nothing, and there is nothing to wait for.
    if !hasHeard { connection.close() }
  }

  private var isEnding: Bool { endingSince != nil }

  private func beginEnding() {
    guard !isEnding else { return }
    endingSince = SystemClock.now()
    watch?.saidGoAway()
  }

  /// Requests and answers that don't become whole in time; and a request that was open at the GOAWAY and never ends can't
  /// hold the connection.
  func endIfOverdue(_ now: Instant) {
    endOverdueStreams(now)
    guard let endingSince, now.nanoseconds(since: endingSince) >= service.options.goAwayTimeout,
      connection.isOpen
    else { return }
    service.logger.log(
      .info, "provider connection closed", [("because", .string("it did not end after GOAWAY"))])
    endDelays()
    writeOutput()
    connection.close()
  }

  private func endOverdueStreams(_ now: Instant) {
    guard let session, connection.isOpen, !connection.isStalled else { return }
    let overdue = session.endOverdue(now)
    if overdue.isAmidHeaders, !isEnding {
      let reason = "a header block was not complete in time"
      service.logger.log(.info, "provider connection closed", [("because", .string(reason))])
      endCalmly(session, because: reason)
    } else if overdue.streams > 0 {
      service.logger.log(
        .info, "streams reset",
        [("count", .integer(Int64(overdue.streams))), ("because", .string("not complete in time"))])
      writeOutput()
    }
  }

  /// ENHANCE_YOUR_CALM with a reason, and the end; the client is told to send again what was not judged.
  private func endCalmly(_ session: HTTP2ServerSession, because reason: String) {
    session.goAway(.enhanceYourCalm, lastStreamID: highestServed, debugData: Array(reason.utf8))
    beginEnding()
    writeOutput()
    connection.close()
  }

  /// Nobody can be told who does not read.
  func evict(_ connection: SocketConnection) {
    guard let session, hasHeard, !connection.isBlocked, !connection.isStalled else {
      return connection.abort(SocketConnection.evictedReason, reset: true)
    }
    endCalmly(session, because: SocketConnection.evictedReason)
    letGo()
    connection.hold(0)
  }

  private func letGo() {
    for request in faulted { request.giveUp(because: "the connection ended") }
    watch?.ended(session)
    (session, responder, faulted, watch) = (nil, nil, [], nil)
  }

  private func answerAll(_ session: HTTP2ServerSession, _ responder: any HTTP2Responder, _ now: Timestamp) {
    // A fault may have ended the connection, or have it stand still.
    while connection.isOpen, !connection.isStalled, let request = session.nextRequest() {
      guard request.streamID <= highestAllowed else {
        turnAway(request, session)
        continue
      }
      responder.respond(to: request, on: session, now: now)
      highestServed = max(highestServed, request.streamID)
    }
  }

  /// A fault has a request: it is answered by the fault, or never, and nothing of it is stored or delivered, unless it is only
  /// delayed, while other streams go on. `settle` does what becomes of it, and answers unless it is swallowed; `swallow` remembers
  /// that it was not taken.
  func inject(
    _ request: HTTP2Request, _ decision: FaultEngine.Decision, settle: @escaping (FaultFate) -> Void,
    swallow: @escaping (Explanation) -> Void = { _ in }
  ) {
    guard let session else { return }
    let stream = FaultedStream(request: request, session: session, owner: self, apply: settle)
    let plan = FaultPlan(decision, on: .streams)
    watch?.injected(plan, decision)
    let faulted = FaultedRequest(decision, plan, on: stream) { [unowned self] in
      swallow($0)
      turnAway(request, session)
    }
    faulted.begin(service.faults.holds, stalling: connection) { [weak self] goOn in
      // Held, as what the fault still wants may end the connection.
      let connection = self
      goOn()
      connection?.faulted.removeAll { !$0.isHeld }
      connection?.proceed()
    }
    if faulted.isHeld { self.faulted.append(faulted) }
  }

  /// What is delayed is answered now: there is no later.
  private func endDelays() { for request in faulted where request.isDelayed { request.end() } }

  /// Takes up what waited while the connection stood still, and sends what was held back.
  func proceed() {
    guard let session, let responder else { return }
    service.broker.noteRead()
    answerAll(session, responder, service.clock.now())
    writeOutput()
  }

  /// Says which streams are served, and serves no others; the connection ends after those, if the fault doesn't leave it open.
  func goAway(lastStreamID: Int32, _ goAway: FaultEffects.GoAway) {
    let body = goAway.reason.map { JSONValue.object([("reason", .string($0))]).encoded } ?? []
    session?.goAway(.noError, lastStreamID: lastStreamID, debugData: body, keepsOpen: goAway.keepsOpen)
    highestAllowed = min(highestAllowed, lastStreamID)
    isLeftOpen = goAway.keepsOpen
    watch?.saidGoAway()
    // It leaves before streams are refused one by one, so that a client sends those again elsewhere.
    if isLeftOpen { writeOutput() } else { beginEnding() }
  }

  /// Has a request not served: a GOAWAY has told so that ends the connection, else nothing has.
  func turnAway(_ request: HTTP2Request, _ session: HTTP2ServerSession) {
    if request.streamID > highestAllowed { watch?.dropped(request.message) }
    if isLeftOpen { session.reset(request, .refusedStream) } else { session.drop(request) }
  }

  /// Takes nothing of what faults hold up.
  func giveUpHeld(because reason: String) {
    for request in faulted { request.giveUp(because: reason) }
    faulted.removeAll { !$0.isHeld }
  }

  /// From now on its client may open so many streams, whatever it shows.
  func limitStreams(to limit: Int) {
    hasFixedStreams = true
    session?.setMaximumConcurrentStreams(limit)
  }

  func writeOutput() {
    guard let session, connection.isOpen else { return }
    writeFrames(of: session)
    connection.hold(session.heldBytes)
  }

  private func writeFrames(of session: HTTP2ServerSession) {
    while connection.queuedBytes < Self.outputLimit, session.sendFrame({ connection.send($0) }) != nil {}
    // The session says it of its own accord where the client breaks the rules.
    if session.isTerminated || session.sentGoAway != nil {
      if !isEnding, let violation = session.lastViolation { report(violation) }
      beginEnding()
    }
    if session.isTerminated { return terminate(session) }
    if connection.queuedBytes >= Self.outputLimit { return connection.notifyWhenDrained() }
    // Output is left where a client without ALPN has yet to send its preface: it is to read why it must go.
    if session.isFinished || isEnding && session.openStreams == 0 && !session.hasOutput { connection.close() }
  }

  /// What nghttp2 has to say is not much, and nobody waits for a client to read it.
  private func terminate(_ session: HTTP2ServerSession) {
    session.drainOutput { connection.send($0) }
    connection.inputAfterEnd = Self.inputAfterTermination
    connection.close()
  }

  private func report(_ violation: HTTP2Violation) {
    let sentence =
      "\(violation.sentence) (frame type \(violation.frameType), stream \(violation.streamID))"
    service.logger.log(.info, "provider connection refused", [("because", .string(sentence))])
  }

  /// Somebody speaks another protocol: say so in text that they can read, and where plain HTTP is understood. Who agreed
  /// on HTTP/2 by ALPN has had SETTINGS and gets the text in a GOAWAY (RFC 9113 3.4).
  private func refuseOtherProtocol(_ first: [UInt8], _ session: HTTP2ServerSession) {
    if connection.alpn == nil {
      connection.send(OtherProtocolAnswer.bytes(first))
      connection.close()
    } else {
      let text = Array(OtherProtocolAnswer.text(first).utf8)
      session.goAway(.protocolError, lastStreamID: 0, debugData: text)
      beginEnding()
      writeOutput()
    }
    let came = Hex.encode(first.prefix(OtherProtocolAnswer.shownBytes))
    service.logger.log(
      .info, "provider connection refused", [("because", .string("not HTTP/2, began with \(came)"))])
  }
}

/// What a client hears that does not speak HTTP/2: Apple's server says so in plain text with a hex dump
/// (`Documentation/provider-api.md#connection`). A client of HTTP/1 gets the same text as a proper answer, so that it
/// shows it.
private enum OtherProtocolAnswer {
  /// How much of what came is shown, in bytes.
  static let shownBytes = 24

  /// The whole answer to a client that did not agree on HTTP/2 before.
  static func bytes(_ first: [UInt8]) -> [UInt8] {
    let text = text(first)
    return Array((isHTTP1(first) ? head(text.utf8.count) : "").utf8) + Array(text.utf8)
  }

  /// The text alone.
  static func text(_ first: [UInt8]) -> String {
    "HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: "
      + Hex.encode(first.prefix(shownBytes)) + "\n"
      + "The APNs provider API speaks HTTP/2 only. For HTTP/1.1 use POST /3/device/{token} on the emulator's console.\n"
  }

  private static func head(_ length: Int) -> String {
    "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain\r\nContent-Length: \(length)\r\n"
      + "Connection: close\r\n\r\n"
  }

  /// Whether this looks like a request line: a method in capitals, then a path.
  private static func isHTTP1(_ first: [UInt8]) -> Bool {
    let method = first.prefix { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    return !method.isEmpty && first.dropFirst(method.count).starts(with: " /".utf8)
  }
}
