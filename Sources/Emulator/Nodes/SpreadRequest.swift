import Cluster
import PushModel
import Transport

/// A request that every other node is asked to carry out, one answer from each.
final class SpreadRequest {
  /// Largest answer that is read, in bytes.
  private static let answerLimit = 64 << 10

  private let request: HTTPRequest
  private let peers: [NodePeer]
  private let done: (SpreadRequest, [String]) -> Void
  private var asked: [AskedNode] = []
  private var waiting: Int
  private var failures: [String] = []

  /// `done` is called once, with a sentence for each node that has not carried it out.
  init(_ request: HTTPRequest, _ peers: [NodePeer], done: @escaping (SpreadRequest, [String]) -> Void) {
    (self.request, self.peers, self.done) = (request, peers, done)
    waiting = peers.count
  }

  func begin(_ caller: NodeCaller) {
    guard !peers.isEmpty else { return done(self, []) }
    let bytes = RelayedRequest.bytes(request)
    asked = peers.map { _ in AskedNode(limit: Self.answerLimit) }
    for (peer, node) in zip(peers, asked) {
      node.done = { [weak self] in self?.answered(peer, $0) }
      _ = caller.call(peer, for: .console) { [weak node] in
        switch $0 {
        case .success(let connection): node?.ask(connection, bytes)
        case .failure(let failure): node?.finish(failure.sentence)
        }
      }
    }
  }

  private func answered(_ peer: NodePeer, _ failure: String?) {
    if let failure { failures.append("\(peer.name): \(failure)") }
    waiting -= 1
    if waiting == 0 { done(self, failures.sorted()) }
  }
}

/// One node that is asked.
private final class AskedNode: ConnectionHandler {
  /// Called once, with a sentence if the node has not done it.
  var done: ((String?) -> Void)?
  private var parser: HTTPResponseParser
  private var connection: SocketConnection?
  private var status = 0
  private var body: [UInt8] = []

  init(limit: Int) {
    var limits = HTTPLimits()
    limits.body = limit
    parser = HTTPResponseParser(limits: limits, isAnswerToHead: false)
  }

  func ask(_ connection: SocketConnection, _ bytes: [UInt8]) {
    self.connection = connection
    connection.handler = self
    connection.send(bytes)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    parser.receive(bytes)
    do {
      while let event = try parser.next() {
        switch event {
        case .head(let head): status = head.status
        case .piece(let piece): body += piece
        case .end:
          return finish(status == 200 ? nil : "it answers \(status) \(String(decoding: body, as: UTF8.self))")
        }
      }
    } catch { finish("a bad answer: \(error)") }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    finish("its connection was lost, and what it has done is not known")
  }

  func finish(_ failure: String?) {
    let (tell, connection) = (done, connection)
    (done, self.connection) = (nil, nil)
    connection?.abort("over", reset: true)
    tell?(failure)
  }
}
