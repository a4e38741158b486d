import Basics
import Broker
import PushModel

/// Topics, devices and the token map on disk. A table's row id is the row's index in the registry.
struct RegistryTables {
  /// A row of the token map with the rows that it is of.
  private struct StoredToken {
    var device = DeviceID(0)
    var topic = TopicID(0)
    var row = TokenRow()

    static let fields =
      [RowField<StoredToken>(nil, "device", .row, \.device), RowField(nil, "topic", .topicRow, \.topic)]
      + TokenRow.form.fields.filter { $0.table == nil }.map { $0.of(\.row) }
  }

  /// What only some rows have, in a table of its own.
  private struct Extra {
    let field: RowField<TokenRow>
    let table: RowTable<TokenRow>

    /// Of the rows that have one, by their numbers.
    func values() throws(StoreError) -> [Int64: RowValue] {
      var values: [Int64: RowValue] = [:]
      try table.forEach { id, row in
        values[id] = field.write(row)
        return true
      }
      return values
    }
  }

  private let topics: RowTable<TopicEntry>
  private let devices: RowTable<DeviceRow>
  private let tokens: RowTable<StoredToken>
  private let extras: [Extra]

  init(_ database: Database) throws(StoreError) {
    topics = try RowTable(database, "topic", TopicEntry.form.fields, blank: .blank)
    devices = try RowTable(database, "device", DeviceRow.form.fields, blank: .blank)
    tokens = try RowTable(database, "registration", StoredToken.fields, blank: StoredToken())
    var extras: [Extra] = []
    for field in TokenRow.form.fields {
      guard let name = field.table else { continue }
      let table = try RowTable(database, name, [field], blank: TokenRow())
      extras.append(Extra(field: field, table: table))
    }
    self.extras = extras
  }

  // MARK: Writing

  /// Writes the rows that changed, from front to back. Inside a transaction.
  func write(_ changes: BrokerChanges, of registry: Registry) throws(StoreError) {
    // One that has made room for another within the turn is there no more.
    for id in changes.topics.once.sorted() where registry.contains(id) {
      try topics.write(Int64(id.place), registry[id])
    }
    for id in changes.devices.once.sorted() {
      try devices.write(Int64(id.number), DeviceRow(registry[id]))
    }
    for id in changes.registrations.once.sorted() { try write(id, registry) }
  }

  /// Inside a transaction.
  func removeAll() throws(StoreError) {
    try topics.removeAll()
    try devices.removeAll()
    try tokens.removeAll()
    for extra in extras { try extra.table.removeAll() }
  }

  private func write(_ id: RegistrationID, _ registry: Registry) throws(StoreError) {
    let (number, row) = (Int64(id.number), TokenRow(id, of: registry))
    let stored = StoredToken(device: registry[id].device, topic: registry[id].topic, row: row)
    try tokens.write(number, stored)
    for extra in extras where extra.field.write(row) != .none {
      try extra.table.write(number, row)
    }
  }

  // MARK: Reading

  /// Gives an empty registry all rows in order.
  func load(into broker: Broker) throws(StoreError) {
    let registry = broker.registry
    try topics.forEachInOrder { place, topic in
      // The registry finds a named topic by the hash of its name.
      if let name = topic.name, TopicHash(name) != topic.hash { return false }
      registry.restoreTopic(topic.hash, topic.name)
      return registry.topicCount == place + 1
    }
    try devices.forEachInOrder { number, device in
      forgetChanges(behind: number, of: broker)
      return broker.rows.admit(device, now: .never) != nil && registry.deviceCount == number + 1
    }
    var values = try extras.map { (extra) throws(StoreError) in try extra.values() }
    try tokens.forEachInOrder { number, stored in
      forgetChanges(behind: number, of: broker)
      var row = stored.row
      for (index, extra) in extras.enumerated() {
        if let value = values[index].removeValue(forKey: number) { _ = extra.field.read(value, &row) }
      }
      return broker.rows.admit(row, of: stored.device, stored.topic, because: .stored, now: .never) != nil
    }
    for (extra, values) in zip(extras, values) {
      if let other = values.keys.min() { throw extra.table.damaged(other) }
    }
    _ = broker.turn.takeChanges()
  }

  /// All of it is in the store. Not only at the end: what is noted of millions of rows would need as much memory as the rows.
  private func forgetChanges(behind number: Int64, of broker: Broker) {
    if number.isMultiple(of: 65_536) { _ = broker.turn.takeChanges() }
  }
}

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
