import Basics
import NATSWire
import Platform

/// A NATS server: `nats://HOST[:PORT]`, `tls://…` where nothing may go out in the clear, with `USER:PASSWORD@` or `TOKEN@`
/// before the host where it asks for them.
package struct NATSAddress: Hashable, Sendable, CustomStringConvertible {
  package static let standardPort: UInt16 = 4222
  private static let schemes = [("nats://", false), ("tls://", true)]

  /// Who we are to this server.
  package enum Login: Hashable, Sendable {
    case password(user: String, String)
    case token(String)
  }

  package var server: SocketAddress
  /// A server without TLS is refused.
  package var isSecure: Bool
  /// Secret.
  package var login: Login?

  package init(_ server: SocketAddress, isSecure: Bool = false) {
    (self.server, self.isSecure) = (server, isSecure)
  }

  /// Reads a URL; nil for what is none of the NATS server's. Special characters of user, password and token are `%` and two digits.
  package init?(_ text: String) {
    let scheme = Self.schemes.first { text.prefix($0.0.count).lowercased() == $0.0 }
    guard let (prefix, isSecure) = scheme else { return nil }
    var rest = text.dropFirst(prefix.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !rest.contains(where: { "/?#".contains($0) })
    else { return nil }
    self.isSecure = isSecure
    if let at = rest.lastIndex(of: "@") {
      guard let login = Login(rest[..<at]) else { return nil }
      self.login = login
      rest = rest[rest.index(after: at)...]
    }
    guard let server = Self.server(rest) else { return nil }
    self.server = server
  }

  private static func server(_ place: Substring) -> SocketAddress? {
    let hasPort = place.hasPrefix("[") ? !place.hasSuffix("]") : place.contains(":")
    guard let server = SocketAddress(hasPort ? String(place) : "\(place):\(standardPort)"), server.port > 0,
      place.hasPrefix("[") ? server.isNumeric : !server.host.contains(where: { "[]:".contains($0) })
    else { return nil }
    return server
  }

  /// Several, with commas between them; nil if one is none.
  package static func list(_ text: String) -> [NATSAddress]? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let addresses = parts.compactMap { NATSAddress(String($0)) }
    return addresses.count == parts.count ? addresses : nil
  }

  /// Without what is secret.
  package var description: String { (isSecure ? "tls://" : "nats://") + server.description }
}

extension NATSAddress.Login: CustomStringConvertible {
  /// `user:password`, or a token.
  init?(_ text: Substring) {
    guard let colon = text.firstIndex(of: ":") else {
      guard let token = PercentEncoding.text(text), !token.isEmpty else { return nil }
      self = .token(token)
      return
    }
    guard let user = PercentEncoding.text(text[..<colon]), !user.isEmpty,
      let password = PercentEncoding.text(text[text.index(after: colon)...])
    else { return nil }
    self = .password(user: user, password)
  }

  /// Without what is secret.
  package var description: String {
    switch self {
    case .password(let user, _): "user \(user)"
    case .token: "token"
    }
  }

  var credentials: NATSCredentials {
    switch self {
    case .password(let user, let password): .password(user: user, password: password)
    case .token(let token): .token(token)
    }
  }
}
