import CourierWire
import PushModel

/// The broadcast channels that a phone listens to: told to the service as a whole, again until it has confirmed them. It
/// remembers them beyond a connection.
struct DeviceChannels {
  private var wanted: [ChannelNeed] = []
  /// When the newest message of each was sent, nanoseconds since 1970.
  private var newest: [ChannelNeed: UInt64] = [:]
  /// Of the last subscription.
  private var index: UInt32 = 0
  /// Of an earlier run the service may know others.
  private(set) var isConfirmed = false

  /// Most that are listened to, as a count: a subscription has to fit one item.
  static let limit = 100

  /// Answers whether the service has to hear of it.
  mutating func want(_ needs: [ChannelNeed]) -> Bool {
    let needs = Array(needs.prefix(Self.limit))
    guard needs != wanted else { return false }
    (wanted, isConfirmed) = (needs, false)
    newest = newest.filter { needs.contains($0.key) }
    return true
  }

  /// What the service is to know now.
  mutating func subscription(_ baseToken: DeviceToken) -> ChannelSubscription {
    index &+= 1
    let topics = Dictionary(grouping: wanted, by: \.topic).sorted { $0.key.name < $1.key.name }
    let entries = topics.map { topic, needs in
      ChannelSubscription.TopicEntry(
        topic: topic.name,
        join: needs.map { CourierChannel(id: $0.channel, lastMessageTime: newest[$0]) })
    }
    return ChannelSubscription(index: index, entries: entries, replaces: true, baseToken: baseToken)
  }

  mutating func confirmed(_ confirmation: ChannelConfirmation) {
    if confirmation.index == index { isConfirmed = true }
  }

  /// A message has come through a channel.
  mutating func heard(_ channel: CourierChannel, of topic: Topic) {
    let need = ChannelNeed(topic, channel.id)
    guard wanted.contains(need), let time = channel.lastMessageTime else { return }
    newest[need] = max(newest[need] ?? 0, time)
  }
}
