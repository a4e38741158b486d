import PushModel
import Transport

/// What a request must be before its handler sees it (`Sources/ARCHITECTURE.md#promises` 7).
struct RequestGuard {
  var hosts: HostPolicy
  /// Demanded of everybody when the console is bound beyond loopback; nil for none.
  var accessToken: String?

  /// Throws the refusal.
  func check(_ request: HTTPRequest, _ route: Route?) throws {
    try checkHost(request, route)
    guard let route else { return try checkAccess(request) }
    if Self.isWrite(request) || route.isStream { try checkOrigin(request) }
    if !route.isPublic { try checkAccess(request) }
    try checkContentType(request, route)
  }

  static func isWrite(_ request: HTTPRequest) -> Bool {
    !["GET", "HEAD", "OPTIONS"].contains(request.method)
  }

  /// A route may have a name of its own, with its own method only: the others on its path are nobody's.
  private func checkHost(_ request: HTTPRequest, _ route: Route?) throws {
    guard let host = request.field("host") else {
      throw ConsoleError.badRequest("there is no Host field")
    }
    let own = route?.method == request.method ? route?.host : nil
    guard hosts.allows(host, port: request.localPort, besides: own) else {
      throw ConsoleError.forbidden(
        "the console does not answer to the host \(DocumentError.quoted(host)); "
          + "use localhost, or start with --allow-host and that name")
    }
  }

  /// A browser names the page that a request comes from. Programs send no Origin, and pages of other origins are
  /// refused; another port of localhost is another origin.
  private func checkOrigin(_ request: HTTPRequest) throws {
    let own = "http://\(request.field("host") ?? "")".lowercased()
    if let origin = request.field("origin"), origin.lowercased() != own {
      throw ConsoleError.forbidden("the origin \(DocumentError.quoted(origin)) may not do this")
    }
    if let site = request.field("sec-fetch-site"), !["same-origin", "none"].contains(site) {
      throw ConsoleError.forbidden("a page of another site may not do this")
    }
  }

  private func checkAccess(_ request: HTTPRequest) throws {
    guard let accessToken else { return }
    let offered = [bearer(request), AccessCookie.value(in: request)].compactMap { $0 }
    guard offered.contains(where: { Self.isSame($0, accessToken) }) else {
      throw ConsoleError(
        status: 401, code: "unauthorized",
        message: "this console asks for its access token: Authorization: Bearer, or open /?access=TOKEN",
        fields: [HTTPField("WWW-Authenticate", "Bearer")])
    }
  }

  private func bearer(_ request: HTTPRequest) -> String? {
    let words = (request.field("authorization") ?? "").split(separator: " ")
    return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
  }

  /// Compares in a time that does not tell where the first difference is.
  static func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
  }

  /// A form on a stranger's page can post text, but not this content type without being asked about it first.
  private func checkContentType(_ request: HTTPRequest, _ route: Route) throws {
    guard case .json = route.body, !request.body.isEmpty else { return }
    let type = (request.field("content-type") ?? "").prefix { $0 != ";" }
      .lowercased().filter { $0 != " " }
    guard type == "application/json" else {
      throw ConsoleError(
        status: 415, code: "unsupportedMediaType",
        message: "the body: expected Content-Type application/json, got \(DocumentError.quoted(type))")
    }
  }
}
