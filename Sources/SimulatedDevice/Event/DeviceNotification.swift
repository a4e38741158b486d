import CourierWire
import PushModel

/// A notification that has reached the device.
public struct DeviceNotification: Equatable, Sendable {
  public var topic: Topic
  /// The token it was addressed to.
  public var token: DeviceToken
  /// The provider's identifier, if the service tells it.
  public var apnsId: String?
  /// 1, 5 or 10.
  public var priority: UInt8?
  /// When the service would have given it up; nil for never.
  public var expiration: Timestamp?
  public var payload: [UInt8]
  /// Whether the service kept it while the device was away.
  public var isFromStore: Bool

  public init(_ message: CourierMessage, topic: Topic) {
    self.topic = topic
    token = message.token
    apnsId = message.tracingIdentifier.flatMap(Self.identifier)
    priority = message.priority
    expiration = message.expiry.flatMap { seconds in
      seconds == CourierMessage.noExpiry ? nil : Timestamp(seconds: Int64(seconds))
    }
    payload = message.payload
    isFromStore = message.isFromStore
  }

  /// The identifier in canonical form. Sources disagree whether it travels as 16 bytes or as text
  /// (`Documentation/device-protocol.md#message`), so both are read.
  private static func identifier(_ bytes: [UInt8]) -> String? {
    switch bytes.count {
    case 16:
      let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      return groups.map { Hex.encode(bytes[$0]) }.joined(separator: "-")
    case 36: return String(validating: bytes, as: UTF8.self)
    default: return nil
    }
  }
}
