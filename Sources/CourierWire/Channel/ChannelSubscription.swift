import Basics
import PushModel

/// A device joins and leaves broadcast channels (`Documentation/device-protocol.md#channels`).
public struct ChannelSubscription: CourierCommandValue {
  public static let command = CourierCommand.channels
  public static let form = CourierForm<ChannelSubscription>([
    CourierField(1, .integer, \.index),
    CourierField(
      2, update, put: { ($0.entries, $0.replaces) = $1 }, get: { $1(($0.entries, $0.replaces)) }),
    CourierField(3, .token, \.baseToken),
  ])

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

  public init() { self.init(index: 0, entries: [], baseToken: DeviceToken()) }

  private static let update = CourierKind<([TopicEntry], Bool)> { (item) throws(CourierProtocolError) in
    var (entries, replaces): ([TopicEntry], Bool) = ([], false)
    var fields = ProtobufReader(item.value)
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (2, .bytes(let value)): entries.append(try TopicEntry(protobuf: value))
      case (3, .number(let value)): replaces = value != 0
      default: continue
      }
    }
    return (entries, replaces)
  } write: { value, body in
    let (entries, replaces) = value
    var update = ProtobufWriter()
    update.field(1, 1)
    for entry in entries { update.field(2, entry.protobuf) }
    if replaces { update.field(3, 1) }
    body += update.bytes
  }
}

extension ChannelSubscription.TopicEntry {
  init(protobuf bytes: Span<UInt8>) throws(CourierProtocolError) {
    self.init(topic: "")
    var fields = ProtobufReader(bytes)
    while let field = try fields.next() {
      guard case .bytes(let value) = field.value else { continue }
      switch field.number {
      case 1: topic = value.text
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

/// The server's answer to a channel subscription (`Documentation/device-protocol.md#channels`).
public struct ChannelConfirmation: CourierCommandValue {
  public static let command = CourierCommand.channels
  public static let form = CourierForm<ChannelConfirmation>([
    CourierField(1, .integer, \.index), CourierField(3, .token, \.baseToken),
    CourierField(4, .integer, \.status),
  ])

  /// The subscription's counter.
  public var index: UInt32
  public var baseToken: DeviceToken?
  /// 0: done.
  public var status: UInt8

  /// Not done. Apple's codes are unknown; this one is ours.
  public static let statusRefused: UInt8 = 1

  public init(index: UInt32, baseToken: DeviceToken?, status: UInt8 = 0) {
    self.index = index
    self.baseToken = baseToken
    self.status = status
  }

  public init() { self.init(index: 0, baseToken: nil) }
}

/// One broadcast channel as a device sees it (`Documentation/device-protocol.md#channels`).
public struct CourierChannel: Hashable, Sendable {
  public var id: [UInt8]
  /// When its last message was sent, nanoseconds since 1970.
  public var lastMessageTime: UInt64?

  public init(id: [UInt8], lastMessageTime: UInt64? = nil) {
    self.id = id
    self.lastMessageTime = lastMessageTime
  }

  init(protobuf bytes: Span<UInt8>) throws(CourierProtocolError) {
    id = []
    var fields = ProtobufReader(bytes)
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let value)): id = Array(value)
      case (2, .number(let value)): lastMessageTime = value
      default: continue
      }
    }
  }

  var protobuf: [UInt8] {
    var writer = ProtobufWriter()
    writer.field(1, id)
    if let lastMessageTime { writer.field(2, lastMessageTime) }
    return writer.bytes
  }
}

extension CourierKind where Value == CourierChannel {
  static var channel: Self {
    Self { (item) throws(CourierProtocolError) in
      try CourierChannel(protobuf: item.value)
    } write: {
      $1 += $0.protobuf
    }
  }
}
