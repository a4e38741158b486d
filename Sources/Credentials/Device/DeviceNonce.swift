import COpenSSL
import PushModel

/// What a device signs to prove itself: a zero, the time in milliseconds, eight random bytes
/// (`Documentation/device-protocol.md#authentication`).
public enum DeviceNonce {
  /// Length, in bytes.
  public static let byteCount = 17
  /// First byte of a nonce on this protocol; HTTP uses 1.
  private static let leadingByte: UInt8 = 0

  /// A fresh nonce.
  public static func make(now: Timestamp) throws(CredentialsError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    guard RAND_bytes(&bytes, Int32(byteCount)) == 1 else { throw OpenSSLError.take("draw a nonce") }
    bytes[0] = leadingByte
    let milliseconds = UInt64(max(0, now.milliseconds))
    withUnsafeBytes(of: milliseconds.bigEndian) { bytes.replaceSubrange(1..<9, with: $0) }
    return bytes
  }

  /// When the device made it; nil unless it has the form of a nonce. Saturates at the end of time.
  static func time(of bytes: [UInt8]) -> Timestamp? {
    guard bytes.count == byteCount, bytes[0] == leadingByte else { return nil }
    let milliseconds = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let (nanoseconds, overflow) = Int64(clamping: milliseconds).multipliedReportingOverflow(by: 1_000_000)
    return Timestamp(nanoseconds: overflow ? .max : nanoseconds)
  }
}
