import Basics
import Broker
import ProviderAPI
import PushModel
import Services

/// What the gateway makes of the frame of a provider with a certificate for a topic; nil of what is no notification. The bytes are lent.
package typealias FrameReading = (
  _ frame: Span<UInt8>, TopicID, Environment, _ body: (Submission) -> ForwardPush
) -> ForwardPush?

/// What outlives a process that is killed: everything that was read and that the other service has not decided about.
///
/// Each is sent at least once: one whose answer was lost with the process is sent again, with the `apns-id` that it had. Those
/// of one token keep their order. Their connections are gone, so rejections reach nobody but the log, the history and, for
/// tokens that are gone, the feedback service; and nothing behind a rejected one is discarded, since no error packet has its
/// provider send it again.
struct StoredPushes {
  private let broker: Broker
  private let clock: EmulatorClock
  private let target: String
  private let ids: APNSIDGenerator

  init(broker: Broker, clock: EmulatorClock, target: String, seed: UInt64) {
    (self.broker, self.clock, self.target) = (broker, clock, target)
    ids = APNSIDGenerator(seed: seed)
  }

  var count: Int { broker.pendingForwards.count }

  /// A notification was read that will be forwarded; answers the id under which it is kept.
  func add(_ frame: [UInt8], _ topic: TopicID?, _ environment: Environment) -> Int64 {
    broker.pendingForwards.add(
      frame: frame, topic: name(topic), environment: environment, apnsID: nextAPNSID(),
      receivedAt: clock.now())
  }

  /// It need not be kept any more.
  func remove(_ id: Int64) { broker.pendingForwards.remove(id) }

  /// Makes a push of a notification that is kept under `id`, with what the gateway does not know of it. It has no record yet.
  func push(
    _ submission: inout Submission, kept id: Int64, connection: Int, sequence: UInt64, receivedAt: Timestamp,
    _ remark: String = ""
  ) -> ForwardPush {
    let topicName = name(submission.plain.topic)
    submission.plain.apnsID = broker.pendingForwards[id]?.apnsID ?? nextAPNSID()
    submission.plain.pushType = PushType(forwarding: Array(submission.plain.payload), to: topicName)
    submission.detail = NotificationDetail(
      explanation: "waits to be forwarded to \(target)\(remark)", upstream: target)
    var push = ForwardPush(
      submission, topicName: topicName, connection: connection, sequence: sequence, now: receivedAt)
    push.kept = id
    return push
  }

  /// What an earlier process has left, oldest first, with records of its own.
  func readBack(_ records: ForwardRecords, _ reading: FrameReading) -> [ForwardPush] {
    var captured: [String: UInt32] = [:]
    return broker.pendingForwards.all.compactMap { entry in
      let push = readBack(entry, records, reading, &captured)
      if push == nil { remove(entry.id) }
      return push
    }
  }

  private func readBack(
    _ entry: PendingForwards.Entry, _ records: ForwardRecords, _ reading: FrameReading,
    _ captured: inout [String: UInt32]
  ) -> ForwardPush? {
    guard let topic = Topic(entry.topic), let index = broker.registry.topic(named: topic) else { return nil }
    let frame = entry.frame
    return reading(frame.span, index, entry.environment) { read in
      var submission = read
      let owner = "\(entry.topic) \(entry.environment.name)"
      submission.plain.connection =
        captured[owner] ?? records.capture?.gatewayOpened(index, entry.environment) ?? 0
      captured[owner] = submission.plain.connection
      var push = push(
        &submission, kept: entry.id, connection: 0, sequence: 0, receivedAt: entry.receivedAt,
        "; it came before a restart")
      push.isRestored = true
      records.begin(&push, submission)
      return push
    }
  }

  private func name(_ topic: TopicID?) -> String { topic.flatMap { broker.registry[$0].name?.name } ?? "" }

  /// A random UUID as clients make them: version 4, in lower case (`Documentation/provider-api.md#request`).
  private func nextAPNSID() -> APNSID {
    let id = ids.next()
    return APNSID(high: id.high & ~0xf000 | 0x4000, low: id.low & (.max >> 2) | 1 << 63, upperCase: 0)
  }
}
