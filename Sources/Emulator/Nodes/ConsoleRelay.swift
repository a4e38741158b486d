import Cluster
import Console
import Platform
import PushModel
import Transport
import Zones

/// Has another node's console answer what is asked of this one, and passes the answer back as it comes.
final class ConsoleRelay: OtherConsoles {
  /// How long a client may take nothing of an answer without end, in nanoseconds: the node that makes the answer is to notice
  /// first. Variable so that a test need not wait for it.
  var timeout: Int64 = 15_000_000_000
  private let cluster: any ClusterView
  private let caller: NodeCaller
  private var passed: [ObjectIdentifier: PassedRequest] = [:]
  private var spread: [ObjectIdentifier: SpreadRequest] = [:]
  private var asked: [ObjectIdentifier: AskedConsole] = [:]
  private(set) var count = 0

  init(cluster: any ClusterView, caller: NodeCaller) { (self.cluster, self.caller) = (cluster, caller) }

  func place(of udid: UDID) -> ConsolePlace {
    switch cluster.seat(of: cluster.zone(of: udid)) {
    case .here: .here
    case .at: .elsewhere
    case .nowhere: .nowhere
    }
  }

  func pass(
    _ exchange: HTTPExchange, for udid: UDID, endless: Bool,
    refuse: @escaping (_ sentence: String) -> HTTPResponse
  ) {
    let zone = cluster.zone(of: udid)
    guard case .at(let peer) = cluster.seat(of: zone) else {
      return exchange.respond(refuse("the zone of \(udid.text) has just moved"))
    }
    begin(PassedRequest(exchange, zone, peer, timeout: endless ? timeout : nil, refuse: refuse))
  }

  func pass(
    _ exchange: HTTPExchange, to node: String, refuse: @escaping (_ sentence: String) -> HTTPResponse
  ) {
    guard let peer = peer(node) else { return exchange.respond(refuse(Self.isGone(node))) }
    begin(PassedRequest(exchange, nil, peer, timeout: nil, refuse: refuse))
  }

  private func begin(_ request: PassedRequest) {
    passed[ObjectIdentifier(request)] = request
    count += 1
    request.onOver = { [weak self] in self?.passed[ObjectIdentifier($0)] = nil }
    request.begin(caller)
  }

  var isSettled: Bool { cluster.isSettled }

  func spread(
    _ request: HTTPRequest, timeout: Int64?, done: @escaping (_ answers: [OtherAnswer]) -> Void
  ) {
    let spreading = SpreadRequest(request, names) { [weak self] spreading, answers in
      self?.spread[ObjectIdentifier(spreading)] = nil
      done(answers)
    }
    spread[ObjectIdentifier(spreading)] = spreading
    spreading.begin { _ = begin($0, $1, timeout: timeout, $2) }
  }

  var names: [String] { cluster.peers.map(\.name).filter { !cluster.hasLeft($0) } }

  var missing: [String] { cluster.missing }

  func home(of notification: UInt64) -> NotificationHome {
    let ordinal = ClusterMembership.ordinal(of: notification)
    if ordinal == cluster.ordinal { return .here }
    return cluster.peers.first { $0.ordinal == ordinal }.map { .at($0.name) } ?? .gone
  }

  func ask(_ node: String, _ request: HTTPRequest, timeout: Int64?, _ reader: any AnswerReader)
    -> any OpenQuestion
  { begin(node, request, timeout: timeout, reader) }

  private func begin(
    _ node: String, _ request: HTTPRequest, timeout: Int64?, _ reader: any AnswerReader
  ) -> AskedConsole {
    let question = AskedConsole(request, reader, caller.loop, timeout: timeout)
    asked[ObjectIdentifier(question)] = question
    question.onOver = { [weak self] in self?.asked[ObjectIdentifier($0)] = nil }
    if let peer = peer(node) { question.begin(peer, caller) } else { question.lose(Self.isGone(node)) }
    return question
  }

  private func peer(_ name: String) -> NodePeer? { cluster.peers.first { $0.name == name } }
  private static func isGone(_ node: String) -> String { "the node \(node) is gone" }

  /// Seats have changed: who was asked may not own the zone any more.
  func seatsChanged(_ hasMoved: (ZoneNumber, _ from: ZoneSeat) -> Bool) {
    for request in Array(passed.values) {
      guard let zone = request.zone, hasMoved(zone, .at(request.peer)) else { continue }
      request.lose("the zone has moved to another node")
    }
  }

  var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_relayed_requests_total", .counter,
        "Requests to the console that another node was asked to answer.", value: count)
    ]
  }
}

/// One request that another node answers.
///
///     calling ─→ asked ─ head ─→ answering ─ end ─→ over
///        └──────────┴──────────────┴─ the client is gone, or the node ─→ over
private final class PassedRequest: ConnectionHandler {
  /// Of an answer whose length is said, in bytes: as much is kept until it is whole, so that it is passed on with its length.
  private static let wholeLimit = 256 << 10
  /// What may wait for a client before its node is not read from any more, in bytes.
  private static let backlog = 64 << 10
  private enum Answer {
    case nothing
    /// Kept until it is whole.
    case whole(HTTPResponse)
    case stream
  }

  /// Of the device that it is about; nil for what is the node's own.
  let zone: ZoneNumber?
  let peer: NodePeer
  var onOver: ((PassedRequest) -> Void)?
  private let exchange: HTTPExchange
  /// nil for an answer that has an end.
  private let timeout: Int64?
  private let refuse: (String) -> HTTPResponse
  private var parser: HTTPResponseParser
  private var giveUp: (() -> Void)?
  private var connection: SocketConnection?
  private var answer = Answer.nothing

  init(
    _ exchange: HTTPExchange, _ zone: ZoneNumber?, _ peer: NodePeer, timeout: Int64?,
    refuse: @escaping (String) -> HTTPResponse
  ) {
    (self.exchange, self.zone, self.peer) = (exchange, zone, peer)
    (self.timeout, self.refuse) = (timeout, refuse)
    var limits = HTTPLimits()
    limits.body = .max
    parser = HTTPResponseParser(limits: limits, isAnswerToHead: exchange.request.method == "HEAD")
  }

  func begin(_ caller: NodeCaller) {
    exchange.onGone = { [weak self] in self?.end() }
    var isOver = false
    let giveUp = caller.call(peer, for: .console) { [weak self] result in
      isOver = true
      self?.giveUp = nil
      switch result {
      case .success(let connection): self?.ask(connection)
      case .failure(let failure): self?.lose(failure.sentence)
      }
    }
    if !isOver { self.giveUp = giveUp }
  }

  private func ask(_ connection: SocketConnection) {
    self.connection = connection
    connection.handler = self
    connection.send(RelayedRequest.bytes(exchange.request))
  }

  // MARK: The answer

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    parser.receive(bytes)
    do {
      while self.connection != nil, let event = try parser.next() {
        switch event {
        case .head(let head): beginAnswer(head)
        case .piece(let piece): pass(piece)
        case .end: finish()
        }
      }
    } catch { lose("a bad answer: \(error)") }
  }

  private func beginAnswer(_ head: HTTPResponse) {
    let length = head.field("content-length").flatMap { Int($0) }
    var head = head
    head.fields.removeAll { RelayedRequest.ownFields.contains($0.name.lowercased()) }
    if let length, length <= Self.wholeLimit {
      answer = .whole(head)
    } else {
      answer = .stream
      exchange.onRoom = { [weak self] in self?.connection?.setPaused(false) }
      exchange.startStream(head)
      if let timeout, head.status == 200 { exchange.connection?.stand(stallTime: timeout) }
    }
  }

  private func pass(_ piece: [UInt8]) {
    switch answer {
    case .nothing: break
    case .whole(var response):
      answer = .nothing
      response.body += piece
      answer = .whole(response)
    case .stream:
      exchange.send(piece)
      if exchange.queuedBytes > Self.backlog { connection?.setPaused(true) }
    }
  }

  private func finish() {
    switch answer {
    case .nothing: break
    case .whole(let response): exchange.respond(response)
    case .stream: exchange.endStream()
    }
    end()
  }

  // MARK: Ending

  /// The node does not answer, or not to the end.
  func lose(_ reason: String) {
    switch answer {
    case .nothing, .whole:
      exchange.respond(refuse("the node \(peer.name), whose it is to answer, did not: \(reason)"))
    case .stream: exchange.end(by: .reset)
    }
    end()
  }

  private func end() {
    let (call, connection) = (giveUp, connection)
    (giveUp, self.connection, exchange.onGone, exchange.onRoom) = (nil, nil, nil, nil)
    call?()
    connection?.abort("over", reset: true)
    let over = onOver
    onOver = nil
    over?(self)
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    lose("its connection was lost, and what it has done is not known")
  }
}

/// A request as one node says it to another's console.
enum RelayedRequest {
  /// Fields between two neighbours, and what the client has shown to this node alone.
  static let ownFields: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "expect", "transfer-encoding",
    "content-length", "authorization", "cookie", "proxy-authorization",
  ]

  /// As one node asks another.
  static func bytes(_ request: HTTPRequest) -> [UInt8] {
    var text = "\(request.method) \(request.path)\(query(request)) HTTP/1.1\r\n"
    for field in request.fields where !ownFields.contains(field.name.lowercased()) {
      text += "\(field.name): \(field.value)\r\n"
    }
    return Array((text + "Content-Length: \(request.body.count)\r\nConnection: close\r\n\r\n").utf8)
      + request.body
  }

  private static func query(_ request: HTTPRequest) -> String {
    let items = request.query.map { "\(escaped($0.name))=\(escaped($0.value))" }
    return items.isEmpty ? "" : "?" + items.joined(separator: "&")
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%" + Hex.encode([byte])
      }
    }
  }
}
