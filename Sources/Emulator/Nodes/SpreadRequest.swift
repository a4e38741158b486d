import Console
import Transport

/// A request that every other node is asked to carry out, one answer from each.
final class SpreadRequest {
  private let request: HTTPRequest
  private let nodes: [String]
  private let done: (SpreadRequest, [OtherAnswer]) -> Void
  private var answers: [OtherAnswer] = []

  /// `done` is called once, when each node has answered, or will not.
  init(
    _ request: HTTPRequest, _ nodes: [String],
    done: @escaping (_ spreading: SpreadRequest, _ answers: [OtherAnswer]) -> Void
  ) { (self.request, self.nodes, self.done) = (request, nodes, done) }

  /// Whoever asks a node keeps the reader.
  func begin(_ ask: (_ node: String, HTTPRequest, any AnswerReader) -> Void) {
    guard !nodes.isEmpty else { return done(self, []) }
    for node in nodes { ask(node, request, WholeAnswer(node) { [weak self] in self?.take($0) }) }
  }

  private func take(_ answer: OtherAnswer) {
    answers.append(answer)
    if answers.count == nodes.count { done(self, answers) }
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

  func answered(status: Int) { self.status = status }

  func received(_ piece: [UInt8]) { body += piece.prefix(Self.limit - body.count) }

  func ended(_ failure: String?) {
    let refusal = status == 200 ? nil : "it answers \(status) \(String(decoding: body, as: UTF8.self))"
    done(OtherAnswer(body: body, failure: (failure ?? refusal).map { "\(node): \($0)" }))
  }
}
