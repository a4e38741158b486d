import Platform

/// Where a request over HTTP goes: `https://example.com:8443/pushed?by=emulator`.
public struct WebAddress: Equatable, Sendable {
  /// Whether the scheme is `https`.
  public let isSecure: Bool
  public let server: SocketAddress
  /// Path and query.
  public let target: String

  /// nil for what has another scheme, no host, a user, a fragment, or what no request line may have.
  public init?(_ text: String) {
    guard let (isSecure, rest) = Self.scheme(of: text), rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      !rest.contains("#")
    else { return nil }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let place = String(rest[..<end])
    let hasPort = place.hasSuffix("]") ? false : place.contains(":")
    guard !place.contains("@"),
      let server = SocketAddress(hasPort ? place : "\(place):\(isSecure ? 443 : 80)"),
      server.port > 0, !server.host.contains("["), place.hasPrefix("[") || !server.host.contains(":")
    else { return nil }
    (self.isSecure, self.server) = (isSecure, server)
    target = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...]
  }

  /// Whether a text is meant to be one.
  public static func isMeant(by text: String) -> Bool { scheme(of: text) != nil }

  private static func scheme(of text: String) -> (isSecure: Bool, rest: Substring)? {
    for (prefix, isSecure) in [("http://", false), ("https://", true)]
    where text.prefix(prefix.count).lowercased() == prefix {
      return (isSecure, text.dropFirst(prefix.count))
    }
    return nil
  }

  /// For the `Host` field: with the port where it is not the scheme's own (RFC 9110 4.2).
  public var authority: String {
    let isUsual = server.port == (isSecure ? 443 : 80)
    return isUsual ? (server.host.contains(":") ? "[\(server.host)]" : server.host) : server.description
  }
}
