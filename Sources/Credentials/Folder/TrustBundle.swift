import COpenSSL
import Platform

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
    let system = X509_get_default_cert_file().map { String(cString: $0) }
    let roots = ([given, system].compactMap(\.self) + systems).lazy.compactMap { try? FileSystem.read($0) }
      .first { !$0.isEmpty }
    let others = roots.map { $0.starts(with: ours) ? $0.dropFirst(ours.count) : $0[...] } ?? []
    let (bundle, path) = (ours + others, path(in: folder))
    guard (try? FileSystem.read(path)) != bundle else { return }
    try FileSystem.write(bundle, to: path, permissions: FileSystem.openFile)
  }
}
