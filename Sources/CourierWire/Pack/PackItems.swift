/// How items of the plain form appear in the packed one: numbers of fixed width are integers there, and what is sent again
/// and again is cached (`Documentation/device-protocol.md#commands`, `#packed-form`).
enum PackItems {
  /// Width of a number in the plain form, in bytes; nil for what is no number.
  static func width(command: UInt8, item: UInt8) -> Int? {
    switch CourierCommand(rawValue: command) {
    case .connect: connect(item)
    case .connected: connected(item)
    case .message: message(item)
    default: ofSmall(command, item)
    }
  }

  /// Commands with one or two numbers.
  private static func ofSmall(_ command: UInt8, _ item: UInt8) -> Int? {
    switch (CourierCommand(rawValue: command), item) {
    case (.acknowledgement, 4), (.setState, 2), (.channels, 1), (.phoneOrder, 1): 4
    case (.phoneReport, 1), (.phoneReport, 5): 4
    case (.phoneOrder, 3): 8
    case (.appTokenRequest, 3), (.appTokenResponse, 4): 2
    case (.acknowledgement, 8), (.appTokenResponse, 1), (.setState, 1), (.channels, 4): 1
    case (.keepAlive, 9), (.keepAlive, 10), (.keepAliveAnswer, 1), (.appState, 2): 1
    case (.phoneOrder, 4), (.appTokenRequest, 0xe6): 1
    default: nil
    }
  }

  private static func connect(_ item: UInt8) -> Int? {
    switch CourierItem.Connect(rawValue: item) {
    case .state, .interface, .simulatedDevice: 1
    case .protocolVersion, .redirectCount, .dnsTime, .tlsTime: 2
    case .flags: 4
    case .timestamp: 8
    default: nil
    }
  }

  private static func connected(_ item: UInt8) -> Int? {
    switch CourierItem.Connected(rawValue: item) {
    case .status: 1
    case .maximumMessageSize, .unknown5, .largeMessageSize: 2
    case .capabilities: 4
    case .serverTime: 8
    default: nil
    }
  }

  private static func message(_ item: UInt8) -> Int? {
    switch CourierItem.Message(rawValue: item) {
    case .storageFlags, .storageFlagsToo, .priority: 1
    case .pushType: 2
    case .messageId, .expiry: 4
    case .timestamp, .notificationId: 8
    default: nil
    }
  }

  /// Whether the value is worth a place in the cache: tokens and topics are
  /// (`Documentation/device-protocol.md#packed-form`).
  static func isCached(command: UInt8, item: UInt8) -> Bool {
    switch CourierCommand(rawValue: command) {
    case .connect, .noStorage: item == 1
    case .connected, .channels: item == 3
    case .filter: (1...6).contains(item)
    case .message: item == 1 || item == 2 || item == 15
    case .appTokenRequest: item == 1 || item == 2
    case .appTokenResponse: item == 2 || item == 3
    default: false
    }
  }
}
