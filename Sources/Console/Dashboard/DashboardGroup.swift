import Basics
import ConsoleAnswers
import Dashboard
import Transport

/// The pages for a browser: the dashboard, and the API to be tried.
package struct DashboardGroup: RouteGroup {
  private let file: (_ name: String) throws -> WebFile?

  /// `file`: one of the dashboard by its name; nil where there is none of that name.
  package init(file: @escaping (_ name: String) throws -> WebFile? = { WebFile(named: $0) }) {
    self.file = file
  }

  package var routes: [Route] {
    [
      pageRoute("/", "Dashboard", "index.html"),
      pageRoute("/docs", "The API's documentation, with a form for each request", "docs.html"),
      .get(
        "/dashboard/{file}", "Scripts and styles of both",
        .answer { asset(try webFile($0.part("file"))) }
      ).anyQuery.hidden,
    ]
  }

  private func pageRoute(_ path: String, _ summary: String, _ name: String) -> Route {
    .get(path, summary, .answer { _ in try page(name) }).anyQuery.hidden
  }

  /// Allows this server's scripts, styles and API, and nothing else: what a provider sends is shown, so it must never be
  /// able to become a program.
  static let contentPolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  /// What both pages begin with, then the page's own part: between them they have no tag that HTML lets one leave out.
  private func page(_ name: String) throws -> HTTPResponse {
    let page = try webFile(name)
    return asset(WebFile(contentType: page.contentType, text: try webFile("head.html").text + page.text))
  }

  private func webFile(_ name: String) throws -> WebFile {
    do {
      if let file = try file(name) { return file }
    } catch {
      throw ConsoleError.notFound("\(error)")
    }
    throw ConsoleError.notFound("the dashboard has no file \(DocumentError.quoted(name))")
  }

  private func asset(_ file: WebFile) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      fields: [
        HTTPField("Content-Type", file.contentType), HTTPField("Content-Security-Policy", Self.contentPolicy),
        HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cache-Control", "no-cache"),
      ], body: Array(file.text.utf8))
  }
}
