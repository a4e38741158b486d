import PushModel

/// The topics a device wants, replacing everything it said before for that base token
/// (`Documentation/device-protocol.md#filter`). Two known clients write topics that are not 20 bytes long; they enable nothing.
package struct FilterUpdate: CourierCommandValue {
  package static let command = CourierCommand.filter
  package static let form = CourierForm<FilterUpdate>([
    CourierField(1, .token, \.baseToken), CourierField(each: 2, .looseTopicHash, \.enabled),
    CourierField(each: 3, .looseTopicHash, \.ignored),
    CourierField(each: 4, .looseTopicHash, \.opportunistic),
    CourierField(each: 5, .looseTopicHash, \.paused), CourierField(each: 6, .looseTopicHash, \.nonWaking),
  ])

  /// Whose filter it is; early clients left it out.
  package var baseToken: DeviceToken?
  /// Delivered at once.
  package var enabled: [TopicHash] = []
  package var ignored: [TopicHash] = []
  package var opportunistic: [TopicHash] = []
  package var paused: [TopicHash] = []
  package var nonWaking: [TopicHash] = []

  package init(baseToken: DeviceToken?, enabled: [TopicHash] = []) {
    self.baseToken = baseToken
    self.enabled = enabled
  }

  package init() {}
}

/// Nothing is stored for this device (`Documentation/device-protocol.md#no-storage`). Sent after a filter.
package struct NoStorage: CourierCommandValue {
  package static let command = CourierCommand.noStorage
  package static let form = CourierForm<NoStorage>([CourierField(1, .token, \.baseToken)])

  package var baseToken: DeviceToken

  package init(baseToken: DeviceToken) { self.baseToken = baseToken }

  package init() { baseToken = DeviceToken() }
}
