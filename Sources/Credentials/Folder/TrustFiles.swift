import Basics
import COpenSSL
import Platform

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
  public static func encode(_ certificates: [(name: String, der: [UInt8])], madeAt now: Timestamp) -> [UInt8]
  {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt32(0xfeed_feed))
    bytes.append(bigEndian: UInt32(2))
    bytes.append(bigEndian: UInt32(certificates.count))
    for (name, der) in certificates {
      bytes.append(bigEndian: UInt32(2))
      append(name, to: &bytes)
      bytes.append(bigEndian: UInt64(clamping: now.milliseconds))
      append("X.509", to: &bytes)
      bytes.append(bigEndian: UInt32(der.count))
      bytes += der
    }
    let key = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    return bytes + Digests.sha1(key + Array(salt.utf8) + bytes)
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: text.utf8.count))
    bytes += Array(text.utf8)
  }
}

/// Our CA and those that this system trusts, in one file: for programs that take one bundle in place of the system's, as
/// `SSL_CERT_FILE`, `CURL_CA_BUNDLE`, `REQUESTS_CA_BUNDLE` and `NODE_EXTRA_CA_CERTS` name it, and speak with others than us, too.
public enum TrustBundle {
  /// Where systems keep theirs: Debian and Arch, Fedora and RHEL, openSUSE, Alpine and macOS.
  private static let systems = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  /// Its place in a folder of certificates.
  public static func path(in folder: String) -> String { folder + "/ca-bundle.pem" }

  /// Writes it for the CA whose certificate is the file `ca`, into the folder `folder`. `given` is the bundle that programs
  /// were told of so far, if any, which may be such a one. Where neither it nor the system's can be read, the CA is alone in it.
  public static func write(_ ca: String, in folder: String, given: String?) throws(CredentialsError) {
    let ours = try FileSystem.read(ca) + [UInt8(ascii: "\n")]
    let system = unsafe X509_get_default_cert_file().map { unsafe String(cString: $0) }
    let roots = ([given, system].compactMap(\.self) + systems).lazy.compactMap { try? FileSystem.read($0) }
      .first { !$0.isEmpty }
    let others = roots.map { $0.starts(with: ours) ? $0.dropFirst(ours.count) : $0[...] } ?? []
    let (bundle, path) = (ours + others, path(in: folder))
    guard (try? FileSystem.read(path)) != bundle else { return }
    try FileSystem.write(bundle, to: path, permissions: FileSystem.openFile)
  }
}
