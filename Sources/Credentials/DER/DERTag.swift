/// The identifier octets used here (X.690 8.1.2).
enum DERTag {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let null: UInt8 = 0x05
  static let objectIdentifier: UInt8 = 0x06
  static let utf8String: UInt8 = 0x0c
  static let sequence: UInt8 = 0x30
  /// Context-specific and primitive.
  static func context(_ number: UInt8) -> UInt8 { 0x80 | number }
}
