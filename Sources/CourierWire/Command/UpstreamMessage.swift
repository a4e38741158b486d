import PushModel

/// A message from a device to the service (`Documentation/device-protocol.md#message`): topic and token stand the other
/// way round. Here it is only acknowledged.
public struct UpstreamMessage: CourierCommandValue {
  public static let command = CourierCommand.message

  public var topic: TopicHash
  /// The sender.
  public var baseToken: DeviceToken
  public var payload: [UInt8]
  public var messageId: UInt32

  public init(topic: TopicHash, baseToken: DeviceToken, payload: [UInt8], messageId: UInt32) {
    self.topic = topic
    self.baseToken = baseToken
    self.payload = payload
    self.messageId = messageId
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var topic: TopicHash?
    var baseToken: DeviceToken?
    var messageId: UInt32?
    payload = []
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.Message(rawValue: item.id) {
      case .token: topic = try item.requireTopicHash()
      case .topic: baseToken = try item.requireToken()
      case .payload: payload = item.bytes
      case .messageId: messageId = try item.requireInteger()
      default: continue
      }
    }
    self.topic = try Self.require(topic, CourierItem.Message.token)
    self.baseToken = try Self.require(baseToken, CourierItem.Message.topic)
    self.messageId = try Self.require(messageId, CourierItem.Message.messageId)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Message
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.token, topic)
    writer.item(Item.topic, baseToken)
    writer.item(Item.payload, payload)
    writer.item(Item.messageId, messageId)
    return writer.finish()
  }
}
