/// A device asks whether the server is still there (`Documentation/device-protocol.md#keep-alive`). Every item is
/// optional, and a server needs none of them to answer.
public struct KeepAlive: CourierFormed {
  public static let command = CourierCommand.keepAlive
  public static let form = CourierForm<KeepAlive>([
    CourierField(1, .text, \.connectionMethod), CourierField(2, .text, \.systemVersion),
    CourierField(3, .text, \.systemBuild), CourierField(4, .text, \.hardwareModel),
    CourierField(5, .bytes, \.interval),
  ])

  /// `WiFi`, or the digits of a mobile network.
  public var connectionMethod: String?
  public var systemVersion: String?
  public var systemBuild: String?
  public var hardwareModel: String?
  /// Sources disagree on text or number.
  public var interval: [UInt8]?

  public init() {}
}

/// The server is still there (`Documentation/device-protocol.md#keep-alive`).
public struct KeepAliveAnswer: CourierFormed {
  public static let command = CourierCommand.keepAliveAnswer
  public static let form = CourierForm<KeepAliveAnswer>([
    CourierField(1, .looseInteger, \.response)
  ])

  /// Usually absent.
  public var response: UInt8?

  public init() {}
}
