import Basics
import Broker
import Console
import ConsoleAnswers
import Transport

extension HTTPRequest {
  /// Query items that are cursors.
  private static let cursors: Set<String> = ["since", "before"]

  /// The request as one of several nodes is asked: of a cursor it gets what is its own.
  func part(isItsOwn: (UInt64) -> Bool) -> HTTPRequest {
    var part = self
    part.query = query.compactMap { item in
      guard Self.cursors.contains(item.name), let cursor = HistoryCursor(item.value) else { return item }
      return cursor.ids.first(where: isItsOwn).map { (item.name, String($0)) }
    }
    return part
  }
}

/// The histories of all nodes as one list, in the order of the times at which notifications came in; those of one node in its order.
///
/// Each is shown in the state that it has when its turn comes. The next is known when every node has said what it has, so a
/// node that says nothing for a while is left out and named.
final class MergedHistory {
  private let own: any HistorySource
  private var others: [OtherHistory] = []
  private let broker: Broker
  private let isNewestFirst: Bool
  private let limit: Int
  /// Nodes that are missing, or were to find something and have not said what.
  private let lost: Set<String>
  private var found = 0
  /// Of this node's, the next one.
  private var ownHead: HistoryMark?
  private var hasOwnEnded = false
  /// Writes them; nil once nothing more comes.
  private var answer: LongAnswer?

  init(
    _ own: any HistorySource, _ broker: Broker, limit: Int, isNewestFirst: Bool = false,
    lost: Set<String> = []
  ) {
    (self.own, self.broker, self.lost) = (own, broker, lost)
    (self.limit, self.isNewestFirst) = (limit, isNewestFirst)
  }

  deinit {
    for other in others { other.answer.stop() }
  }

  /// Adds the history of another node. `position`: what the reader knows of it.
  func ask(
    _ node: String, _ consoles: any OtherConsoles, _ request: HTTPRequest, after position: UInt64? = nil,
    timeout: Int64
  ) {
    let answer = NodeAnswer(node, .list) { [weak self] _ in self?.answer?.goOn() }
    others.append(OtherHistory(answer, after: position))
    answer.ask(consoles, request, timeout: timeout)
  }

  /// Answers with what all nodes have, as it comes, behind other members.
  func answer(
    _ exchange: HTTPExchange, _ slices: SliceScheduler, status: Int = 200,
    behind members: [GrowingDocument.Member] = []
  ) {
    let document = GrowingDocument(
      status: status,
      members + [
        .list("notifications", look),
        .late { [self] in
          [("next", .string(cursor.text)), ("missing", .array(missing.map(JSONValue.string)))]
        },
      ])
    exchange.whenGone(stop)
    answer = slices.answer(document, to: exchange)
  }

  /// Nobody wants more.
  private func stop() {
    for other in others { other.answer.stop() }
    answer = nil
  }

  /// Nodes that are left out, or whose end is.
  private var missing: [String] { lost.union(others.map(\.answer).filter(\.hasFailed).map(\.node)).sorted() }

  /// Where to go on, with each node.
  private var cursor: HistoryCursor {
    let mine = ownHead.map { isNewestFirst ? $0.id + 1 : $0.id - 1 } ?? own.next
    return HistoryCursor([mine] + others.compactMap { $0.next(isNewestFirst: isNewestFirst) })
  }

  private func look(_ slice: inout Slice) -> GrowingDocument.Element {
    guard found < limit else { return end() }
    if ownHead == nil, !hasOwnEnded { return lookAtOwn(&slice) }
    guard !others.contains(where: \.isComing) else { return .waits }
    let heads = others.compactMap { other in other.head.map { (other, $0) } }
    let other = heads.min { isBefore($0.1, $1.1) }
    if let mark = ownHead, other.map({ isBefore(mark, $0.1) }) ?? true {
      ownHead = nil
      guard let record = broker.journal.shown(mark.id) else { return .nothing }
      found += 1
      return .notification(record, broker)
    }
    guard let bytes = other?.0.take() else { return end() }
    found += 1
    return .value(.verbatim(bytes))
  }

  private func lookAtOwn(_ slice: inout Slice) -> GrowingDocument.Element {
    switch own.step(&slice) {
    case .record(let record): ownHead = HistoryMark(receivedAt: record.receivedAt.rfc3339, id: record.id)
    case .nothing: break
    case .end: hasOwnEnded = true
    }
    return .nothing
  }

  private func isBefore(_ left: HistoryMark, _ right: HistoryMark) -> Bool {
    isNewestFirst ? left > right : left < right
  }

  private func end() -> GrowingDocument.Element {
    stop()
    return .end
  }
}

/// The history of one other node, as it answers for it: a few notifications ahead of who takes them.
private final class OtherHistory {
  let answer: NodeAnswer
  /// The last that was taken, or where the reader was before.
  private var position: UInt64?
  /// Of the next one, once it was looked at.
  private var mark: HistoryMark?

  init(_ answer: NodeAnswer, after position: UInt64?) { (self.answer, self.position) = (answer, position) }

  /// The next one; nil if there is none, or it has not come yet.
  var head: HistoryMark? {
    if mark == nil, let next = answer.first {
      mark = HistoryMark(next.bytes)
      if mark == nil { answer.fail() }
    }
    return mark
  }

  /// Whether more may come than is here.
  var isComing: Bool { answer.first == nil && !answer.isOver }

  /// Takes the next one.
  func take() -> [UInt8]? {
    position = mark?.id ?? position
    mark = nil
    return answer.take()?.bytes
  }

  /// Where to go on; nil: at the beginning.
  func next(isNewestFirst: Bool) -> UInt64? {
    if let head { return isNewestFirst ? head.id + 1 : head.id - 1 }
    guard answer.hasEnded, case .integer(let next)? = JSONReader.read(answer.rest)?.member("next") else {
      return position
    }
    return UInt64(clamping: next)
  }
}

/// Where a notification stands among those of all nodes.
package struct HistoryMark: Comparable {
  /// In RFC 3339, which sorts as the times do.
  package let receivedAt: String
  package let id: UInt64

  package init(receivedAt: String, id: UInt64) { (self.receivedAt, self.id) = (receivedAt, id) }

  /// Out of a notification's document.
  package init(_ cursor: inout JSONCursor) throws(JSONSurprise) {
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
  package init?(_ bytes: [UInt8]) {
    var cursor = JSONCursor(bytes.span)
    guard let mark = try? HistoryMark(&cursor) else { return nil }
    self = mark
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.receivedAt, left.id) < (right.receivedAt, right.id)
  }
}

/// Notifications that a wait has found here, and up to where the history is older than the newest of all that it has found.
final class ShownNotifications: HistorySource {
  private let broker: Broker
  private var ids: ArraySlice<UInt64>
  private let moment: Timestamp?
  private(set) var next: UInt64
  /// Going back, the next to look at is below.
  private var position: UInt64

  /// `moment`: when the newest came in that any node has found; nil if none has, so that all has been looked at in vain.
  init(_ ids: [UInt64], before moment: Timestamp?, _ broker: Broker) {
    (self.ids, self.moment, self.broker) = (ids.sorted()[...], moment, broker)
    position = broker.journal.nextId
    next = position - 1
  }

  func step(_ slice: inout Slice) -> NotificationScan.Finding {
    if isOlderUnknown { return lookBack() }
    guard let id = ids.popFirst() else { return .end }
    return broker.journal.shown(id).map { .record($0) } ?? .nothing
  }

  private var isOlderUnknown: Bool { moment != nil && position > 0 }

  private func lookBack() -> NotificationScan.Finding {
    position -= 1
    let isOlder = broker.journal[position].map { $0.receivedAt < moment ?? $0.receivedAt } ?? true
    if isOlder || ids.last == position { (next, position) = (position, 0) }
    return .nothing
  }
}
