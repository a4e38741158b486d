import Broker
import PushModel

/// Channels, the broadcast that each keeps, and who listens, on disk. A channel's row id is its row in the broker's table.
struct ChannelTables {
  private let path: String
  private let writeChannel, deleteChannel, deleteStrays: Statement
  private let writeSubscription, deleteSubscription: Statement
  private let readChannels, readSubscriptions: Statement

  init(_ database: Database) throws(StoreError) {
    path = database.path
    writeChannel = try Statement(
      database, "INSERT OR REPLACE INTO channel VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", isChecked: true)
    deleteChannel = try Statement(database, "DELETE FROM channel WHERE id = ?")
    deleteStrays = try Statement(
      database, "DELETE FROM subscription WHERE channel NOT IN (SELECT id FROM channel)")
    writeSubscription = try Statement(
      database, "INSERT OR REPLACE INTO subscription VALUES (?, ?, ?, ?)", isChecked: true)
    deleteSubscription = try Statement(database, "DELETE FROM subscription WHERE channel = ? AND device = ?")
    readChannels = try Statement(database, "SELECT * FROM channel ORDER BY id", isChecked: true)
    readSubscriptions = try Statement(
      database, "SELECT * FROM subscription ORDER BY channel, device", isChecked: true)
  }

  // MARK: Writing

  /// Writes the rows that changed. Inside a transaction.
  func write(_ changes: BrokerChanges, of table: ChannelTable) throws(StoreError) {
    for row in Set(changes.channels).sorted() {
      if let channel = table.stored(row) { try write(channel) } else { try remove(row) }
    }
    for subscription in Set(changes.subscriptions) { try write(subscription, table.stored(subscription)) }
  }

  private func write(_ channel: StoredChannel) throws(StoreError) {
    writeChannel.bind(1, channel.row)
    writeChannel.bind(2, channel.key.topic)
    writeChannel.bind(3, Int64(channel.key.environment.rawValue))
    channel.key.id.withUnsafeBytes { writeChannel.bind(4, $0) }
    writeChannel.bind(5, channel.storesNewest ? 1 : 0)
    let newest = channel.newest
    writeChannel.bind(6, Int64(bitPattern: newest?.id ?? 0))
    writeChannel.bind(7, Int64(newest?.priority.rawValue ?? 0))
    writeChannel.bind(8, newest?.sentAt.nanoseconds ?? 0)
    writeChannel.bind(9, newest?.expiresAt.nanoseconds ?? 0)
    writeChannel.bind(10, Int64(newest?.expiry ?? 0))
    (newest?.payload ?? []).withUnsafeBytes { writeChannel.bind(11, $0) }
    try writeChannel.run()
  }

  /// Its subscriptions follow turn by turn.
  private func remove(_ row: Int64) throws(StoreError) {
    deleteChannel.bind(1, row)
    try deleteChannel.run()
  }

  private func write(_ subscription: StoredSubscription, _ seenUntil: Timestamp?) throws(StoreError) {
    let statement = seenUntil == nil ? deleteSubscription : writeSubscription
    statement.bind(1, subscription.channel)
    statement.bind(2, subscription.device)
    if let seenUntil { statement.bind(3, seenUntil.nanoseconds) }
    try statement.run()
  }

  // MARK: Reading

  /// Gives the broker all rows; topics and devices are there already.
  func load(into broker: Broker) throws(StoreError) {
    while try readChannels.step() {
      guard let channel = channel(), broker.restoreChannel(channel) else {
        throw damaged("channel \(readChannels.integer(0))")
      }
    }
    // Of a channel that was deleted soon before the process ended.
    var hasStrays = false
    while try readSubscriptions.step() {
      if broker.channels.key(readSubscriptions.integer(0)) == nil {
        hasStrays = true
      } else if !loadSubscription(broker) {
        throw damaged("a subscription")
      }
    }
    if hasStrays { try deleteStrays.run() }
  }

  private func channel() -> StoredChannel? {
    let read = readChannels
    guard let topic = TopicID(read, 1),
      let environment = UInt8(exactly: read.integer(2)).flatMap(Environment.init(rawValue:))
    else { return nil }
    let key = ChannelTable.Key(topic: topic, environment: environment, id: Array(read.bytes(3)))
    var channel = StoredChannel(
      row: read.integer(0), key: key, storesNewest: read.integer(4) != 0, newest: nil)
    guard read.integer(5) != 0 else { return channel }
    channel.newest = broadcast()
    return channel.newest == nil ? nil : channel
  }

  private func broadcast() -> ChannelTable.Broadcast? {
    let read = readChannels
    guard let priority = UInt8(exactly: read.integer(6)).flatMap(Priority.init(rawValue:)),
      let expiry = UInt32(exactly: read.integer(9))
    else { return nil }
    return ChannelTable.Broadcast(
      id: UInt64(bitPattern: read.integer(5)), payload: Array(read.bytes(10)), priority: priority,
      sentAt: Timestamp(nanoseconds: read.integer(7)), expiresAt: Timestamp(nanoseconds: read.integer(8)),
      expiry: expiry)
  }

  private func loadSubscription(_ broker: Broker) -> Bool {
    guard let device = DeviceID(readSubscriptions, 1) else { return false }
    return broker.restoreSubscription(
      StoredSubscription(device: device, channel: readSubscriptions.integer(0)),
      seenUntil: Timestamp(nanoseconds: readSubscriptions.integer(2)))
  }

  private func damaged(_ what: String) -> StoreError {
    StoreError(code: .damaged, sentence: "the store \(path) is damaged: \(what) is not as it was written")
  }
}
