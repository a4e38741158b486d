/// Whether the device is in use (`Documentation/device-protocol.md#set-state`). Some clients never send it; nothing may
/// wait for it.
public struct SetState: CourierCommandValue {
  public static let command = CourierCommand.setState

  /// 1: active.
  public var state: UInt8
  public var interval: UInt32?

  /// What every client sends.
  public static let active = SetState(state: 1, interval: 0x7fff_ffff)

  public init(state: UInt8, interval: UInt32?) {
    self.state = state
    self.interval = interval
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var state: UInt8?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.SetState(rawValue: item.id) {
      case .state: state = try item.requireInteger()
      case .interval: interval = item.integer()
      case nil: continue
      }
    }
    self.state = try Self.require(state, CourierItem.SetState.state)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.SetState
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.state, state)
    writer.item(Item.interval, interval)
    return writer.finish()
  }
}
