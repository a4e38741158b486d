import Platform
import PushModel
import Transport

/// What happened to requests on a connection to the other service.
protocol UpstreamObserver: AnyObject {
  /// SETTINGS are here, or there is room again: requests may be sent.
  func upstreamHasRoom()
  func upstream(answered id: UInt64, status: Int, body: [UInt8])
  /// The request was certainly not processed.
  func upstream(refused id: UInt64)
  /// Nobody can say whether the request was processed.
  func upstream(lost id: UInt64, reason: String)
  /// The connection takes no more requests: it is closed, or will be once those on it are done.
  func upstreamEnded(_ connection: UpstreamConnection, reason: String)
  /// The connection that had been leaving is closed.
  func upstreamClosed(_ connection: UpstreamConnection)
}

/// One HTTP/2 connection to the other service.
///
///     connecting ─ TLS, SETTINGS ─→ ready ─ GOAWAY ─→ leaving ─ last answer ─→ ended
///         └──────────── refused, lost, silent for too long ──────────────────────↑
final class UpstreamConnection: ConnectionHandler {
  /// Most requests at a time, as a count: what Apple grants (`Documentation/provider-api.md#settings`), even where the
  /// peer names no limit.
  static let streamLimit = 1000
  /// How long a request may go without any sign of life on the connection, in nanoseconds. Apple answers within a second;
  /// a dead connection would otherwise hold its requests for a quarter of an hour of TCP retransmissions.
  static let patience: Int64 = 30_000_000_000

  private enum State { case connecting, ready, leaving, ended }

  private let session: HTTP2ClientSession
  private weak var observer: (any UpstreamObserver)?
  private var connection: TLSConnection?
  private var state = State.connecting
  /// When something came, or the first request went out after a rest; monotonic nanoseconds.
  private var lastSign: Int64 = 0
  /// Requests that were answered, as a count.
  private(set) var answers = 0
  /// Whether it could take requests.
  private(set) var wasReady = false
  /// Whether TLS came up.
  private(set) var wasOpened = false
  /// Why the peer's certificate was refused, if it was.
  private(set) var certificateProblem: String?

  init?(observer: any UpstreamObserver) {
    guard let session = HTTP2ClientSession() else { return nil }
    (self.session, self.observer) = (session, observer)
  }

  /// Begins to connect; throws if the system refuses at once.
  func connect(_ loop: EventLoop, to address: SocketAddress, serverName: String, context: TLSContext) throws {
    connection = try TLSClient.connect(
      loop: loop, to: address, serverName: serverName, alpn: ["h2"], context: context, handler: self)
  }

  /// How many requests it takes now.
  var room: Int {
    guard state == .ready, session.peerGoAway == nil else { return 0 }
    return max(0, min(Self.streamLimit, session.peerMaximumConcurrentStreams) - session.openStreams)
  }

  var isReady: Bool { state == .ready }
  var isLeaving: Bool { state == .leaving }
  var openStreams: Int { session.openStreams }
  /// The reason in the peer's GOAWAY, nil if it gave none.
  var goAwayReason: String? {
    session.peerGoAway.flatMap { JSONReader.read($0.debugData)?.string("reason") }
  }

  /// Sends a request; false if the session takes no more.
  func send(_ push: ForwardPush, head: HTTP2RequestHead) -> Bool {
    if session.openStreams == 0 { lastSign = SystemClock.monotonicNanoseconds() }
    return session.submit(
      head, path: push.path, body: push.payload, context: Int(truncatingIfNeeded: push.id))
  }

  /// Hands what was submitted to the connection.
  func flush() {
    guard let connection, connection.isOpen else { return }
    session.drainOutput { connection.send($0) }
  }

  /// Gives up on a peer that owes answers and shows no sign of life.
  func checkPatience(now: Int64) {
    guard session.openStreams > 0, now - lastSign > Self.patience else { return }
    connection?.abort("no answer within \(Self.patience / 1_000_000_000) seconds")
  }

  /// Gives up on one request, if it is on this connection.
  func cancel(_ id: UInt64) {
    guard let stream = session.liveStreams.first(where: { UInt64($0.context) == id }) else { return }
    session.reset(stream, .cancel)
    flush()
    tellEvents()
  }

  /// Takes no more requests, and closes when those on it are done.
  func leave() {
    state = .leaving
    if session.openStreams == 0 { close() }
  }

  func close() {
    session.goAway()
    flush()
    connection?.close()
  }

  // MARK: What the connection tells

  func connectionOpened(_ connection: TLSConnection) {
    wasOpened = true
    lastSign = SystemClock.monotonicNanoseconds()
    flush()
  }

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    lastSign = SystemClock.monotonicNanoseconds()
    let status = session.receive(bytes)
    tellEvents()
    if case .failed(let reason) = status { return connection.abort("HTTP/2: \(reason)") }
    noteProgress()
    flush()
    if state == .leaving, session.openStreams == 0 { connection.close() }
  }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    certificateProblem = wasOpened ? nil : connection.peerCertificateProblem
    let orphans = session.liveStreams.map { ($0.status, UInt64($0.context)) }
    let wasLeaving = state == .leaving
    state = .ended
    self.connection = nil
    for (status, id) in orphans { settleOrphan(id, status: status, reason: reason) }
    guard !wasLeaving else { observer?.upstreamClosed(self); return }
    observer?.upstreamEnded(self, reason: reason)
  }

  private func tellEvents() {
    while let event = session.nextEvent() {
      switch event {
      case .answered(let stream):
        answers += 1
        observer?.upstream(
          answered: UInt64(stream.context), status: stream.status, body: Array(stream.message.body))
      case .reset(let stream, .refusedStream): observer?.upstream(refused: UInt64(stream.context))
      case .reset(let stream, let code):
        observer?.upstream(
          lost: UInt64(stream.context), reason: "the stream was reset with \(code)")
      }
    }
  }

  /// SETTINGS make it ready; a GOAWAY makes it leave.
  private func noteProgress() {
    if session.peerGoAway != nil, state == .connecting || state == .ready {
      state = .leaving
      observer?.upstreamEnded(self, reason: goAwayReason.map { "GOAWAY \($0)" } ?? "GOAWAY")
    } else if state == .connecting, session.peerSettingsFrames > 0 {
      (state, wasReady) = (.ready, true)
    }
    if room > 0 { observer?.upstreamHasRoom() }
  }

  /// A header that says 200 is an answer, whatever has become of what should follow; any other says that the notification
  /// was not taken. Without one nobody knows.
  private func settleOrphan(_ id: UInt64, status: Int, reason: String) {
    switch status {
    case 0: observer?.upstream(lost: id, reason: reason)
    case 200: observer?.upstream(answered: id, status: status, body: [])
    default: observer?.upstream(refused: id)
    }
  }
}
