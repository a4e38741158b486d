import Capture
import PushModel
import Transport

/// Sends requests over one HTTP/2 connection, in order, as many at a time as the server allows. What it did not look at
/// before it went away is sent again on a new connection.
final class HTTPLane: ReplayLane, ConnectionHandler {
  /// Requests under way or waiting.
  private static let limit = 1000
  /// How often a request is sent before it counts as unanswered.
  private static let attempts = 3

  private struct Waiting {
    var tag: Int
    var identifier: UInt32?
    var recorded: CapturedOutcome
    var head: HTTP2RequestHead
    var path: [UInt8]
    var body: [UInt8]
    var attempts = 0
  }

  private let connect: (any ConnectionHandler) throws -> TLSConnection
  private let settle: (ReplayedPush) -> Void
  private let progress: () -> Void
  private let fail: (String) -> Void
  private let recordedForm: OutcomeComparison.Form
  private var session: HTTP2ClientSession?
  private var connection: TLSConnection?
  private var isOpen = false
  private var isFinishing = false
  private var underWay: [Int: Waiting] = [:]
  private var waiting: [Waiting] = []
  private var nextContext = 1
  /// Called once, when nothing is left to do after `finish`.
  var onDone: () -> Void = {}

  init(
    recordedForm: OutcomeComparison.Form, connect: @escaping (any ConnectionHandler) throws -> TLSConnection,
    settle: @escaping (ReplayedPush) -> Void, progress: @escaping () -> Void,
    fail: @escaping (String) -> Void
  ) {
    (self.recordedForm, self.connect, self.settle) = (recordedForm, connect, settle)
    (self.progress, self.fail) = (progress, fail)
  }

  var isFull: Bool { underWay.count + waiting.count >= Self.limit }
  var heldBytes: Int { 0 }

  func push(
    _ head: HTTP2RequestHead, path: [UInt8], body: [UInt8], tag: Int, identifier: UInt32?,
    recorded: CapturedOutcome
  ) {
    waiting.append(
      Waiting(tag: tag, identifier: identifier, recorded: recorded, head: head, path: path, body: body))
    if connection == nil { advance() }
  }

  func finish() {
    isFinishing = true
    advance()
  }

  func confirm() {}

  /// Sends what waits.
  func advance() {
    if !waiting.isEmpty, connection == nil { open() }
    if isOpen, let session {
      let ready = waiting
      waiting = []
      for index in ready.indices where !submit(ready[index], session) {
        waiting = Array(ready[index...])
        break
      }
      flush()
    }
    if isFinishing, waiting.isEmpty, underWay.isEmpty { end() }
  }

  private func submit(_ request: Waiting, _ session: HTTP2ClientSession) -> Bool {
    let context = nextContext
    let isTaken = request.path.withUnsafeBytes {
      session.submit(request.head, path: $0, body: request.body, context: context)
    }
    guard isTaken else { return false }
    nextContext += 1
    underWay[context] = request
    return true
  }

  private func open() {
    do {
      session = HTTP2ClientSession()
      isOpen = false
      connection = try connect(self)
    } catch {
      fail("\(error)")
    }
  }

  private func flush() {
    guard let connection, connection.isOpen else { return }
    session?.drainOutput { connection.send($0) }
  }

  private func end() {
    connection?.close()
    (connection, isOpen) = (nil, false)
    let done = onDone
    onDone = {}
    done()
  }

  // MARK: Connection

  func connectionOpened(_ connection: TLSConnection) {
    isOpen = true
    advance()
  }

  func connectionDrained(_ connection: TLSConnection) {}

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    guard let session else { return }
    if case .failed(let reason) = session.receive(bytes) { return connection.abort(reason) }
    while let event = session.nextEvent() {
      switch event {
      case .answered(let stream): answered(stream)
      case .reset(let stream, let code): ended(stream.context, "the stream was reset with \(code)")
      }
    }
    // No more requests can go this way; those that were not looked at go another.
    if session.peerGoAway != nil, session.openStreams == 0 { connection.close() }
    advance()
    progress()
  }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    guard connection === self.connection else { return }
    let wasOpen = isOpen
    let said = session?.peerGoAway.map { String(decoding: $0.debugData, as: UTF8.self) } ?? ""
    (self.connection, session, isOpen) = (nil, nil, false)
    // Another connection would be refused likewise.
    if !wasOpen || TLSRefusal(reason) != nil { return fail(reason) }
    for context in underWay.keys.sorted() { ended(context, said.isEmpty ? reason : said) }
    if !said.isEmpty, !waiting.isEmpty { sparingly(said) }
    advance()
    progress()
  }

  /// A server that turns every connection away is not asked for ever.
  private func sparingly(_ reason: String) {
    for index in waiting.indices { waiting[index].attempts += 1 }
    let refused = waiting.filter { $0.attempts >= Self.attempts }
    waiting.removeAll { $0.attempts >= Self.attempts }
    for request in refused { tell(request, nil, reason) }
  }

  // MARK: Outcomes

  private func answered(_ stream: HTTP2ClientStream) {
    guard let request = underWay.removeValue(forKey: stream.context) else { return }
    var outcome = CapturedOutcome(status: stream.status)
    outcome.messageID = stream.message[.apnsId].flatMap { MessageID($0) }
    if stream.status != 200 {
      outcome.reason = JSONReader.read(Array(stream.message.body))?.string("reason")
    }
    tell(request, outcome, "")
  }

  private func ended(_ context: Int, _ reason: String) {
    guard var request = underWay.removeValue(forKey: context) else { return }
    request.attempts += 1
    if request.attempts < Self.attempts { waiting.append(request) } else { tell(request, nil, reason) }
  }

  private func tell(_ request: Waiting, _ outcome: CapturedOutcome?, _ failure: String) {
    settle(
      ReplayedPush(
        tag: request.tag, identifier: request.identifier, recorded: request.recorded,
        recordedForm: recordedForm, outcome: outcome,
        form: .http, failure: failure))
  }
}
