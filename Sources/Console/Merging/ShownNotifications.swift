import Broker
import PushModel

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
