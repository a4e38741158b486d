import PushModel
import Transport

/// Which names the console answers to. A page of a stranger can make its own name point at this machine (DNS
/// rebinding), but it can't make the browser send another Host than that name: so names are compared whole, and
/// `127.0.0.1.evil.com` is not `127.0.0.1`.
struct HostPolicy {
  /// In lower case, without a port, IPv6 addresses in brackets.
  private let names: Set<String>

  /// Loopback's names, the bind address, and what the operator adds (a container's name, say).
  init(bindHost: String, additional: [String]) {
    let own = ["localhost", "127.0.0.1", "[::1]", Self.written(bindHost)]
    names = Set((own + additional.map(Self.written)).map { $0.lowercased() })
  }

  /// Whether a Host field may be answered: an allowed name (`other` is one too), alone or with the port that the request
  /// came in on.
  func allows(_ host: String, port: UInt16, besides other: String? = nil) -> Bool {
    let host = host.lowercased()
    let isAllowed = { names.contains($0) || $0 == other }
    guard !isAllowed(host) else { return true }
    let suffix = ":\(port)"
    return host.hasSuffix(suffix) && isAllowed(String(host.dropLast(suffix.count)))
  }

  private static func written(_ host: String) -> String {
    host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  }
}
