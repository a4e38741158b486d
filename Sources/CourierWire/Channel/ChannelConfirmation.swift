import PushModel

/// The server's answer to a channel subscription (`Documentation/device-protocol.md#channels`).
public struct ChannelConfirmation: CourierFormed {
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
