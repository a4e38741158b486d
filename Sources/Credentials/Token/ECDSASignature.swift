import COpenSSL

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
    guard let pair = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(pair) }
    let scalars = [signature.prefix(fieldByteCount), signature.suffix(fieldByteCount)].map {
      BN_bin2bn(Array($0), Int32(fieldByteCount), nil)
    }
    // The pair takes them over.
    guard ECDSA_SIG_set0(pair, scalars[0], scalars[1]) == 1,
      scalars.allSatisfy({ BN_num_bits($0) <= 8 * scalarByteCount })
    else { return nil }
    return MemoryBuffer.encoded { i2d_ECDSA_SIG(pair, $0) }
  }

  /// The raw form of a DER signature; nil if it is none.
  public static func raw(from der: [UInt8]) -> [UInt8]? {
    defer { OpenSSLError.clear() }
    return der.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      guard let pair = d2i_ECDSA_SIG(nil, &cursor, bytes.count) else { return nil }
      defer { ECDSA_SIG_free(pair) }
      guard cursor == bytes.baseAddress.map({ $0 + bytes.count }) else { return nil }
      let scalars = [ECDSA_SIG_get0_r(pair), ECDSA_SIG_get0_s(pair)].compactMap(scalar)
      return scalars.count == 2 ? scalars[0] + scalars[1] : nil
    }
  }

  private static func scalar(_ number: OpaquePointer?) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: scalarByteCount)
    return BN_bn2binpad(number, &bytes, Int32(scalarByteCount)) < 0 ? nil : bytes
  }
}
