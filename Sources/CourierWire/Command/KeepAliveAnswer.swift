/// The server is still there (`Documentation/device-protocol.md#keep-alive`).
public struct KeepAliveAnswer: CourierCommandValue {
  public static let command = CourierCommand.keepAliveAnswer

  /// Usually absent.
  public var response: UInt8?

  public init() {}

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var items = frame.items
    while let item = try items.next() {
      guard item.id == CourierItem.KeepAliveAnswer.response.rawValue else { continue }
      response = item.integer()
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(CourierItem.KeepAliveAnswer.response, response)
    return writer.finish()
  }
}
