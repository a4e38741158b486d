import PushModel
import Transport

extension Console {
  /// `GET /api/v1/openapi.json`
  func showOpenAPI(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    return HTTPResponse(
      status: 200, fields: [HTTPField("Content-Type", "application/json")], body: Self.openAPI)
  }

  /// Made once: it is long, and never another.
  private static let openAPI = OpenAPIDocument.make(routeTable, version: "1").encoded
}
