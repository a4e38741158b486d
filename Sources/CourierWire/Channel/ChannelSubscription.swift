import PushModel

/// A device joins and leaves broadcast channels (`Documentation/device-protocol.md#channels`).
public struct ChannelSubscription: CourierCommandValue {
  public static let command = CourierCommand.channels

  /// One app's part of it.
  public struct TopicEntry: Hashable, Sendable {
    /// A name, not a hash.
    public var topic: String
    public var join: [CourierChannel]
    public var leave: [CourierChannel]

    public init(topic: String, join: [CourierChannel] = [], leave: [CourierChannel] = []) {
      self.topic = topic
      self.join = join
      self.leave = leave
    }
  }

  /// The client's counter, named again in the confirmation.
  public var index: UInt32
  public var entries: [TopicEntry]
  /// Whether what was joined before is forgotten.
  public var replaces: Bool
  public var baseToken: DeviceToken

  public init(index: UInt32, entries: [TopicEntry], replaces: Bool = false, baseToken: DeviceToken) {
    self.index = index
    self.entries = entries
    self.replaces = replaces
    self.baseToken = baseToken
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var index: UInt32?
    var baseToken: DeviceToken?
    var update: CourierItemView?
    (entries, replaces) = ([], false)
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.Channels(rawValue: item.id) {
      case .index: index = try item.requireInteger()
      case .update: update = item
      case .baseToken: baseToken = try item.requireToken()
      case .status, nil: continue
      }
    }
    self.index = try Self.require(index, CourierItem.Channels.index)
    self.baseToken = try Self.require(baseToken, CourierItem.Channels.baseToken)
    if let update { try readUpdate(update.value) }
  }

  private mutating func readUpdate(_ bytes: UnsafeRawBufferPointer) throws(CourierProtocolError) {
    var fields = ProtobufReader(bytes)
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (2, .bytes(let value)): entries.append(try TopicEntry(protobuf: value))
      case (3, .number(let value)): replaces = value != 0
      default: continue
      }
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Channels
    var update = ProtobufWriter()
    update.field(1, 1)
    for entry in entries { update.field(2, entry.protobuf) }
    if replaces { update.field(3, 1) }
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.index, index)
    writer.item(Item.update, update.bytes)
    writer.item(Item.baseToken, baseToken)
    return writer.finish()
  }
}

extension ChannelSubscription.TopicEntry {
  init(protobuf bytes: UnsafeRawBufferPointer) throws(CourierProtocolError) {
    self.init(topic: "")
    var fields = ProtobufReader(bytes)
    while let field = try fields.next() {
      guard case .bytes(let value) = field.value else { continue }
      switch field.number {
      case 1: topic = String(decoding: value, as: UTF8.self)
      case 2: join.append(try CourierChannel(protobuf: value))
      case 3: leave.append(try CourierChannel(protobuf: value))
      default: continue
      }
    }
  }

  var protobuf: [UInt8] {
    var writer = ProtobufWriter()
    writer.field(1, Array(topic.utf8))
    for channel in join { writer.field(2, channel.protobuf) }
    for channel in leave { writer.field(3, channel.protobuf) }
    return writer.bytes
  }
}
