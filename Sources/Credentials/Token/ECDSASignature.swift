import Basics

/// The two forms of a signature on P-256: r and s side by side as RFC 7518 3.4 has it, and the ASN.1 DER that several
/// libraries send (`Documentation/provider-api.md#what-clients-do`).
public enum ECDSASignature {
  /// Bytes of r, and of s.
  public static let scalarByteCount = 32

  /// The DER form of a signature in either form, the raw one with scalars of `fieldByteCount` bytes; nil for anything else.
  ///
  /// 64 bytes are raw. A DER signature of that length needs r and s to be short by some 50 bits together: never.
  public static func der(from signature: [UInt8], fieldByteCount: Int = scalarByteCount) -> [UInt8]? {
    guard signature.count == 2 * fieldByteCount else { return raw(from: signature) == nil ? nil : signature }
    let scalars = [signature.prefix(fieldByteCount), signature.suffix(fieldByteCount)].map {
      Array($0.drop { $0 == 0 })
    }
    guard scalars.allSatisfy({ $0.count <= scalarByteCount }) else { return nil }
    return DER.value(DER.sequence, scalars.flatMap(integer))
  }

  /// A number without zeros before it, with one if it would be negative, or nothing.
  private static func integer(_ scalar: [UInt8]) -> [UInt8] {
    DER.value(DER.integer, scalar.first.map { $0 < 0x80 } == true ? scalar : [0] + scalar)
  }

  /// The raw form of a DER signature; nil if it is none.
  public static func raw(from der: [UInt8]) -> [UInt8]? {
    guard var rest = DER.content(DER.sequence, of: der.span), let r = scalar(&rest), let s = scalar(&rest),
      rest.isEmpty
    else { return nil }
    return r + s
  }

  /// The next number, which is not negative, with zeros before it.
  private static func scalar(_ rest: inout Span<UInt8>) -> [UInt8]? {
    guard var digits = DER.take(DER.integer, off: &rest), let first = digits.first, first < 0x80 else {
      return nil
    }
    if first == 0 {
      digits = digits.dropping(1)
      // A zero stands alone, or before what would be negative without it.
      guard digits.first ?? 0x80 >= 0x80 else { return nil }
    }
    guard digits.count <= scalarByteCount else { return nil }
    return [UInt8](repeating: 0, count: scalarByteCount - digits.count) + Array(digits)
  }
}
