import Basics
import Transport

/// What one other node answers, as it comes.
///
///     asked ─ head ─→ begun ─ end ─→ ended
///       └───────────────┴─ no answer, a bad one, given up ─→ failed
final class NodeAnswer: AnswerReader {
  /// How it is read: a document whole, or the elements of its first list as they come; or server-sent events.
  enum Form { case whole, list, events }

  struct Element {
    var id = ""
    /// Of an event.
    var name = ""
    /// A JSON document.
    let bytes: [UInt8]
  }

  /// What may wait to be taken before the node is not read from, in bytes.
  private static let backlog = 64 << 10
  /// Most that is kept of a document whose list is not read, and longest event, in bytes: many times one with the largest payload.
  private static let wholeLimit = 64 << 10
  private static let eventLimit = 1 << 20

  let node: String
  private let form: Form
  /// Let go of when nobody wants more, as who asks may keep this.
  private var onNews: ((NodeAnswer) -> Void)?
  private var status = 0
  private(set) var hasBegun = false
  /// It has said all that it had to say.
  private(set) var hasEnded = false
  /// Why it has not answered, or not to the end, with the node's name.
  private(set) var failure: String?
  private var question: (any OpenQuestion)?
  private var elements = FIFO<Element>()
  private var heldBytes = 0
  private var list = ListElements()
  private var events = EventStreamReader()
  private var whole: [UInt8] = []

  var hasFailed: Bool { failure != nil }
  var isOver: Bool { hasEnded || hasFailed }

  /// `onNews` is told when there is something new, or nothing more to come; not once nobody wants more.
  init(_ node: String, _ form: Form, onNews: @escaping (NodeAnswer) -> Void) {
    (self.node, self.form, self.onNews) = (node, form, onNews)
  }

  func ask(_ others: any OtherConsoles, _ request: HTTPRequest, timeout: Int64?) {
    let question = others.ask(node, request, about: nil, timeout: timeout, self)
    if !isOver { self.question = question }
  }

  /// Nobody wants more.
  func stop() {
    let question = question
    (self.question, onNews) = (nil, nil)
    question?.giveUp()
  }

  /// The same; a node that was still to answer has not.
  func giveUp() {
    if !hasEnded { lose("given up") }
    stop()
  }

  /// It makes no sense, and if only the last of it: then there is nothing more of it, and the node has not answered.
  func fail() {
    let tell = onNews
    lose("a bad answer")
    giveUp()
    tell?(self)
  }

  private func lose(_ sentence: String) { failure = failure ?? "\(node): \(sentence)" }

  // MARK: What has come

  /// The next element that was not taken.
  var first: Element? { elements.first }

  func take() -> Element? {
    guard let element = elements.first else { return nil }
    elements.removeFirst(leaving: Element(bytes: []))
    hold(heldBytes - element.bytes.count)
    return element
  }

  /// The document, without the list that was read of it, once all of it has come.
  var rest: [UInt8] { form == .list ? list.rest : whole }

  private func append(_ element: Element) {
    elements.append(element)
    heldBytes += element.bytes.count
  }

  /// What was not taken; with too much of it, no more is read.
  private func hold(_ bytes: Int) {
    heldBytes = bytes
    question?.hold(bytes)
    question?.setPaused(bytes > Self.backlog)
  }

  // MARK: AnswerReader

  func answered(_ head: HTTPResponse) {
    status = head.status
    hasBegun = status == 200
    if !hasBegun, form != .whole { fail() }
  }

  func received(_ piece: [UInt8]) {
    guard !isOver else { return }
    switch form {
    case .whole: whole += piece.prefix(Self.wholeLimit - whole.count)
    case .list:
      list.receive(piece)
      for bytes in list.take() { append(Element(bytes: bytes)) }
      if list.isBroken { return fail() }
    case .events:
      for event in events.take(piece) {
        append(Element(id: event.id, name: event.name, bytes: Array(event.data.utf8)))
      }
      if events.heldBytes > Self.eventLimit { return fail() }
    }
    hold(heldBytes)
    onNews?(self)
  }

  func ended(_ failure: String?) {
    question = nil
    guard !isOver else { return }
    let refusal = status == 200 ? nil : "it answers \(status) \(String(decoding: whole, as: UTF8.self))"
    // A stream of events is to have no end.
    if let failure = failure ?? refusal ?? (form == .events ? "it has ended" : nil) {
      lose(failure)
    } else {
      hasEnded = true
    }
    let tell = onNews
    stop()
    tell?(self)
  }
}

/// Takes the elements of the first list out of a document `{"name":[…],…}` as it comes in pieces: each as the bytes of one object.
package struct ListElements {
  /// Largest element, and largest rest, in bytes: many times a notification with the largest payload.
  package static let limit = 1 << 20

  private enum Place { case before, list, behind }

  private var place = Place.before
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var element: [UInt8] = []
  /// Elements that are whole, in order.
  private var whole: [[UInt8]] = []
  /// What stands behind the list, as a document of its own once all of it has come.
  package private(set) var rest: [UInt8] = []
  /// Something is too long.
  package private(set) var isBroken = false

  package init() {}

  package mutating func receive(_ bytes: [UInt8]) {
    for byte in bytes where !isBroken { read(byte) }
  }

  /// What has come since it was asked last.
  package mutating func take() -> [[UInt8]] {
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
