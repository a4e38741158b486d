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
  /// while the device was offline is better answered by `AppTokenResponse.statusRemoved` than by a new install.
  public var heldToken: DeviceToken?
  /// What of the topic the token is for, told by simulated devices only; nil for all of it.
  public var context = Context.absent
  /// The token of the context is not needed any more.
  public var isOver = false

  /// What an app-token request says of a context.
  public enum Context: Equatable, Sendable {
    case absent
    case named(TokenContext)
    /// Something that is none.
    case unreadable
  }

  public init(
    baseToken: DeviceToken?, topic: TopicHash, topicName: Topic? = nil, heldToken: DeviceToken? = nil,
    context: TokenContext? = nil, isOver: Bool = false
  ) {
    self.baseToken = baseToken
    self.topic = topic
    self.topicName = topicName
    self.heldToken = heldToken
    self.context = context.map(Context.named) ?? .absent
    self.isOver = isOver
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
      case .context: context = TokenContext(item.text).map(Context.named) ?? .unreadable
      case .isOver: isOver = item.bytes == [1]
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
    switch context {
    case .absent: break
    case .named(let name): writer.item(Item.context, name.text)
    case .unreadable: writer.item(Item.context, "")
    }
    if isOver { writer.item(Item.isOver, UInt8(1)) }
    return writer.finish()
  }
}
