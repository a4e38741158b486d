import COpenSSL
import Platform

/// Our authority and those that this system trusts, in one file: for programs that take one bundle in place of the system's, as
/// `SSL_CERT_FILE`, `CURL_CA_BUNDLE`, `REQUESTS_CA_BUNDLE` and `NODE_EXTRA_CA_CERTS` name it, and speak with others than us, too.
public enum TrustBundle {
  /// Where systems keep theirs: Debian and Arch, Fedora and RHEL, openSUSE, Alpine and macOS.
  private static let systems = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  /// Its place in a folder of certificates.
  public static func path(in folder: String) -> String { folder + "/ca-bundle.pem" }

  /// Writes it beside the authority's certificate `authority`, in the folder `folder`, and answers its path. `given` is the bundle that
  /// programs were told of so far, if any. Where neither it nor the system's can be read, the authority is alone in it.
  public static func write(_ authority: String, in folder: String, given: String?) throws(CredentialsError)
    -> String
  {
    let own = try FileSystem.read(authority)
    let candidates =
      [given, X509_get_default_cert_file().map { String(cString: $0) }].compactMap(\.self) + systems
    let path = path(in: folder)
    let roots = candidates.lazy.filter { $0 != path }.compactMap { try? FileSystem.read($0) }.first {
      !$0.isEmpty
    }
    // What was given may be such a bundle, and must not grow by each start.
    let ours = own + [UInt8(ascii: "\n")]
    let bundle = ours + (roots.map { $0.starts(with: ours) ? $0.dropFirst(ours.count) : $0[...] } ?? [])
    if (try? FileSystem.read(path)) != bundle {
      try FileSystem.write(bundle, to: path, permissions: FileSystem.openFile)
    }
    return path
  }
}
