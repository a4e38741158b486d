/// The two forms of a signature on P-256: r and s side by side as RFC 7518 3.4 has it, and the ASN.1 DER that several
/// libraries send (`Documentation/provider-api.md#what-clients-do`).
package enum ECDSASignature {
  /// Bytes of r, and of s.
  static let scalarByteCount = 32
  /// Lengths that a DER signature may have: two INTEGERs of at least 1 and at most 33 bytes.
  private static let derByteCounts = 8...72

  /// The DER form of a signature in either form, the raw one with scalars of `fieldByteCount` bytes; nil for anything else.
  ///
  /// 64 bytes are raw. A DER signature of that length needs r and s to be short by some 50 bits together: never.
  static func der(from signature: [UInt8], fieldByteCount: Int = scalarByteCount) -> [UInt8]? {
    if signature.count == 2 * fieldByteCount {
      let halves = [signature.prefix(fieldByteCount), signature.suffix(fieldByteCount)]
        .map { $0.drop { $0 == 0 } }
      guard halves.allSatisfy({ $0.count <= scalarByteCount }) else { return nil }
      return DERWriter.sequence(integer(halves[0]), integer(halves[1]))
    }
    guard derByteCounts.contains(signature.count), scalars(signature) != nil else { return nil }
    return signature
  }

  /// The raw form of a DER signature; nil if it is none.
  package static func raw(from der: [UInt8]) -> [UInt8]? {
    guard let (r, s) = scalars(der) else { return nil }
    return padded(r) + padded(s)
  }

  private static func scalars(_ der: [UInt8]) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    var outer = DERReader(der)
    guard let sequence = outer.next(), sequence.tag == DERTag.sequence, outer.isAtEnd else { return nil }
    var members = DERReader(sequence.content)
    guard let r = members.next(), let s = members.next(), members.isAtEnd,
      let first = scalar(r), let second = scalar(s)
    else { return nil }
    return (first, second)
  }

  private static func scalar(_ element: DERReader.Element) -> ArraySlice<UInt8>? {
    let magnitude = element.content.drop { $0 == 0 }
    guard element.tag == DERTag.integer, !element.content.isEmpty, magnitude.count <= scalarByteCount else {
      return nil
    }
    return magnitude
  }

  private static func integer(_ scalar: ArraySlice<UInt8>) -> [UInt8] {
    let magnitude = scalar.drop { $0 == 0 }
    let isPositive = magnitude.first.map { $0 < 0x80 } ?? false
    return DERWriter.value(DERTag.integer, (isPositive ? [] : [0]) + magnitude)
  }

  private static func padded(_ scalar: ArraySlice<UInt8>) -> [UInt8] {
    [UInt8](repeating: 0, count: scalarByteCount - scalar.count) + scalar
  }
}
