import Broker
import LegacyWire
import Platform
import PushModel

/// What outlives a process that is killed: everything that was read and that the other service has not decided about.
///
/// Each is sent at least once: one whose answer was lost with the process is sent again, with the `apns-id` that it had. Those
/// of one token keep their order. Their connections are gone, so rejections reach nobody but the log, the history and, for
/// tokens that are gone, the feedback service; and nothing behind a rejected one is thrown away, since no error packet has its
/// provider send it again.
extension ForwardService {
  /// A notification was read that will be forwarded; answers the id under which it is kept.
  func keep(_ frame: [UInt8], of provider: GatewayProvider) -> Int64 {
    keep(frame, provider.topic, provider.environment)
  }

  func keep(_ frame: [UInt8], _ topic: TopicID?, _ environment: Environment) -> Int64 {
    broker.pendingForwards.add(
      frame: frame, topic: name(topic), environment: environment, messageID: nextMessageID(),
      receivedAt: clock.now())
  }

  /// They need not be kept any more.
  func forget(kept ids: [Int64]) {
    for id in ids { broker.pendingForwards.remove(id) }
  }

  func kept(of waiter: Int) -> [Int64] { queue.kept(of: waiter) }

  /// Queues what an earlier process has left.
  func restore() {
    var captured: [String: UInt32] = [:]
    for entry in broker.pendingForwards.all { restore(entry, &captured) }
    if restoredCount > 0 {
      logger.log(
        .info, "notifications of an earlier run will be forwarded",
        [("count", .integer(Int64(restoredCount)))])
    }
  }

  private var restoredCount: Int { queue.count + restored.count }

  private func restore(_ entry: PendingForwards.Entry, _ captured: inout [String: UInt32]) {
    entry.frame.withUnsafeBytes { bytes in
      guard case .notification(let notification) = LegacyFrameParser.next(in: bytes),
        let topic = Topic(entry.topic), let index = broker.registry.topic(named: topic)
      else { return broker.pendingForwards.remove(entry.id) }
      var provider = GatewayProvider(topic: index, environment: entry.environment, topics: [])
      let owner = "\(entry.topic) \(entry.environment.name)"
      provider.connection = captured[owner] ?? capture?.gatewayOpened(provider) ?? 0
      captured[owner] = provider.connection
      var submission = provider.submission(notification)
      prepare(&submission, entry.messageID, "waits to be forwarded to \(target); it came before a restart")
      var push = ForwardPush(
        submission, topicName: entry.topic, connection: 0, sequence: 0, now: entry.receivedAt)
      push.kept = entry.id
      push.isRestored = true
      push.record = broker.beginForward(submission, now: clock.now())
      push.id = push.record
      if let first = restored.add(push) { queue.restore(first) }
    }
  }

  /// One is done with: it need not be kept, and the next of its token may follow.
  func ended(_ push: ForwardPush) {
    broker.pendingForwards.remove(push.kept)
    guard push.isRestored else { return }
    if let next = restored.next(after: push) { queue.restore(next) }
    resumeBehindRestored()
  }
}
