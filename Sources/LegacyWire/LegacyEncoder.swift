import Basics

/// Builds frames as providers send them (`Documentation/binary-protocol.md#frames`).
public enum LegacyEncoder {
  /// Command 0. Token and payload are cut to 65,535 bytes, the most their length fields can say.
  public static func simple(token: [UInt8], payload: [UInt8]) -> [UInt8] {
    [LegacyCommand.simple.rawValue] + counted(token) + counted(payload)
  }

  /// Command 1.
  public static func enhanced(identifier: UInt32, expiration: UInt32, token: [UInt8], payload: [UInt8])
    -> [UInt8]
  {
    [LegacyCommand.enhanced.rawValue] + BigEndian.bytes(identifier) + BigEndian.bytes(expiration)
      + counted(token) + counted(payload)
  }

  /// Command 2, with the items that are not nil, in the order of their ids.
  public static func frame(
    token: [UInt8]?, payload: [UInt8]?, identifier: UInt32? = nil, expiration: UInt32? = nil,
    priority: UInt8? = nil
  ) -> [UInt8] {
    var items: [UInt8] = []
    if let token { items += item(LegacyItem.token, token) }
    if let payload { items += item(LegacyItem.payload, payload) }
    if let identifier { items += item(LegacyItem.identifier, BigEndian.bytes(identifier)) }
    if let expiration { items += item(LegacyItem.expiration, BigEndian.bytes(expiration)) }
    if let priority { items += item(LegacyItem.priority, [priority]) }
    return [LegacyCommand.frame.rawValue] + BigEndian.bytes(UInt32(truncatingIfNeeded: items.count)) + items
  }

  private static func item(_ id: UInt8, _ value: [UInt8]) -> [UInt8] { [id] + counted(value) }

  private static func counted(_ value: [UInt8]) -> [UInt8] {
    let cut = value.prefix(Int(UInt16.max))
    return BigEndian.bytes(UInt16(cut.count)) + cut
  }
}

/// Integers in network order.
enum BigEndian {
  static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
