import Broker
import PushModel

/// Channels, the broadcast that each keeps, and who listens, on disk. A channel's row id is its row in the broker's table.
struct ChannelTables {
  /// A subscription with how far it got.
  private struct Subscription {
    var key: StoredSubscription
    var seenUntil: Timestamp

    static let fields = [
      RowField<Subscription>(nil, "channel", .i64, \.key.channel),
      RowField(nil, "device", .row, \.key.device),
      RowField(nil, "seenUntil", .time, \.seenUntil),
    ]
    static let blank = Subscription(
      key: StoredSubscription(device: DeviceID(0), channel: 0), seenUntil: .never)
  }

  private let channels: RowTable<StoredChannel>
  private let subscriptions: RowTable<Subscription>
  private let deleteStrays: Statement

  init(_ database: Database) throws(StoreError) {
    channels = try RowTable(database, "channel", StoredChannel.columns, blank: .blank)
    subscriptions = try RowTable(database, "subscription", Subscription.fields, blank: .blank, keys: 2)
    deleteStrays = try Statement(
      database, "DELETE FROM subscription WHERE channel NOT IN (SELECT id FROM channel)")
  }

  /// Writes the rows that changed. Inside a transaction. Those who listen to a channel that is no more follow turn by turn.
  func write(_ changes: BrokerChanges, of table: ChannelTable) throws(StoreError) {
    try channels.write(Set(changes.channels).sorted(), table.stored)
    for key in Set(changes.subscriptions) {
      if let seenUntil = table.stored(key) {
        try subscriptions.write(Subscription(key: key, seenUntil: seenUntil))
      } else {
        try subscriptions.remove(key.channel, Int64(key.device.number))
      }
    }
  }

  /// Inside a transaction: the devices are gone.
  func removeSubscriptions() throws(StoreError) { try subscriptions.removeAll() }

  /// Gives the broker all rows; topics and devices are there already.
  func load(into broker: Broker) throws(StoreError) {
    try channels.forEach(broker.restoreChannel)
    // Of a channel that was deleted soon before the process ended.
    var hasStrays = false
    try subscriptions.forEach { row in
      if broker.channels.key(row.key.channel) == nil {
        hasStrays = true
        return true
      }
      return broker.restoreSubscription(row.key, seenUntil: row.seenUntil)
    }
    if hasStrays { try deleteStrays.run() }
  }
}
