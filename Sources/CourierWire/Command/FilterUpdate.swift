import PushModel

/// The topics a device wants, replacing everything it said before for that base token
/// (`Documentation/device-protocol.md#filter`).
public struct FilterUpdate: CourierFormed {
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
  /// Topic items that were not 20 bytes long. Two known clients write such items; they enable nothing.
  public private(set) var malformedCount = 0
  public var others: [CourierItemValue] {
    get { [] }
    set { malformedCount = newValue.count { (2...6).contains($0.id) } }
  }

  public init(baseToken: DeviceToken?, enabled: [TopicHash] = []) {
    self.baseToken = baseToken
    self.enabled = enabled
  }

  public init() {}
}
