/// Whether the device is in use (`Documentation/device-protocol.md#set-state`). Some clients never send it; nothing may
/// wait for it.
public struct SetState: CourierFormed {
  public static let command = CourierCommand.setState
  public static let form = CourierForm<SetState>([
    CourierField(1, .integer, \.state), CourierField(2, .looseInteger, \.interval),
  ])

  /// 1: active.
  public var state: UInt8
  public var interval: UInt32?

  /// What every client sends.
  public static let active = SetState(state: 1, interval: 0x7fff_ffff)

  public init(state: UInt8, interval: UInt32?) {
    self.state = state
    self.interval = interval
  }

  public init() { self.init(state: 0, interval: nil) }
}
