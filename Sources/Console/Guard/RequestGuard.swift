import Basics
import ConsoleAnswers
import Transport

/// What a request must be before its handler sees it (`Sources/ARCHITECTURE.md#promises` 7).
package struct RequestGuard {
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

  private static func isWrite(_ request: HTTPRequest) -> Bool {
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
    if let accessToken { try Self.checkAccess(request, accessToken) }
  }

  /// Throws unless the request has that access token.
  static func checkAccess(_ request: HTTPRequest, _ accessToken: String) throws {
    let offered = [bearer(request), AccessCookie.value(in: request)].compactMap { $0 }
    guard offered.contains(where: { isSame($0, accessToken) }) else {
      throw ConsoleError(
        status: 401, code: "unauthorized",
        message:
          "this console requires its access token: send Authorization: Bearer TOKEN, or open /?access=TOKEN",
        fields: [HTTPField("WWW-Authenticate", "Bearer")])
    }
  }

  private static func bearer(_ request: HTTPRequest) -> String? {
    let words = (request.field("authorization") ?? "").split(separator: " ")
    return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
  }

  /// Compares in a time that does not tell where the first difference is.
  package static func isSame(_ left: String, _ right: String) -> Bool {
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

/// Which names the console answers to. A page of a stranger can make its own name point at this machine (DNS
/// rebinding), but it can't make the browser send another Host than that name: so names are compared whole, and
/// `127.0.0.1.evil.com` is not `127.0.0.1`.
package struct HostPolicy {
  /// In lower case, without a port, IPv6 addresses in brackets.
  private let names: Set<String>
  /// Whether clients may have dialled another port, which a container's host has led to ours.
  private let anyPort: Bool

  /// Loopback's names, the bind address, and what the operator adds (a container's name, say).
  package init(bindHost: String, additional: [String], anyPort: Bool = false) {
    self.anyPort = anyPort
    let own = ["localhost", "127.0.0.1", "[::1]", Self.written(bindHost)]
    names = Set((own + additional.map(Self.written)).map { $0.lowercased() })
  }

  /// Whether a Host field may be answered: an allowed name (`other` is one too), alone or with the port that the request
  /// came in on.
  package func allows(_ host: String, port: UInt16, besides other: String? = nil) -> Bool {
    let host = host.lowercased()
    let isAllowed = { names.contains($0) || $0 == other }
    guard !isAllowed(host) else { return true }
    guard let colon = host.lastIndex(of: ":") else { return false }
    let dialled = host[host.index(after: colon)...]
    let isNumber = dialled.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard dialled == "\(port)" || anyPort && isNumber && UInt16(dialled) != nil else { return false }
    return isAllowed(String(host[..<colon]))
  }

  private static func written(_ host: String) -> String {
    host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  }
}

/// How a browser keeps the access token: pages can't set header fields on their first request.
enum AccessCookie {
  private static let name = "apns_emulator_access"

  /// The token in a request's cookies.
  static func value(in request: HTTPRequest) -> String? {
    for field in request.fields.all(named: "cookie") {
      for cookie in field.split(separator: ";") {
        let sides = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
        if sides.count == 2, sides[0] == name { return String(sides[1]) }
      }
    }
    return nil
  }

  /// The answer to `/?access=TOKEN`: keeps the token and drops it from the address bar.
  static func setting(_ token: String) -> HTTPResponse {
    HTTPResponse(
      status: 303,
      fields: [
        HTTPField("Location", "/"),
        HTTPField("Set-Cookie", "\(name)=\(token); Path=/; HttpOnly; SameSite=Strict"),
      ])
  }
}
