import Advice
import Basics
import Console
import Transport

/// What all nodes have to say of providers, as one list: each knows what has come in by it. A node that says nothing in time is left out
/// and named.
final class MergedAdvice {
  /// A finding as a node tells it, and where it belongs in the list.
  private struct Entry {
    let document: JSONValue
    let severity: Severity
    let count: Int64

    init?(_ document: JSONValue) {
      guard let severity = document.string("severity").flatMap(Severity.init(rawValue:)),
        case .integer(let count)? = document.member("count")
      else { return nil }
      (self.document, self.severity, self.count) = (document, severity, count)
    }

    static func isBefore(_ left: Entry, _ right: Entry) -> Bool {
      left.severity == right.severity ? left.count > right.count : left.severity > right.severity
    }
  }

  /// Nodes that are left out.
  private var missing: Set<String>
  private var answers: [NodeAnswer] = []
  private var entries: [Entry] = []
  /// Pushes that all have looked at.
  private var pushes: Int64 = 0
  private var isAsking = true
  private var answer: ((HTTPResponse) -> Void)?

  /// `own`: what this node answers; `missing`: nodes that are known not to answer.
  init(_ own: JSONValue, missing: [String], answer: @escaping (HTTPResponse) -> Void) {
    (self.missing, self.answer) = (Set(missing), answer)
    if case .array(let findings)? = own.member("findings") { entries = findings.compactMap(Entry.init) }
    _ = add(pushesOf: own)
  }

  /// Asks the others, and answers when all have.
  func ask(_ names: [String], _ others: any OtherConsoles, _ request: HTTPRequest, timeout: Int64) {
    for name in names {
      let answer = NodeAnswer(name, .list) { [self] in read($0) }
      answers.append(answer)
      answer.ask(others, request, timeout: timeout)
    }
    isAsking = false
    conclude()
  }

  /// Nobody wants it any more.
  func stop() {
    answer = nil
    for answer in answers { answer.stop() }
  }

  private func read(_ answer: NodeAnswer) {
    while let element = answer.take() {
      if let entry = JSONReader.read(element.bytes).flatMap(Entry.init) { entries.append(entry) }
    }
    guard answer.isOver else { return }
    if !answer.hasEnded || !add(pushesOf: JSONReader.read(answer.rest)) { missing.insert(answer.node) }
    conclude()
  }

  /// False for what is no answer.
  private func add(pushesOf document: JSONValue?) -> Bool {
    guard case .integer(let count)? = document?.member("notifications"), count >= 0 else { return false }
    pushes = pushes.addingReportingOverflow(count).overflow ? .max : pushes + count
    return true
  }

  private func conclude() {
    guard !isAsking, answers.allSatisfy(\.isOver), let answer else { return }
    self.answer = nil
    let counts = [Severity.error, .warning, .note].map { severity in
      (severity.rawValue, JSONValue.integer(Int64(entries.count { $0.severity == severity })))
    }
    answer(
      HTTPResponse(
        json: .object([
          ("findings", .array(entries.sorted(by: Entry.isBefore).map(\.document))),
          ("notifications", .integer(pushes)), ("counts", .object(counts)),
          ("missing", .array(missing.sorted().map(JSONValue.string))),
        ])))
    answers = []
  }
}
