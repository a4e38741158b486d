import Broker
import PushModel

/// Broadcasts for this emulator's own devices. A provider hears of success once all who listened have been handed its
/// broadcast: in the same turn, but for channels with so many that this takes some.
final class LocalBroadcasts: BroadcastSink {
  private let broker: Broker
  private let waiters: PushWaiters
  /// Who waits for broadcasts that are under way, by their ids.
  private var tickets: [UInt64: PushTicket] = [:]

  init(_ broker: Broker, _ waiters: PushWaiters) {
    (self.broker, self.waiters) = (broker, waiters)
    broker.onBroadcastThrough = { [weak self] in self?.isThrough($0) }
  }

  func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, for ticket: PushTicket,
    now: Timestamp
  ) -> PushVerdict {
    let id = broker.broadcast(submission, to: key, storageSeconds: storageSeconds, now: now)
    guard broker.isUnderWay(broadcast: id) else { return .now(SubmissionResult(id: id)) }
    tickets[id] = ticket
    return .later(id)
  }

  private func isThrough(_ id: UInt64) {
    guard let ticket = tickets.removeValue(forKey: id) else { return }
    waiters.settle(ticket, SubmissionResult(id: id))
  }
}
