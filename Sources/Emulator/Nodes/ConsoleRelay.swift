import Cluster
import Console
import PushModel
import Runtime
import Transport
import Zones

/// Has other nodes' consoles answer what is asked of this one, or of all.
final class ConsoleRelay: OtherConsoles {
  /// How long a client may take nothing of an answer without end, in nanoseconds: the node that makes the answer is to notice
  /// first. Variable so that a test need not wait for it.
  var timeout: Int64 = 15_000_000_000
  private let cluster: any ClusterView
  private let caller: NodeCaller
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
    pass(exchange, of: zone, to: peer, timeout: endless ? timeout : nil, refuse)
  }

  func pass(
    _ exchange: HTTPExchange, to node: String, refuse: @escaping (_ sentence: String) -> HTTPResponse
  ) {
    guard let peer = peer(node) else { return exchange.respond(refuse(Self.isGone(node))) }
    pass(exchange, of: nil, to: peer, timeout: nil, refuse)
  }

  private func pass(
    _ exchange: HTTPExchange, of zone: ZoneNumber?, to peer: NodePeer, timeout: Int64?,
    _ refuse: @escaping (String) -> HTTPResponse
  ) {
    count += 1
    let answer = PassedAnswer(exchange, timeout: timeout) {
      refuse("the node \(peer.name), whose it is to answer, did not: \($0)")
    }
    let question = question(exchange.request, of: zone, timeout: nil, answer)
    answer.begin(question)
    question.begin(peer, caller)
  }

  var isSettled: Bool { cluster.isSettled }

  func spread(
    _ request: HTTPRequest, timeout: Int64?, done: @escaping (_ answers: [OtherAnswer]) -> Void
  ) {
    let nodes = names
    guard !nodes.isEmpty else { return done([]) }
    var answers: [OtherAnswer] = []
    for node in nodes {
      let answer = WholeAnswer(node) {
        answers.append($0)
        if answers.count == nodes.count { done(answers) }
      }
      _ = ask(node, request, timeout: timeout, answer)
    }
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
  {
    let question = question(request, of: nil, timeout: timeout, reader)
    if let peer = peer(node) { question.begin(peer, caller) } else { question.lose(Self.isGone(node)) }
    return question
  }

  private func question(
    _ request: HTTPRequest, of zone: ZoneNumber?, timeout: Int64?, _ reader: any AnswerReader
  ) -> AskedConsole {
    let question = AskedConsole(request, of: zone, reader, caller.loop, timeout: timeout)
    asked[ObjectIdentifier(question)] = question
    question.onOver = { [weak self] in self?.asked[ObjectIdentifier($0)] = nil }
    return question
  }

  private func peer(_ name: String) -> NodePeer? { cluster.peers.first { $0.name == name } }
  private static func isGone(_ node: String) -> String { "the node \(node) is gone" }

  /// Seats have changed: who was asked may not own the zone any more.
  func seatsChanged(_ hasMoved: (ZoneNumber, _ from: ZoneSeat) -> Bool) {
    for question in Array(asked.values) {
      guard let zone = question.zone, let peer = question.peer, hasMoved(zone, .at(peer)) else { continue }
      question.lose("the zone has moved to another node")
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

/// Passes another node's answer on as it comes.
private final class PassedAnswer: AnswerReader {
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

  private let exchange: HTTPExchange
  /// nil for an answer that has an end.
  private let timeout: Int64?
  /// The answer of a sentence that says why there is none.
  private let refuse: (String) -> HTTPResponse
  private weak var question: AskedConsole?
  private var answer = Answer.nothing

  init(_ exchange: HTTPExchange, timeout: Int64?, refuse: @escaping (String) -> HTTPResponse) {
    (self.exchange, self.timeout, self.refuse) = (exchange, timeout, refuse)
  }

  func begin(_ question: AskedConsole) {
    self.question = question
    exchange.onGone = { [weak question] in question?.giveUp() }
  }

  func answered(_ head: HTTPResponse) {
    let length = head.field("content-length").flatMap { Int($0) }
    var head = head
    head.fields.removeAll { RelayedRequest.ownFields.contains($0.name.lowercased()) }
    if let length, length <= Self.wholeLimit {
      answer = .whole(head)
    } else {
      answer = .stream
      exchange.onRoom = { [weak question] in question?.setPaused(false) }
      exchange.startStream(head)
      if let timeout, head.status == 200 { exchange.connection?.stand(stallTime: timeout) }
    }
  }

  func received(_ piece: [UInt8]) {
    switch answer {
    case .nothing: break
    case .whole(var response):
      answer = .nothing
      response.body += piece
      answer = .whole(response)
    case .stream:
      exchange.send(piece)
      if exchange.queuedBytes > Self.backlog { question?.setPaused(true) }
    }
  }

  func ended(_ failure: String?) {
    (exchange.onGone, exchange.onRoom) = (nil, nil)
    switch (answer, failure) {
    case (.stream, nil): exchange.endStream()
    case (.stream, _): exchange.end(by: .reset)
    case (.whole(let response), nil): exchange.respond(response)
    case (_, let failure): if let failure { exchange.respond(refuse(failure)) }
    }
  }
}

/// The answer of one node, put together.
private final class WholeAnswer: AnswerReader {
  /// Most of an answer that is kept, in bytes; none is as long.
  private static let limit = 64 << 10

  private let node: String
  private let done: (OtherAnswer) -> Void
  private var status = 0
  private var body: [UInt8] = []

  init(_ node: String, done: @escaping (OtherAnswer) -> Void) { (self.node, self.done) = (node, done) }

  func answered(_ head: HTTPResponse) { status = head.status }

  func received(_ piece: [UInt8]) { body += piece.prefix(Self.limit - body.count) }

  func ended(_ failure: String?) {
    let refusal = status == 200 ? nil : "it answers \(status) \(String(decoding: body, as: UTF8.self))"
    done(OtherAnswer(body: body, failure: (failure ?? refusal).map { "\(node): \($0)" }))
  }
}
