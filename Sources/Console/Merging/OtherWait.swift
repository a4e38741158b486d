import PushModel
import Transport

/// What one other node finds for a wait, as it finds it (`FoundStream`).
final class OtherWait: AnswerReader {
  /// Told when it has found something, or will not find more.
  var onNews: () -> Void = {}
  /// What it has found so far, never more than was asked for.
  private(set) var found: [HistoryMark] = []
  /// Its near misses, when its time was over.
  private(set) var misses: [[UInt8]] = []
  /// It has begun to answer.
  private(set) var hasBegun = false
  /// It has said all that it has to say.
  private(set) var hasEnded = false
  /// It has not answered, or not to the end.
  private(set) var hasFailed = false
  private var elements = ListElements()
  private var question: (any OpenQuestion)?
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func ask(_ node: String, _ others: any OtherConsoles, _ request: HTTPRequest) {
    question = others.ask(node, request, timeout: nil, self)
    if hasFailed || hasEnded { question = nil }
  }

  /// Nobody wants more; a node that was still to answer has not.
  func giveUp() {
    if !hasEnded { hasFailed = true }
    question?.giveUp()
    question = nil
  }

  func answered(_ head: HTTPResponse) { if head.status == 200 { hasBegun = true } else { giveUp() } }

  func received(_ piece: [UInt8]) {
    guard !hasFailed else { return }
    elements.receive(piece)
    for bytes in elements.take() where found.count < limit {
      guard let mark = OtherNotification(bytes)?.mark else { return giveUp() }
      found.append(mark)
    }
    if elements.isBroken { giveUp() }
    onNews()
  }

  func ended(_ failure: String?) {
    question = nil
    guard failure == nil, !hasFailed else {
      hasFailed = true
      return onNews()
    }
    hasEnded = true
    var rest = ListElements()
    rest.receive(elements.rest)
    misses = rest.take()
    onNews()
  }
}
