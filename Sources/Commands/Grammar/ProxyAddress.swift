import Platform
import PushModel
import Transport

/// A proxy as programs are told of it: `http://user:password@host:port`.
package struct ProxyAddress: Equatable, Sendable {
  package let address: SocketAddress
  /// The value of `Proxy-Authorization`; nil without user and password.
  package let authorization: String?

  /// Reads `[http://][user[:password]@]host:port[/]`, user and password percent-encoded; nil for anything else.
  package init?(_ text: String) {
    var rest = text.lowercased().hasPrefix("http://") ? text.dropFirst("http://".count) : text[...]
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    // Another scheme, or a path.
    guard !rest.contains("/") else { return nil }
    let at = rest.lastIndex(of: "@")
    let place = at.map { rest[rest.index(after: $0)...] } ?? rest
    guard let address = SocketAddress(String(place)), address.port > 0,
      ValueKind<String>.address.parse(address.host) != nil, !address.host.contains("@")
    else { return nil }
    self.address = address
    guard let at else {
      authorization = nil
      return
    }
    guard let credentials = Self.decoded(rest[..<at]) else { return nil }
    authorization = "Basic \(Base64.encode(credentials))"
  }

  /// Without its `%`, and with the colon that belongs between user and password.
  private static func decoded(_ text: Substring) -> [UInt8]? {
    guard let bytes = PercentEncoding.decode(text.utf8) else { return nil }
    return text.contains(":") ? bytes : bytes + [UInt8(ascii: ":")]
  }
}

extension ValueKind where Value == ProxyAddress {
  package static let proxy = ValueKind(
    "URL", expects: "a proxy such as http://127.0.0.1:3128 or http://user:password@host:3128"
  ) { ProxyAddress($0) }
}
