import PushModel
import Transport

/// A notification as another node tells it.
struct OtherNotification {
  let mark: HistoryMark
  /// Its document.
  let bytes: [UInt8]

  /// nil for what is no notification.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    let mark = bytes.withUnsafeBytes { bytes in
      var cursor = JSONCursor(bytes)
      return try? HistoryMark(&cursor)
    }
    guard let mark else { return nil }
    self.mark = mark
  }
}

/// Where a notification stands among those of all nodes.
struct HistoryMark: Comparable {
  /// In RFC 3339, which sorts as the times do.
  let receivedAt: String
  let id: UInt64

  init(receivedAt: String, id: UInt64) { (self.receivedAt, self.id) = (receivedAt, id) }

  /// Out of a notification's document.
  init(_ cursor: inout JSONCursor) throws(JSONSurprise) {
    var (id, receivedAt): (Int64?, String?)
    try cursor.members { name, cursor throws(JSONSurprise) in
      if name.spells("id") {
        id = try cursor.whole(upTo: .max)
      } else if name.spells("receivedAt") {
        receivedAt = try cursor.string().text
      } else {
        try cursor.skipValue(depth: JSONText.maximumDepth + 1)
      }
    }
    guard let id, id > 0, let receivedAt else { throw cursor.unexpected("an id and a time") }
    self.init(receivedAt: receivedAt, id: UInt64(id))
  }

  static func < (left: Self, right: Self) -> Bool {
    (left.receivedAt, left.id) < (right.receivedAt, right.id)
  }
}

/// The history of one other node, as it answers for it: a few notifications ahead of who takes them.
final class OtherHistory: AnswerReader {
  /// What may wait to be taken before the node is not read from, in bytes.
  private static let backlog = 64 << 10

  let node: String
  /// Told when there is something to take, or nothing more to come.
  var onNews: () -> Void = {}
  /// The node has not answered, or not to the end.
  private(set) var hasFailed = false
  private var hasEnded = false
  /// The last that was taken, or where the reader was before.
  private var position: UInt64?
  private var elements = ListElements()
  private var queue: [OtherNotification] = []
  private var queuedBytes = 0
  private var question: (any OpenQuestion)?

  /// `position`: what the reader knows of the node.
  init(_ node: String, after position: UInt64?) { (self.node, self.position) = (node, position) }

  func ask(_ others: any OtherConsoles, _ request: HTTPRequest, timeout: Int64) {
    question = others.ask(node, request, timeout: timeout, self)
    if hasFailed || hasEnded { question = nil }
  }

  /// The next one; nil if there is none, or it has not come yet.
  var head: OtherNotification? { queue.first }
  /// Whether more may come than is here.
  var isComing: Bool { queue.isEmpty && !hasEnded && !hasFailed }

  /// Takes the next one.
  func removeHead() {
    let taken = queue.removeFirst()
    position = taken.mark.id
    queuedBytes -= taken.bytes.count
    settle()
  }

  /// Where to go on; nil: at the beginning.
  func next(isNewestFirst: Bool) -> UInt64? {
    if let head { return isNewestFirst ? head.mark.id + 1 : head.mark.id - 1 }
    guard hasEnded, !hasFailed, case .integer(let next)? = JSONReader.read(elements.rest)?.member("next")
    else { return position }
    return UInt64(clamping: next)
  }

  /// Nobody wants more.
  func giveUp() {
    question?.giveUp()
    question = nil
  }

  private func settle() {
    question?.hold(queuedBytes)
    question?.setPaused(queuedBytes > Self.backlog)
  }

  // MARK: The answer

  func answered(_ head: HTTPResponse) { if head.status != 200 { fail() } }

  func received(_ piece: [UInt8]) {
    guard !hasFailed else { return }
    elements.receive(piece)
    for bytes in elements.take() {
      guard let notification = OtherNotification(bytes) else { return fail() }
      queue.append(notification)
      queuedBytes += bytes.count
    }
    guard !elements.isBroken else { return fail() }
    settle()
    onNews()
  }

  func ended(_ failure: String?) {
    question = nil
    if failure == nil, !hasFailed { hasEnded = true } else { hasFailed = true }
    onNews()
  }

  private func fail() {
    hasFailed = true
    giveUp()
    onNews()
  }
}
