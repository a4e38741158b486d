import Basics
import Console
import ConsoleAnswers
import PushModel
import Transport

/// The consoles of the other nodes of a cluster. Implemented by module `Node`.
package protocol OtherConsoles: AnyObject {
  /// The node that has a device.
  func place(of udid: UDID) -> NodePlace
  /// The node that gave a notification its id, and has it in its history; nowhere if that has ended, or never was.
  func home(of notification: UInt64) -> NodePlace
  /// Whether no zone is on its way between nodes: what each does for its own zones would miss such a one.
  var isSettled: Bool { get }
  /// The other nodes that live, by name.
  var names: [String] { get }
  /// Nodes that belong to the cluster and are missing, by name: what came in by them nobody can tell.
  var missing: [String] { get }
  /// How long who reads an answer without end may take nothing of it, in nanoseconds: the node that makes the answer is to notice
  /// first.
  var stallTime: Int64 { get }
  /// Asks a node; `reader` hears what it answers, and how that ends: also if the device that it is about, if any, gets to another node
  /// meanwhile. `timeout`: how long the node may say nothing, in nanoseconds; nil for as long as it lives.
  func ask(
    _ node: String, _ request: HTTPRequest, about device: UDID?, timeout: Int64?, _ reader: any AnswerReader
  ) -> any OpenQuestion
}

/// Which node has something.
package enum NodePlace: Equatable, Sendable {
  case here
  /// Another one, by name.
  case at(String)
  case nowhere
}

/// Hears what another node answers.
package protocol AnswerReader: AnyObject {
  /// The answer has begun: all of it but its body.
  func answered(_ head: HTTPResponse)
  /// More of the body.
  func received(_ piece: [UInt8])
  /// There is no more: it is whole, or there is a sentence why it is not. Not called for who has given up.
  func ended(_ failure: String?)
}

/// What was asked of another node, until its answer is whole.
package protocol OpenQuestion: AnyObject {
  /// While paused, nothing is read, and the node may take its time.
  func setPaused(_ isPaused: Bool)
  /// What its reader holds of the answer, in bytes.
  func hold(_ bytes: Int)
  /// Nobody waits for (more of) the answer.
  func giveUp()
}

/// A request as one node says it to another's console.
package enum RelayedRequest {
  /// Fields between two neighbours, and what the client has shown to this node alone.
  static let ownFields: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "expect", "transfer-encoding",
    "content-length", "authorization", "cookie", "proxy-authorization",
  ]

  package static func bytes(_ request: HTTPRequest) -> [UInt8] {
    let fields = request.fields.filter { !ownFields.contains($0.name.lowercased()) }
    return HTTPFraming.request(
      request.method, request.path + query(request), fields + [HTTPField("Connection", "close")],
      body: request.body)
  }

  private static func query(_ request: HTTPRequest) -> String {
    let items = request.query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
    return items.isEmpty ? "" : "?" + items.joined(separator: "&")
  }
}

/// Passes another node's answer on as it comes.
final class PassedAnswer: AnswerReader {
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

  private let node: String
  private let exchange: HTTPExchange
  /// How long the client may take nothing of it; nil for an answer that has an end.
  private let stallTime: Int64?
  private weak var question: (any OpenQuestion)?
  private var answer = Answer.nothing

  init(_ node: String, to exchange: HTTPExchange, stallTime: Int64? = nil) {
    (self.node, self.exchange, self.stallTime) = (node, exchange, stallTime)
  }

  func ask(_ others: any OtherConsoles, about device: UDID?) {
    let question = others.ask(node, exchange.request, about: device, timeout: nil, self)
    guard exchange.isOpen else { return }
    self.question = question
    exchange.whenGone { [weak question] in question?.giveUp() }
  }

  func answered(_ head: HTTPResponse) {
    let length = head.field("content-length").flatMap { Int($0) }
    var head = head
    head.fields.removeAll { RelayedRequest.ownFields.contains($0.name.lowercased()) }
    if let length, length <= Self.wholeLimit {
      answer = .whole(head)
    } else {
      answer = .stream
      exchange.whenRead { [weak question] in question?.setPaused(false) }
      exchange.startStream(head)
      if let stallTime, head.status == 200 { exchange.connection?.stand(stallTime: stallTime) }
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
    exchange.stopWaiting()
    switch (answer, failure) {
    case (.stream, nil): exchange.endStream()
    case (.stream, _): exchange.end(by: .reset)
    case (.whole(let response), nil): exchange.respond(response)
    case (_, let failure):
      guard let failure else { return }
      exchange.answer(
        ConsoleError.busy("the node \(node), which is responsible, did not answer: \(failure)").response)
    }
  }
}
