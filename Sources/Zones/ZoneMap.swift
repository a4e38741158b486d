import Basics
import PushModel

/// Which zone what belongs to. The number of zones is fixed for good when a cluster is made.
public struct ZoneMap: Equatable, Sendable {
  /// Least and most zones, as a count.
  public static let counts = 1...1024
  /// Zones of a new cluster unless told otherwise, as a count.
  public static let defaultCount = 64
  /// What a new cluster has unless told otherwise.
  public static let usual = ZoneMap(unchecked: defaultCount)

  public let count: Int

  /// nil for a number of zones that can't be.
  public init?(count: Int) {
    guard Self.counts.contains(count) else { return nil }
    self.count = count
  }

  private init(unchecked count: Int) { self.count = count }

  /// All zones, in order.
  public var zones: some Sequence<ZoneNumber> { (0..<count).lazy.map { ZoneNumber($0) } }

  /// A device's, with all that it has.
  public func zone(of udid: UDID) -> ZoneNumber { zone(of: udid.text.utf8) }

  /// A broadcast channel's, by its id.
  public func zone(ofChannel id: [UInt8]) -> ZoneNumber { zone(of: id) }

  /// What a token says of its zone, for one that nobody knows: those that were given carry it in their first two bytes, any
  /// other has none of its own.
  public func zone(ofUnknown token: Span<UInt8>) -> ZoneNumber {
    if token.count >= 2 {
      let number = Int(token.bigEndian(UInt16.self, at: 0))
      if number < count { return ZoneNumber(number) }
    }
    return zone(of: Array(token))
  }

  /// The same token as one that says its zone.
  public func stamped(_ token: DeviceToken, for udid: UDID) -> DeviceToken {
    let number = zone(of: udid).number
    var bytes = token.bytes
    bytes[0] = UInt8(number >> 8)
    bytes[1] = UInt8(truncatingIfNeeded: number)
    return DeviceToken(bytes: bytes) ?? token
  }

  /// A hash with its halves mixed: the same on each machine and for good.
  private func zone(of bytes: some Sequence<UInt8>) -> ZoneNumber {
    var hash = FNV1a.hash(bytes)
    hash ^= hash >> 32
    return ZoneNumber(Int(truncatingIfNeeded: (hash &* 0x9e37_79b9_7f4a_7c15) >> 33) % count)
  }
}

/// Names a part of the token map, from 0 up to the number of zones that the cluster was made with.
public struct ZoneNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var number: Int

  public init(_ number: Int) { self.number = number }

  public static func < (left: ZoneNumber, right: ZoneNumber) -> Bool { left.number < right.number }
  public var description: String { String(number) }
}
