import PushModel

/// Nothing is stored for this device (`Documentation/device-protocol.md#no-storage`). Sent after a filter.
public struct NoStorage: CourierCommandValue {
  public static let command = CourierCommand.noStorage

  public var baseToken: DeviceToken

  public init(baseToken: DeviceToken) { self.baseToken = baseToken }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var baseToken: DeviceToken?
    var items = frame.items
    while let item = try items.next() {
      guard item.id == CourierItem.NoStorage.baseToken.rawValue else { continue }
      baseToken = try item.requireToken()
    }
    self.baseToken = try Self.require(baseToken, CourierItem.NoStorage.baseToken)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(CourierItem.NoStorage.baseToken, baseToken)
    return writer.finish()
  }
}
