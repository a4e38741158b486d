import PushModel

/// A Java key store (`JKS`) with nothing but certificates that are trusted, as `-Djavax.net.ssl.trustStore` takes it.
///
/// All numbers are big-endian. Behind the entries stands SHA-1 over the password in UTF-16, two words that every reader knows,
/// and all that was before it: it tells damage, and keeps nothing secret.
///
/// ```
/// feedfeed, version 2, count      4 bytes each
/// for each: 2 (a certificate)     4 bytes
///   its name                      2 bytes of length, UTF-8
///   when it was put in            8 bytes, milliseconds since 1970
///   "X.509"                       2 bytes of length, UTF-8
///   the certificate               4 bytes of length, DER
/// ```
public enum JavaTrustStore {
  /// What `keytool` and most programs try where nobody says.
  public static let password = "changeit"
  private static let salt = "Mighty Aphrodite"

  /// A store of certificates in DER, under these names.
  static func encode(_ certificates: [(name: String, der: [UInt8])], madeAt now: Timestamp) -> [UInt8] {
    var bytes: [UInt8] = []
    append(UInt32(0xfeed_feed), to: &bytes)
    append(UInt32(2), to: &bytes)
    append(UInt32(certificates.count), to: &bytes)
    for (name, der) in certificates {
      append(UInt32(2), to: &bytes)
      append(name, to: &bytes)
      append(UInt64(clamping: now.milliseconds), to: &bytes)
      append("X.509", to: &bytes)
      append(UInt32(der.count), to: &bytes)
      bytes += der
    }
    let key = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    return bytes + Digests.sha1(key + Array(salt.utf8) + bytes)
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    append(UInt16(truncatingIfNeeded: text.utf8.count), to: &bytes)
    bytes += Array(text.utf8)
  }
}
