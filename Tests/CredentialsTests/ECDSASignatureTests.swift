import Testing

import Credentials

/// X.690, 8.3 and 10: a number has as few octets as it needs, the first with the sign.
@Suite("ECDSA signatures")
struct ECDSASignatureTests {
  private static let zeros = String(repeating: "00", count: 31)

  /// Both numbers of a signature being the same.
  private func der(_ integer: String) throws -> [UInt8] {
    let number = try bytes(integer)
    return [0x30, UInt8(2 * number.count)] + number + number
  }

  @Test(
    "a number has a zero before it in DER where it would be negative, and no other",
    arguments: [
      ("00", "0201 00"), ("7f", "0201 7f"), ("80", "0202 0080"), ("ff", "0202 00ff"), ("0100", "0202 0100"),
      ("7f" + zeros, "0220 7f" + zeros), ("80" + zeros, "0221 0080" + zeros),
    ])
  func numbers(_ digits: String, _ integer: String) throws {
    let scalar = try bytes(digits)
    let raw = [UInt8](repeating: 0, count: 32 - scalar.count) + scalar
    #expect(ECDSASignature.der(from: raw + raw) == (try der(integer)))
    #expect(ECDSASignature.raw(from: try der(integer)) == raw + raw)
  }

  @Test(
    "a number that is negative, longer than it needs or than 32 bytes, or empty is refused",
    arguments: ["0200", "0201 80", "0201 ff", "0202 0000", "0202 007f", "0221 01" + zeros + "00"])
  func otherNumbers(_ integer: String) throws {
    #expect(ECDSASignature.raw(from: try der(integer)) == nil)
    #expect(ECDSASignature.der(from: try der(integer)) == nil)
  }
}
