import PushModel

/// Which parts of a token map that several processes share, its zones, are changed here; of the others a copy is kept. A process that is
/// alone has the only one.
public final class ZoneShare {
  private let ofDevice: (UDID) -> UInt16
  private let ofChannel: ([UInt8]) -> UInt16
  private let stamp: (DeviceToken, UDID) -> DeviceToken
  /// By number.
  private var led: [Bool]
  /// Whether there are others.
  let isShared: Bool

  /// All of it.
  public init() {
    (ofDevice, ofChannel, stamp, led, isShared) = (
      { _ in 0 }, { _ in 0 }, { token, _ in token }, [true], false
    )
  }

  /// So many zones, none of which is changed here yet, and what belongs to which. `stamp` makes a token of a device say its zone.
  public init(
    zones: Int, ofDevice: @escaping (UDID) -> UInt16, ofChannel: @escaping ([UInt8]) -> UInt16,
    stamp: @escaping (_ token: DeviceToken, _ udid: UDID) -> DeviceToken
  ) {
    (self.ofDevice, self.ofChannel, self.stamp) = (ofDevice, ofChannel, stamp)
    (led, isShared) = ([Bool](repeating: false, count: zones), true)
  }

  /// A zone is changed here from now on, or no more.
  public func set(_ zone: Int, isLed: Bool) {
    precondition(led.indices.contains(zone), "the broker of a node is made with the cluster's zones")
    led[zone] = isLed
  }

  @inline(__always)
  public func leads(_ zone: UInt16) -> Bool { led.indices.contains(Int(zone)) && led[Int(zone)] }
  public func leads(_ udid: UDID) -> Bool { leads(zone(of: udid)) }
  public func leads(channel id: [UInt8]) -> Bool { leads(ofChannel(id)) }

  func zone(of udid: UDID) -> UInt16 { ofDevice(udid) }
  func stamped(_ token: DeviceToken, for udid: UDID) -> DeviceToken { stamp(token, udid) }
}
