import Credentials
import Platform

/// What a program is told that is started to use this emulator (`Documentation/configuration.md#variables-that-exec-sets`).
extension Emulator {
  /// The names by which programs are told whom to trust: OpenSSL and what honours it (Ruby, PHP, Go, Rust), curl, Python's
  /// requests, Node.
  private static let trustVariables = [
    "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
  ]

  /// Addresses, whom to trust, and where the ports file is.
  package var guestVariables: [String: String] {
    var variables = ports.variables
    variables["APNS_EMULATOR_PORTS_FILE"] = options.files.ports ?? ""
    let bundle = TrustBundle.path(in: ports.certs)
    let trusted = PathCalls.isReadable(bundle) ? bundle : ports.ca
    for name in Self.trustVariables { variables[name] = trusted }
    variables["APNS_EMULATOR_ACCESS"] = access.any
    return variables
  }

  /// Has every program that honours the usual variables go through the proxy; what is local stays so, and nothing else, lest a
  /// name of Apple's gets by. None without a proxy.
  package var proxyVariables: [String: String] {
    guard let address = ports["proxy"] else { return [:] }
    let token = access.console.map { "access:\($0)@" } ?? ""
    let (proxy, local) = ("http://\(token)\(address)", "localhost,127.0.0.1,::1")
    return ["HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": local, "no_proxy": local]
  }
}
