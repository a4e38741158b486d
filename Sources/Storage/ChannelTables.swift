import Broker
import PushModel

/// Channels, the broadcast that each keeps, and who listens, on disk. A channel's row id is its row in the broker's table.
struct ChannelTables {
  /// Who listens to the channel that numbers the row, and how far it got.
  private struct Subscription {
    var device = DeviceID(0)
    var seenUntil = Timestamp.never

    static let fields = [
      RowField<Subscription>(nil, "device", .row, \.device), RowField(nil, "seenUntil", .time, \.seenUntil),
    ]
  }

  private let channels: RowTable<StoredChannel>
  private let subscriptions: RowTable<Subscription>
  private let deleteStrays: Statement

  init(_ database: Database) throws(StoreError) {
    channels = try RowTable(database, "channel", StoredChannel.columns, blank: .blank, number: \.row)
    subscriptions = try RowTable(
      database, "subscription", Subscription.fields, blank: Subscription(), keys: ("channel", "device"))
    deleteStrays = try Statement(
      database, "DELETE FROM subscription WHERE channel NOT IN (SELECT id FROM channel)")
  }

  /// Writes the rows that changed. Inside a transaction. Those who listen to a channel that is no more follow turn by turn.
  func write(_ changes: BrokerChanges, of table: ChannelTable) throws(StoreError) {
    try channels.write(changes.channels.once, table.stored)
    for key in changes.subscriptions.once {
      if let seenUntil = table.stored(key) {
        try subscriptions.write(key.channel, Subscription(device: key.device, seenUntil: seenUntil))
      } else {
        try subscriptions.remove(key.channel, Int64(key.device.number))
      }
    }
  }

  /// Inside a transaction: the devices are gone.
  func removeSubscriptions() throws(StoreError) { try subscriptions.removeAll() }

  /// Gives the broker all rows; topics and devices are there already.
  func load(into broker: Broker) throws(StoreError) {
    try channels.forEach { broker.broadcasts.admit($1, because: .stored, now: .never) }
    // Of a channel that was deleted soon before the process ended.
    var hasStrays = false
    try subscriptions.forEach { channel, row in
      let isStray = broker.channels.key(channel) == nil
      if isStray { hasStrays = true }
      let key = StoredSubscription(device: row.device, channel: channel)
      return isStray || broker.broadcasts.restoreSubscription(key, seenUntil: row.seenUntil)
    }
    if hasStrays { try deleteStrays.run() }
  }
}
