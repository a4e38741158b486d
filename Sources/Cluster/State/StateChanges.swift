import Basics
import Broker
import PushModel
import Zones

/// What a turn has changed in the zones that this node leads, zone by zone, as their logs will tell it.
package final class StateChanges {
  private let map: ZoneMap
  private let broker: Broker
  private var writers: [ZoneNumber: StateWriter] = [:]

  package init(_ map: ZoneMap, _ broker: Broker) { (self.map, self.broker) = (map, broker) }

  /// In the order of the zones; those in which nothing has changed are left out.
  package var byZone: [(zone: ZoneNumber, bytes: [UInt8])] {
    writers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.bytes) }
  }

  private func tell(_ zone: ZoneNumber, _ write: (inout StateWriter) -> Void) {
    guard broker.zones.leads(UInt16(zone.number)) else { return }
    write(&writers[zone, default: StateWriter()])
  }

  private func tell(_ zone: UInt16, _ write: (inout StateWriter) -> Void) {
    tell(ZoneNumber(Int(zone)), write)
  }

  package func add(_ changes: BrokerChanges) {
    let registry = broker.registry
    // Names that nothing is of concern nobody: what is of a topic later tells its name.
    for id in changes.topics.once where registry.isUsed(id) { add(registry[id]) }
    for id in changes.devices.once {
      tell(registry[id].zone) { StateEntry.write(registry[id], to: &$0) }
    }
    for id in changes.registrations.once {
      tell(registry[id].zone) { StateEntry.write(id, of: registry, to: &$0) }
    }
    for id in changes.notifications {
      tell(registry[id].zone) { StateEntry.writeNotification(id, of: broker, to: &$0) }
    }
    for key in changes.deletedChannels { tellNoChannel(key) }
    for row in changes.channels.once { tellChannel(row) }
    for (row, broadcast) in changes.broadcasts { tell(broadcast, row) }
    for subscription in changes.subscriptions.once { tell(subscription) }
  }

  /// The next part of a zone's state, looking at so many rows.
  package static func part(
    of zone: ZoneNumber, _ map: ZoneMap, _ broker: Broker, _ cursor: inout ZoneCursor, rows: Int
  ) -> [UInt8] {
    let changes = StateChanges(map, broker)
    changes.add(zone, &cursor, rows: rows)
    return changes.byZone.first?.bytes ?? []
  }

  private func add(_ zone: ZoneNumber, _ cursor: inout ZoneCursor, rows: Int) {
    let (registry, number) = (broker.registry, UInt16(zone.number))
    switch cursor.stage {
    case .channels:
      for row in broker.channels.rowNumbers where broker.channels.key(row).map({ self.zone(of: $0) }) == zone
      {
        tellChannel(row)
      }
      cursor.stage = .devices(0)
    case .devices(let start):
      let end = min(start + rows, registry.deviceCount)
      for index in start..<max(start, end) where registry[DeviceID(index)].zone == number {
        add(DeviceID(index), zone)
      }
      cursor.stage = end == registry.deviceCount ? .end : .devices(end)
    case .end: break
    }
  }

  private func add(_ device: DeviceID, _ zone: ZoneNumber) {
    let registry = broker.registry
    tell(zone) { StateEntry.write(registry[device], to: &$0) }
    for row in registry.registrations(of: device).reversed() {
      tell(zone) { StateEntry.write(row, of: registry, to: &$0) }
      if broker.deliveries.stored(row) != nil {
        tell(zone) { StateEntry.writeNotification(row, of: broker, to: &$0) }
      }
    }
    for row in broker.channels.rows(of: device) { tell(StoredSubscription(device: device, channel: row)) }
  }

  // MARK: Channels

  private func zone(of key: ChannelTable.Key) -> ZoneNumber { map.zone(ofChannel: key.id) }

  private func tellNoChannel(_ key: ChannelTable.Key) {
    tell(zone(of: key)) { StateEntry.write(key, of: broker.registry, as: .noChannel, to: &$0) }
  }

  private func tellChannel(_ row: Int64) {
    guard let channel = broker.channels.stored(row) else { return }
    tell(zone(of: channel.key)) {
      StateEntry.write(channel.key, of: broker.registry, as: .channel, to: &$0)
      $0.write(channel.storesNewest)
      $0.write(channel.newest != nil)
      if let newest = channel.newest { $0.write(newest, ChannelTable.Broadcast.form) }
    }
  }

  private func tell(_ broadcast: ChannelTable.Broadcast, _ row: Int64) {
    guard let key = broker.channels.key(row) else { return }
    tell(zone(of: key)) {
      StateEntry.write(key, of: broker.registry, as: .broadcast, to: &$0)
      $0.write(broadcast, ChannelTable.Broadcast.form)
    }
  }

  /// Belongs to its device. One of a channel that is no more went with that.
  private func tell(_ subscription: StoredSubscription) {
    guard let key = broker.channels.key(subscription.channel), broker.registry.contains(subscription.device)
    else {
      return
    }
    let (device, seenUntil) = (broker.registry[subscription.device], broker.channels.stored(subscription))
    tell(device.zone) {
      StateEntry.write(
        key, of: broker.registry, as: seenUntil == nil ? .noSubscription : .subscription, to: &$0)
      $0.write(device.udid.text)
      if let seenUntil { $0.write(seenUntil) }
    }
  }

  /// A name belongs to no zone: the first of ours tells it.
  private func add(_ topic: TopicEntry) {
    guard let name = topic.name, let first = map.zones.first(where: { broker.zones.leads(UInt16($0.number)) })
    else {
      return
    }
    tell(first) { StateEntry.write(name, to: &$0) }
  }
}

/// How far a snapshot of a zone has come. Channels first: subscriptions are to them.
package struct ZoneCursor {
  fileprivate enum Stage: Equatable { case channels, devices(Int), end }

  fileprivate var stage = Stage.channels

  package init() {}

  package var isAtEnd: Bool { stage == .end }
}

/// One change of a zone's state, as it lies in the log: its kind, and what is so from now on, by names.
enum StateEntry {
  enum Kind: UInt8 {
    case startsOver = 1
    case topic, device, registration, message, noMessage, channel, noChannel, broadcast, subscription,
      noSubscription
  }

  /// Which new beginning it is.
  static let startsOver = RowForm<UInt64>([RowField(1, "", .counted("a new beginning"), \.self)])

  /// A row of the token map with what it is of.
  struct Token {
    var udid: UDID
    var topic: TopicEntry
    var row: TokenRow

    static let blank = Token(udid: DeviceRow.blank.udid, topic: .blank, row: TokenRow())
    static let form = RowForm<Token>(
      [
        RowField(2, "", .udid, \.udid), RowField(3, "", .topicHash, \.topic.hash),
        RowField(4, "", .optional(.topic), \.topic.name),
      ] + TokenRow.form.fields.map { $0.of(\.row) })
    /// By the kind of entry. Nodes of before know theirs: what has a field that came later is told by a kind of its own.
    static let forms: [Kind: RowForm<Token>] = [.registration: form]
  }

  static func write(_ device: Device, to out: inout StateWriter) {
    out.write(Kind.device.rawValue)
    out.write(DeviceRow(device), DeviceRow.form)
  }

  static func write(_ topic: Topic, to out: inout StateWriter) {
    out.write(Kind.topic.rawValue)
    out.write(topic.name)
  }

  static func write(_ id: RegistrationID, of registry: Registry, to out: inout StateWriter) {
    out.write(Kind.registration.rawValue)
    let (device, topic) = (registry[registry[id].device], registry[registry[id].topic])
    out.write(Token(udid: device.udid, topic: topic, row: TokenRow(id, of: registry)), Token.form)
  }

  /// The message of a row, or that there is none.
  static func writeNotification(_ row: RegistrationID, of broker: Broker, to out: inout StateWriter) {
    let token = broker.registry[row].token
    guard let message = broker.deliveries.stored(row) else {
      out.write(Kind.noMessage.rawValue)
      return out.write(token)
    }
    out.write(Kind.message.rawValue)
    out.write(token)
    out.write(message.head, NotificationHead.form)
    out.write(message.content.collapseId)
    out.write(message.content.payload)
  }

  /// The names of a channel.
  package struct ChannelName: Hashable {
    package var topic: TopicEntry
    package var environment: Environment
    package var id: [UInt8]

    static let blank = ChannelName(topic: .blank, environment: .sandbox, id: [])
    static let form = RowForm<ChannelName>([
      RowField(1, "", .topicHash, \.topic.hash), RowField(2, "", .optional(.topic), \.topic.name),
      RowField(3, "", .environment, \.environment), RowField(4, "", .bytes, \.id),
    ])
  }

  static func write(_ key: ChannelTable.Key, of registry: Registry, as kind: Kind, to out: inout StateWriter)
  {
    out.write(kind.rawValue)
    let name = ChannelName(topic: registry[key.topic], environment: key.environment, id: key.id)
    out.write(name, ChannelName.form)
  }
}

/// Writes what a zone's log says of its state. Integers are big endian; texts and bytes have their length before them.
struct StateWriter {
  var bytes: [UInt8] = []

  /// `capacity` is in bytes: fewer are written without moving any.
  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  mutating func write(_ value: some FixedWidthInteger & BitwiseCopyable) { bytes.append(bigEndian: value) }

  mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
  mutating func write(_ time: Timestamp) { write(time.nanoseconds) }

  /// At most 65,535 bytes.
  mutating func write(_ value: some Collection<UInt8>) {
    precondition(value.count <= UInt16.max, "names and payloads are shorter")
    write(UInt16(value.count))
    bytes.append(contentsOf: value)
  }

  mutating func write(_ value: Span<UInt8>) {
    precondition(value.count <= UInt16.max, "names and payloads are shorter")
    write(UInt16(value.count))
    bytes.append(value)
  }

  mutating func write(_ text: String) { write(text.utf8) }
  mutating func write(_ token: DeviceToken) { token.withBytes { bytes.append($0) } }

  /// All that other nodes are told of a row.
  mutating func write<Row>(_ row: Row, _ form: RowForm<Row>) {
    for field in form.told { write(field.write(row), field.shape) }
  }

  private mutating func write(_ value: RowValue, _ shape: RowShape) {
    switch (shape, value) {
    case (.u8, .integer(let number)): write(UInt8(truncatingIfNeeded: number))
    case (.u32, .integer(let number)), (.i32, .integer(let number)): write(UInt32(truncatingIfNeeded: number))
    case (.i64, .integer(let number)): write(number)
    case (.fixed, .bytes(let value)): bytes += value
    case (.bytes, .bytes(let value)): write(value)
    case (.text, .text(let value)): write(value)
    // There is none.
    default: write(0 as UInt16)
    }
  }
}

/// Reads what `StateWriter` has written.
package struct StateCursor: ~Escapable {
  /// What was read is not what any version of ours has written.
  package struct Damage: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  private let bytes: Span<UInt8>
  private(set) var position = 0

  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  @_lifetime(copy self)
  mutating func take(_ count: Int) throws(Damage) -> Span<UInt8> {
    guard bytes.count - position >= count else {
      throw Damage(description: "expected \(count) bytes at \(position), got \(bytes.count - position)")
    }
    defer { position += count }
    return bytes.extracting(position..<position + count)
  }

  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type = Value.self
  ) throws(Damage) -> Value {
    try take(MemoryLayout<Value>.size).bigEndian(Value.self, at: 0)
  }

  mutating func flag() throws(Damage) -> Bool {
    switch try integer(UInt8.self) {
    case 0: false
    case 1: true
    case let other: throw Damage(description: "expected 0 or 1 before \(position), got \(other)")
    }
  }

  mutating func time() throws(Damage) -> Timestamp { Timestamp(nanoseconds: try integer()) }

  /// Bytes with their length before them.
  @_lifetime(copy self)
  mutating func counted() throws(Damage) -> Span<UInt8> {
    let count = Int(try integer(UInt16.self))
    return try take(count)
  }

  package mutating func text() throws(Damage) -> String {
    let start = position
    guard let text = String(validating: Array(try counted()), as: UTF8.self) else {
      throw Damage(description: "expected UTF-8 at \(start)")
    }
    return text
  }

  package mutating func token() throws(Damage) -> DeviceToken {
    let bytes = try take(DeviceToken.byteCount)
    return try require(DeviceToken(bytes), "a token")
  }

  /// What `write` has told of a row, in the place of what is `blank`.
  mutating func row<Row>(_ form: RowForm<Row>, _ blank: Row) throws(Damage) -> Row {
    var row = blank
    for field in form.told {
      let found = try value(field.shape)
      guard field.read(found, &row) else {
        // Bytes and texts may be what nobody else is to read.
        let got = if case .integer(let number) = found { ", got \(number)" } else { "" }
        throw Damage(description: "expected \(field.expected) before \(position)\(got)")
      }
    }
    return row
  }

  private mutating func value(_ shape: RowShape) throws(Damage) -> RowValue {
    switch shape {
    case .u8: .integer(Int64(try integer(UInt8.self)))
    case .u32: .integer(Int64(try integer(UInt32.self)))
    case .i32: .integer(Int64(try integer(Int32.self)))
    case .i64: .integer(try integer())
    case .fixed(let count): .bytes(Array(try take(count)))
    case .bytes: .bytes(Array(try counted()))
    case .text: .text(try text())
    }
  }

  /// What a failable initializer made of what was read.
  func require<Value>(_ value: Value?, _ what: String) throws(Damage) -> Value {
    guard let value else { throw Damage(description: "expected \(what) before \(position)") }
    return value
  }
}
