/// Puts ASN.1 values into DER.
enum DERWriter {
  /// Any value: tag, length, content.
  static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

  static func sequence(_ members: [UInt8]...) -> [UInt8] { value(DERTag.sequence, members.flatMap { $0 }) }
  static func sequence(of members: [[UInt8]]) -> [UInt8] { value(DERTag.sequence, members.flatMap { $0 }) }
  static func utf8String(_ text: String) -> [UInt8] { value(DERTag.utf8String, Array(text.utf8)) }
  static func octetString(_ bytes: [UInt8]) -> [UInt8] { value(DERTag.octetString, bytes) }
  static func boolean(_ truth: Bool) -> [UInt8] { value(DERTag.boolean, [truth ? 0xff : 0]) }
  /// An INTEGER from 0 to 127.
  static func smallInteger(_ number: UInt8) -> [UInt8] { value(DERTag.integer, [number & 0x7f]) }
  static let null: [UInt8] = [DERTag.null, 0]
  /// An OBJECT IDENTIFIER from the content bytes of its DER form.
  static func objectIdentifier(_ content: [UInt8]) -> [UInt8] { value(DERTag.objectIdentifier, content) }

  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}
