import PushModel

/// The topics a device wants, replacing everything it said before for that base token
/// (`Documentation/device-protocol.md#filter`). Two known clients write topics that are not 20 bytes long; they enable nothing.
public struct FilterUpdate: CourierCommandValue {
  public static let command = CourierCommand.filter
  public static let form = CourierForm<FilterUpdate>([
    CourierField(1, .token, \.baseToken), CourierField(each: 2, .looseTopicHash, \.enabled),
    CourierField(each: 3, .looseTopicHash, \.ignored),
    CourierField(each: 4, .looseTopicHash, \.opportunistic),
    CourierField(each: 5, .looseTopicHash, \.paused), CourierField(each: 6, .looseTopicHash, \.nonWaking),
  ])

  /// Whose filter it is; early clients left it out.
  public var baseToken: DeviceToken?
  /// Delivered at once.
  public var enabled: [TopicHash] = []
  public var ignored: [TopicHash] = []
  public var opportunistic: [TopicHash] = []
  public var paused: [TopicHash] = []
  public var nonWaking: [TopicHash] = []

  public init(baseToken: DeviceToken?, enabled: [TopicHash] = []) {
    self.baseToken = baseToken
    self.enabled = enabled
  }

  public init() {}
}

/// Nothing is stored for this device (`Documentation/device-protocol.md#no-storage`). Sent after a filter.
public struct NoStorage: CourierCommandValue {
  public static let command = CourierCommand.noStorage
  public static let form = CourierForm<NoStorage>([CourierField(1, .token, \.baseToken)])

  public var baseToken: DeviceToken

  public init(baseToken: DeviceToken) { self.baseToken = baseToken }

  public init() { baseToken = DeviceToken() }
}
