import Basics
import Capture
import Platform
import PushModel
import Transport

/// Sends requests over one HTTP/2 connection, in order, as many at a time as the server allows. What it did not look at
/// before it went away is sent again on a new connection.
final class HTTPLane: ReplayLane, HTTP2ClientOwner {
  /// Requests under way or waiting.
  private static let limit = 1000
  /// How often a request is sent before it counts as unanswered.
  private static let attempts = 3

  private struct Waiting {
    var tag: Int
    var identifier: UInt32?
    var recorded: CapturedOutcome
    var head: HTTP2RequestHead
    var path: String
    var body: [UInt8]
    var attempts = 0
  }

  let address: SocketAddress
  private let connect: (any HTTP2ClientOwner) throws -> HTTP2ClientConnection
  /// It ends after its lanes.
  private unowned let owner: any LaneOwner
  private let recordedForm: OutcomeComparison.Form
  private var connection: HTTP2ClientConnection?
  private var isFinishing = false
  private var underWay: [Int: Waiting] = [:]
  private var waiting: [Waiting] = []
  private var nextContext = 1
  private var hasEnded = false

  init(
    of owner: any LaneOwner, to address: SocketAddress, recordedForm: OutcomeComparison.Form,
    connect: @escaping (any HTTP2ClientOwner) throws -> HTTP2ClientConnection
  ) {
    (self.owner, self.address, self.recordedForm, self.connect) = (owner, address, recordedForm, connect)
  }

  var isFull: Bool { underWay.count + waiting.count >= Self.limit }
  var heldBytes: Int { 0 }

  func push(
    _ head: HTTP2RequestHead, path: String, body: [UInt8], tag: Int, identifier: UInt32?,
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
    if let connection, connection.isOpen {
      let ready = waiting
      waiting = []
      for index in ready.indices where !send(ready[index], connection) {
        waiting = Array(ready[index...])
        break
      }
      connection.flush()
    }
    if isFinishing, waiting.isEmpty, underWay.isEmpty { end() }
  }

  private func send(_ request: Waiting, _ connection: HTTP2ClientConnection) -> Bool {
    let context = nextContext
    guard connection.send(request.head, path: request.path, body: request.body, context: context) else {
      return false
    }
    nextContext += 1
    underWay[context] = request
    return true
  }

  private func open() {
    do {
      connection = try connect(self)
    } catch {
      owner.failed(self, "\(error)")
    }
  }

  private func end() {
    let ended = connection
    // Before the close, which may tell of the end at once.
    connection = nil
    ended?.close()
    guard !hasEnded else { return }
    hasEnded = true
    owner.ended(self)
  }

  // MARK: Connection

  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome) {
    switch outcome {
    case .answered(let stream): answered(stream)
    case .refused(let reason), .lost(let reason):
      ended(context, (connection.isClosed ? connection.farewell : nil) ?? reason)
    }
  }

  func connectionAdvanced(_ connection: HTTP2ClientConnection) {
    advance()
    owner.progressed()
  }

  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) {
    guard connection === self.connection else { return }
    self.connection = nil
    // Another connection would be refused likewise.
    if !connection.wasOpened || TLSRefusal(reason) != nil { return owner.failed(self, reason) }
    if let farewell = connection.farewell, !waiting.isEmpty { sparingly(farewell) }
    advance()
    owner.progressed()
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
    let message = stream.message
    var outcome = CapturedOutcome(status: stream.status)
    outcome.apnsID = message[.apnsId].flatMap { APNSID($0) }
    if stream.status != 200 {
      outcome.reason = JSONReader.read(Array(message.body))?.string("reason")
    }
    tell(request, outcome, "")
  }

  private func ended(_ context: Int, _ reason: String) {
    guard var request = underWay.removeValue(forKey: context) else { return }
    request.attempts += 1
    if request.attempts < Self.attempts { waiting.append(request) } else { tell(request, nil, reason) }
  }

  private func tell(_ request: Waiting, _ outcome: CapturedOutcome?, _ failure: String) {
    owner.settled(
      ReplayedPush(
        tag: request.tag, identifier: request.identifier, recorded: request.recorded,
        recordedForm: recordedForm, outcome: outcome,
        form: .http, failure: failure))
  }
}

extension HTTP2ClientConnection {
  /// What the server's GOAWAY says; nil if there is none, or it says nothing.
  fileprivate var farewell: String? {
    goAway.flatMap { $0.debugData.isEmpty ? nil : String(decoding: $0.debugData, as: UTF8.self) }
  }
}
