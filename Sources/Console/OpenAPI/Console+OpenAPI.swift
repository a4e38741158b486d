import PushModel
import Transport

extension Console {
  /// `GET /api/v1/openapi.json`
  func showOpenAPI(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    return HTTPResponse(json: OpenAPIDocument.make(routes, version: "1"))
  }
}
