import PushModel

/// The server's answer to connect (`Documentation/device-protocol.md#connected`). The defaults are what real clients
/// were seen to need.
public struct ConnectedResponse: CourierCommandValue {
  public static let command = CourierCommand.connected

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

  /// Clients need no more than the status, and the token on first contact.
  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var status: UInt8?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.Connected(rawValue: item.id) {
      case .status: status = try item.requireInteger()
      case .serverMetadata: serverMetadata = item.text
      case .baseToken: baseToken = try item.requireToken()
      case .maximumMessageSize: maximumMessageSize = item.integer()
      case .unknown5: unknown5 = item.bytes
      case .capabilities: capabilities = item.integer()
      case .largeMessageSize: largeMessageSize = item.integer()
      case .redirectReason: redirectReason = item.text
      case .serverTime: serverTime = item.integer()
      case nil: continue
      }
    }
    self.status = try Self.require(status, CourierItem.Connected.status)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Connected
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.status, status)
    writer.item(Item.serverMetadata, serverMetadata)
    writer.item(Item.baseToken, baseToken)
    writer.item(Item.maximumMessageSize, maximumMessageSize)
    writer.item(Item.unknown5, unknown5)
    writer.item(Item.capabilities, capabilities)
    writer.item(Item.largeMessageSize, largeMessageSize)
    writer.item(Item.redirectReason, redirectReason)
    writer.item(Item.serverTime, serverTime)
    return writer.finish()
  }
}
