/// A device asks whether the server is still there (`Documentation/device-protocol.md#keep-alive`). Every item is
/// optional, and a server needs none of them to answer.
public struct KeepAlive: CourierCommandValue {
  public static let command = CourierCommand.keepAlive

  /// `WiFi`, or the digits of a mobile network.
  public var connectionMethod: String?
  public var systemVersion: String?
  public var systemBuild: String?
  public var hardwareModel: String?
  /// Sources disagree on text or number.
  public var interval: [UInt8]?

  public init() {}

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.KeepAlive(rawValue: item.id) {
      case .connectionMethod: connectionMethod = item.text
      case .systemVersion: systemVersion = item.text
      case .systemBuild: systemBuild = item.text
      case .hardwareModel: hardwareModel = item.text
      case .interval: interval = item.bytes
      case nil: continue
      }
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.KeepAlive
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.connectionMethod, connectionMethod)
    writer.item(Item.systemVersion, systemVersion)
    writer.item(Item.systemBuild, systemBuild)
    writer.item(Item.hardwareModel, hardwareModel)
    writer.item(Item.interval, interval)
    return writer.finish()
  }
}

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
