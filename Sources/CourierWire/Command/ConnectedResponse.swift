import PushModel

/// The server's answer to connect (`Documentation/device-protocol.md#connected`). The defaults are what real clients
/// were seen to need.
public struct ConnectedResponse: CourierFormed {
  public static let command = CourierCommand.connected
  public static let form = CourierForm<ConnectedResponse>([
    CourierField(1, .integer, \.status), CourierField(2, .text, \.serverMetadata),
    CourierField(3, .token, \.baseToken), CourierField(4, .looseInteger, \.maximumMessageSize),
    CourierField(5, .bytes, \.unknown5), CourierField(6, .looseInteger, \.capabilities),
    CourierField(8, .looseInteger, \.largeMessageSize), CourierField(9, .text, \.redirectReason),
    CourierField(10, .looseInteger, \.serverTime),
  ])

  /// 0, or why not.
  public var status: UInt8
  public var serverMetadata: String?
  /// Present when a token is assigned or replaced; absent when the offered one holds.
  public var baseToken: DeviceToken?
  /// Bytes.
  public var maximumMessageSize: UInt16?
  /// Perhaps a protocol version.
  public var unknown5: [UInt8]?
  /// Bit mask whose real value is not recorded; this one is accepted.
  public var capabilities: UInt32?
  /// Bytes.
  public var largeMessageSize: UInt16?
  public var redirectReason: String?
  /// Milliseconds since 1970.
  public var serverTime: UInt64?

  /// Welcome.
  public static let statusAccepted: UInt8 = 0
  /// The offered token or the identity is refused; a device then comes back without a token.
  public static let statusRefused: UInt8 = 2

  /// An answer with every item that a known client insists on.
  public init(status: UInt8, baseToken: DeviceToken?, at now: Timestamp) {
    self.status = status
    self.baseToken = baseToken
    maximumMessageSize = 4096
    unknown5 = [0, 2]
    capabilities = 0x0c
    largeMessageSize = 15360
    serverTime = UInt64(clamping: now.milliseconds)
  }

  public init() { status = Self.statusAccepted }
}
