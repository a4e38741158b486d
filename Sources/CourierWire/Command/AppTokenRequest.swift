import PushModel

/// A device asks for the token of one of its apps (`Documentation/device-protocol.md#app-token`).
public struct AppTokenRequest: CourierCommandValue {
  public static let command = CourierCommand.appTokenRequest

  public var baseToken: DeviceToken?
  public var topic: TopicHash
  /// Echoed in the answer as it came.
  public var appId: [UInt8]?
  /// The topic's name, told by simulated devices only.
  public var topicName: Topic?
  /// The token that the device remembers for the topic, told by simulated devices only. One of an app that was removed
  /// while the device was away is better answered by `AppTokenResponse.statusRemoved` than by a new install.
  public var heldToken: DeviceToken?

  public init(
    baseToken: DeviceToken?, topic: TopicHash, topicName: Topic? = nil, heldToken: DeviceToken? = nil
  ) {
    self.baseToken = baseToken
    self.topic = topic
    self.topicName = topicName
    self.heldToken = heldToken
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var topic: TopicHash?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.AppTokenRequest(rawValue: item.id) {
      case .baseToken: baseToken = try item.requireToken()
      case .topic: topic = try item.requireTopicHash()
      case .appId: appId = item.bytes
      case .topicName: topicName = Topic(item.text)
      case .heldToken: heldToken = DeviceToken(item.value)
      case nil: continue
      }
    }
    self.topic = try Self.require(topic, CourierItem.AppTokenRequest.topic)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.AppTokenRequest
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.baseToken, baseToken)
    writer.item(Item.topic, topic)
    writer.item(Item.appId, appId)
    writer.item(Item.topicName, topicName?.name)
    writer.item(Item.heldToken, heldToken)
    return writer.finish()
  }
}
