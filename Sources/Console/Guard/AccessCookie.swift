import Transport

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
