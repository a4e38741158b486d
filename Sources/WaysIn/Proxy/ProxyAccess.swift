import Basics
import Console
import Transport

/// Who may use the proxy. On loopback everybody; beyond it whoever brings the access token, so that it is nobody else's relay
/// (`Sources/ARCHITECTURE.md#promises` 7). Pure.
package struct ProxyAccess: Sendable {
  /// nil: everybody may.
  private let token: String?

  package init(token: String?) { self.token = token }

  /// Nil for who may, else the refusal. Clients know two ways to say it: `Bearer TOKEN`, and `Basic` with the token as password,
  /// or as the name without one, which is what `http://TOKEN@host:port` becomes (RFC 9110 11.7.2, RFC 7617).
  package func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard let token else { return nil }
    let offered = request.fields.all(named: "proxy-authorization").flatMap(Self.words)
    guard !offered.contains(where: { RequestGuard.isSame($0, token) }) else { return nil }
    return HTTPResponse(
      status: 407, error: "unauthorized",
      "this proxy is bound beyond loopback: expected Proxy-Authorization with the access token that serve printed, "
        + "as in http://access:TOKEN@host:port",
      fields: [HTTPField("Proxy-Authenticate", "Basic realm=\"apns-emulator\"")])
  }

  /// What may be a token in one field.
  private static func words(_ field: String) -> [String] {
    let parts = field.split(separator: " ")
    guard parts.count == 2 else { return [] }
    switch parts[0].lowercased() {
    case "bearer": return [String(parts[1])]
    case "basic":
      guard let bytes = Base64.decode(parts[1].utf8), let text = String(validating: bytes, as: UTF8.self)
      else { return [] }
      let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return sides.count > 1 && !sides[1].isEmpty ? [String(sides[1])] : sides.prefix(1).map(String.init)
    default: return []
    }
  }
}
