import Basics
import Transport

/// What one other node answers, as it comes. How it is read is for who knows what was asked.
///
///     asked ─ head ─→ begun ─ end ─→ ended
///       └───────────────┴─ no answer, a bad one, given up ─→ failed
class NodeAnswer: AnswerReader {
  let node: String
  /// Told when there is something new, or nothing more to come.
  var onNews: () -> Void = {}
  private(set) var hasBegun = false
  /// It has said all that it has to say.
  private(set) var hasEnded = false
  /// It has not answered, or not to the end.
  private(set) var hasFailed = false
  private var question: (any OpenQuestion)?

  init(_ node: String) { self.node = node }

  final func ask(_ others: any OtherConsoles, _ request: HTTPRequest, timeout: Int64?) {
    question = others.ask(node, request, timeout: timeout, self)
    if hasFailed || hasEnded { question = nil }
  }

  /// Nobody wants more.
  final func stop() {
    question?.giveUp()
    question = nil
  }

  /// The same; a node that was still to answer has not.
  final func giveUp() {
    if !hasEnded { hasFailed = true }
    stop()
  }

  final func fail() {
    giveUp()
    onNews()
  }

  /// So many bytes of it have not been taken: beyond `limit` no more is read.
  final func hold(_ bytes: Int, upTo limit: Int) {
    question?.hold(bytes)
    question?.setPaused(bytes > limit)
  }

  // MARK: AnswerReader

  final func answered(_ head: HTTPResponse) { if head.status == 200 { hasBegun = true } else { fail() } }

  func received(_ piece: [UInt8]) {}

  func ended(_ failure: String?) {
    question = nil
    if failure == nil, !hasFailed { hasEnded = true } else { hasFailed = true }
    onNews()
  }
}

/// Takes the elements of the first list out of a document `{"name":[…],…}` as it comes in pieces: each as the bytes of one object.
struct ListElements {
  /// Largest element, and largest rest, in bytes: many times a notification with the largest payload.
  static let limit = 1 << 20

  private enum Place { case before, list, behind }

  private var place = Place.before
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var element: [UInt8] = []
  /// Elements that are whole, in order.
  private var whole: [[UInt8]] = []
  /// What stands behind the list, as a document of its own once all of it has come.
  private(set) var rest: [UInt8] = []
  /// Something is too long.
  private(set) var isBroken = false

  mutating func receive(_ bytes: [UInt8]) {
    for byte in bytes where !isBroken { read(byte) }
  }

  /// What has come since it was asked last.
  mutating func take() -> [[UInt8]] {
    defer { whole = [] }
    return whole
  }

  private mutating func read(_ byte: UInt8) {
    let wasInside = depth > 2
    if !isInString { count(byte) } else { follow(byte) }
    switch place {
    case .before: break
    case .behind:
      rest.append(rest.isEmpty ? UInt8(ascii: "{") : byte)
      // The list's own bracket makes way for that of the document, and the comma behind it goes.
      if rest.count == 2, byte == UInt8(ascii: ",") { rest.removeLast() }
      isBroken = rest.count > Self.limit
    case .list:
      guard wasInside || depth > 2 else { return }
      element.append(byte)
      isBroken = element.count > Self.limit
      guard depth == 2 else { return }
      whole.append(element)
      element = []
    }
  }

  private mutating func follow(_ byte: UInt8) {
    if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
    isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
  }

  private mutating func count(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
      if place == .before, depth == 2, byte == UInt8(ascii: "[") { place = .list }
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth -= 1
      if place == .list, depth == 1 { place = .behind }
    default: break
    }
  }
}
