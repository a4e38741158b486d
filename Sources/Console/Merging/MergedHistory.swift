import Basics
import Broker

/// The histories of all nodes as one list, in the order of the times at which notifications came in; those of one node in its order.
///
/// Each is shown in the state that it has when its turn comes. The next is known when every node has said what it has, so a
/// node that says nothing for a while is left out and named.
final class MergedHistory {
  private let own: any HistorySource
  private let others: [OtherHistory]
  private let broker: Broker
  private let isNewestFirst: Bool
  private let limit: Int
  /// Nodes that are missing, or were to find something and have not said what.
  private let lost: Set<String>
  private var found = 0
  /// Of this node's, the next one.
  private var ownHead: HistoryMark?
  private var hasOwnEnded = false
  /// Told when it can go on.
  var onReady: () -> Void = {}

  init(
    _ own: any HistorySource, _ others: [OtherHistory], _ broker: Broker, limit: Int,
    isNewestFirst: Bool = false, lost: Set<String> = []
  ) {
    (self.own, self.others, self.broker, self.lost) = (own, others, broker, lost)
    (self.limit, self.isNewestFirst) = (limit, isNewestFirst)
    for other in others { other.onNews = { [weak self] in self?.onReady() } }
  }

  /// The members of the answer.
  var members: [GrowingDocument.Member] {
    [
      .list("notifications", look),
      .late { [self] in
        [("next", .string(cursor.text)), ("missing", .array(missing.map(JSONValue.string)))]
      },
    ]
  }

  /// Nobody wants more.
  func giveUp() { for other in others { other.stop() } }

  /// Nodes that are left out, or whose end is.
  private var missing: [String] { lost.union(others.filter(\.hasFailed).map(\.node)).sorted() }

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
    let other = heads.min { isBefore($0.1.mark, $1.1.mark) }
    if let mark = ownHead, other.map({ isBefore(mark, $0.1.mark) }) ?? true {
      ownHead = nil
      guard let record = broker.journal.shown(mark.id) else { return .nothing }
      found += 1
      return .notification(record, broker)
    }
    guard let (history, notification) = other else { return end() }
    history.removeHead()
    found += 1
    return .value(.verbatim(notification.bytes))
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
    giveUp()
    return .end
  }
}

/// What is known of the next notification of one history.
protocol HistorySource: AnyObject {
  /// The next one that matches, unless finding it takes more than this look.
  func step(_ slice: inout Slice) -> NotificationScan.Finding
  /// The last id that it has looked at: where to go on.
  var next: UInt64 { get }
}

extension NotificationScan: HistorySource {}

extension HistorySource {
  /// The members of an answer: those that match, and where to go on.
  func members(_ broker: Broker) -> [GrowingDocument.Member] {
    [
      .list("notifications") { [self] slice in
        switch step(&slice) {
        case .record(let record): .notification(record, broker)
        case .nothing: .nothing
        case .end: .end
        }
      }, .late { [self] in [("next", .integer(Int64(clamping: next)))] },
    ]
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
