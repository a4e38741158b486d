import PushModel

/// The receipt of a message (`Documentation/device-protocol.md#acknowledgement`), matched by message id alone.
@frozen
public struct Acknowledgement: CourierCommandValue {
  public static let command = CourierCommand.acknowledgement

  public var messageId: UInt32
  /// 0: accepted. Anything else: not delivered.
  public var status: UInt8
  /// The app token or the base token, depending on the client.
  public var token: DeviceToken?

  @inlinable
  public init(messageId: UInt32, status: UInt8 = 0, token: DeviceToken? = nil) {
    self.messageId = messageId
    self.status = status
    self.token = token
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    self = try Self.read(frame)
    var items = frame.items
    while let item = try items.next() {
      guard item.id == CourierItem.Acknowledgement.token.rawValue else { continue }
      token = DeviceToken(item.value)
    }
  }

  /// Message id and status alone: the hot path of a server, which needs no token to find the message.
  @inlinable
  public static func read(_ frame: CourierFrame) throws(CourierProtocolError) -> Acknowledgement {
    var messageId: UInt32?
    var status: UInt8 = 0
    var items = frame.items
    while let item = try items.next() {
      switch item.id {
      case CourierItem.Acknowledgement.messageId.rawValue: messageId = try item.requireInteger()
      case CourierItem.Acknowledgement.status.rawValue: status = try item.requireInteger()
      default: continue
      }
    }
    guard let messageId else {
      throw .itemMissing(command: command, item: CourierItem.Acknowledgement.messageId.rawValue)
    }
    return Acknowledgement(messageId: messageId, status: status)
  }

  /// As devices send it.
  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Acknowledgement
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.messageId, messageId)
    writer.item(Item.status, status)
    writer.item(Item.token, token)
    return writer.finish()
  }

  /// As servers had better send it: one known client looks no further than the first item.
  public var encodedStatusFirst: [UInt8] {
    typealias Item = CourierItem.Acknowledgement
    var writer = CourierFrameWriter(Self.command)
    writer.item(Item.status, status)
    writer.item(Item.messageId, messageId)
    return writer.finish()
  }
}
