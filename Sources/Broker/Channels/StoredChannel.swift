import Basics
import PushModel

/// A channel as it is told: by the store or another process.
public struct StoredChannel: Sendable {
  /// Its number in the store, which nobody else tells.
  public var row: Int64
  public var key: ChannelTable.Key
  public var storesNewest: Bool
  public var newest: ChannelTable.Broadcast?

  public init(row: Int64, key: ChannelTable.Key, storesNewest: Bool, newest: ChannelTable.Broadcast?) {
    (self.row, self.key, self.storesNewest, self.newest) = (row, key, storesNewest, newest)
  }

  public static let columns =
    [
      RowField<StoredChannel>(nil, "topic", .topicRow, \.key.topic),
      RowField(nil, "environment", .environment, \.key.environment), RowField(nil, "name", .bytes, \.key.id),
      RowField(nil, "stores", .flag, \.storesNewest),
    ] + ChannelTable.Broadcast.form.columns(of: \.newest, blank: .blank)

  /// What a row is read into.
  public static let blank = StoredChannel(
    row: 0, key: .init(topic: TopicID(0), environment: .sandbox, id: []), storesNewest: false, newest: nil)
}

/// Names a subscription in the store: a device by its index, a channel by its row.
public struct StoredSubscription: Hashable, Sendable {
  public var device: DeviceID
  public var channel: Int64

  public init(device: DeviceID, channel: Int64) { (self.device, self.channel) = (device, channel) }
}
