import Basics

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

  /// The same; nil for what is no notification.
  init?(_ bytes: [UInt8]) {
    let mark = bytes.withUnsafeBytes { bytes in
      var cursor = JSONCursor(bytes)
      return try? HistoryMark(&cursor)
    }
    guard let mark else { return nil }
    self = mark
  }

  static func < (left: Self, right: Self) -> Bool {
    (left.receivedAt, left.id) < (right.receivedAt, right.id)
  }
}

/// The history of one other node, as it answers for it: a few notifications ahead of who takes them.
final class OtherHistory: NodeAnswer {
  /// What may wait to be taken before the node is not read from, in bytes.
  private static let backlog = 64 << 10

  /// The last that was taken, or where the reader was before.
  private var position: UInt64?
  private var elements = ListElements()
  /// With their documents.
  private var queue: [(mark: HistoryMark, bytes: [UInt8])] = []
  private var queuedBytes = 0

  /// `position`: what the reader knows of the node.
  init(_ node: String, after position: UInt64?) {
    self.position = position
    super.init(node)
  }

  /// The next one; nil if there is none, or it has not come yet.
  var head: (mark: HistoryMark, bytes: [UInt8])? { queue.first }
  /// Whether more may come than is here.
  var isComing: Bool { queue.isEmpty && !hasEnded && !hasFailed }

  /// Takes the next one.
  func removeHead() {
    let taken = queue.removeFirst()
    position = taken.mark.id
    queuedBytes -= taken.bytes.count
    hold(queuedBytes, upTo: Self.backlog)
  }

  /// Where to go on; nil: at the beginning.
  func next(isNewestFirst: Bool) -> UInt64? {
    if let head { return isNewestFirst ? head.mark.id + 1 : head.mark.id - 1 }
    guard hasEnded, !hasFailed, case .integer(let next)? = JSONReader.read(elements.rest)?.member("next")
    else { return position }
    return UInt64(clamping: next)
  }

  override func received(_ piece: [UInt8]) {
    guard !hasFailed else { return }
    elements.receive(piece)
    for bytes in elements.take() {
      guard let mark = HistoryMark(bytes) else { return fail() }
      queue.append((mark, bytes))
      queuedBytes += bytes.count
    }
    guard !elements.isBroken else { return fail() }
    hold(queuedBytes, upTo: Self.backlog)
    onNews()
  }
}
