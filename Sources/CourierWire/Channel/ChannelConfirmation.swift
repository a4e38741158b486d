import PushModel

/// The server's answer to a channel subscription (`Documentation/device-protocol.md#channels`).
public struct ChannelConfirmation: CourierCommandValue {
  public static let command = CourierCommand.channels

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

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var index: UInt32?
    var status: UInt8?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.Channels(rawValue: item.id) {
      case .index: index = try item.requireInteger()
      case .baseToken: baseToken = try item.requireToken()
      case .status: status = try item.requireInteger()
      case .update, nil: continue
      }
    }
    self.index = try Self.require(index, CourierItem.Channels.index)
    self.status = try Self.require(status, CourierItem.Channels.status)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Channels
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.index, index)
    writer.item(Item.baseToken, baseToken)
    writer.item(Item.status, status)
    return writer.finish()
  }
}
