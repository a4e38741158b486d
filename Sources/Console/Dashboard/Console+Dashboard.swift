import PushModel
import Transport

extension Console {
  static var dashboardRoutes: [Route] {
    [
      .get("/", "Dashboard") { _, _ in asset("text/html; charset=utf-8", Dashboard.page) }.hidden,
      .get("/dashboard.css", "Style of the dashboard") { _, _ in
        asset("text/css; charset=utf-8", Dashboard.style)
      }.hidden,
      .get("/dashboard.js", "Script of the dashboard") { _, _ in
        asset("text/javascript; charset=utf-8", Dashboard.script)
      }.hidden,
    ]
  }

  /// A file of a page, under the policy that allows nothing but this server's.
  static func asset(_ type: String, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      fields: [
        HTTPField("Content-Type", type), HTTPField("Content-Security-Policy", Dashboard.contentPolicy),
        HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cache-Control", "no-cache"),
      ], body: Array(text.utf8))
  }
}
