/// What the emulator tells a simulated device that has a phone, with a private command (`CourierItem`): what a person does
/// to the phone, or how late the emulator's clock says that it is.
public struct PhoneOrderCommand: CourierCommandValue {
  public static let command = CourierCommand.phoneOrder

  /// The emulator's clock.
  public struct Clock: Equatable, Sendable {
    /// Nanoseconds since 1970.
    public var now: UInt64
    /// Whether it stands still until it is told again.
    public var isFrozen: Bool

    public init(now: UInt64, isFrozen: Bool) { (self.now, self.isFrozen) = (now, isFrozen) }
  }

  /// Named again in the report that answers the order; nil if nothing is asked for.
  public var number: UInt32?
  /// What to do, one JSON object in UTF-8; empty for nothing. At most `CourierLimits.orderByteCount`.
  public var order: [UInt8]
  public var clock: Clock?

  public init(number: UInt32? = nil, order: [UInt8] = [], clock: Clock? = nil) {
    (self.number, self.order, self.clock) = (number, order, clock)
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    self.init()
    var items = frame.items
    var (now, isFrozen): (UInt64?, UInt8) = (nil, 0)
    while let item = try items.next() {
      switch CourierItem.PhoneOrder(rawValue: item.id) {
      case .number: number = try item.requireInteger()
      case .order: order += item.value
      case .now: now = try item.requireInteger()
      case .isFrozen: isFrozen = try item.requireInteger()
      case nil: continue
      }
    }
    clock = now.map { Clock(now: $0, isFrozen: isFrozen != 0) }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.PhoneOrder
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.number, number)
    writer.items(Item.order, order)
    writer.item(Item.now, clock?.now)
    writer.item(Item.isFrozen, clock.map { $0.isFrozen ? UInt8(1) : 0 })
    return writer.finish()
  }
}
