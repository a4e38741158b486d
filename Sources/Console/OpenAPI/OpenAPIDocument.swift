import PushModel
import Transport

/// The API's description (OpenAPI 3.1), made from the table of routes, so that the two can't differ.
enum OpenAPIDocument {
  static func make(_ routes: [Route], version: String) -> JSONValue {
    var paths: [(String, JSONValue)] = []
    for pattern in uniquePatterns(routes) {
      let operations = routes.filter { $0.isDocumented && $0.pattern.text == pattern }
      paths.append((pattern, .object(operations.map { ($0.method.lowercased(), operation($0)) })))
    }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "apns-emulator console", "version": .string(version),
        "description": "Look at, wait for, break and reset what the emulator does.",
      ],
      "servers": [["url": "/"]], "paths": .object(paths),
      "components": ["schemas": .object(schemas(routes))],
    ]
  }

  /// Those with a name that routes take and answer, with what these refer to.
  private static func schemas(_ routes: [Route]) -> [(String, JSONValue)] {
    var definitions: [String: JSONValue] = [:]
    for route in routes where route.isDocumented {
      var schemas = (route.answers + route.refusalStatuses).compactMap { $0.schema() }
      if case .json(_, let schema) = route.body { schemas.append(schema()) }
      for schema in schemas.flatMap(\.named) { definitions[schema.name ?? ""] = schema.definition }
    }
    return definitions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static func uniquePatterns(_ routes: [Route]) -> [String] {
    var patterns: [String] = []
    for route in routes where route.isDocumented && !patterns.contains(route.pattern.text) {
      patterns.append(route.pattern.text)
    }
    return patterns
  }

  private static func operation(_ route: Route) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("operationId", .string(operationId(route))), ("summary", .string(route.summary)),
    ]
    let parameters = route.pattern.names.map(pathParameter) + route.parameters().map(parameter)
    if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
    if let body = body(route) { members.append(("requestBody", body)) }
    members.append(("responses", responses(route)))
    return .object(members)
  }

  /// `getApiV1DevicesUdid`: unique because method and path are.
  private static func operationId(_ route: Route) -> String {
    let words = route.pattern.text.split { !$0.isLetter && !$0.isNumber }
    return route.method.lowercased() + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  private static func pathParameter(_ name: String) -> JSONValue {
    .object(
      [("name", .string(name)), ("in", "path"), ("required", true)] + media(RouteParameter.pathPart(name)))
  }

  private static func parameter(_ parameter: RouteParameter) -> JSONValue {
    .object(
      [
        ("name", .string(parameter.name)), ("in", .string(parameter.place.rawValue)),
        ("description", .string(parameter.meaning)),
      ] + media(parameter.schema))
  }

  private static func body(_ route: Route) -> JSONValue? {
    switch route.body {
    case .none: return nil
    case .json(let isRequired, let schema):
      let limit = route.bodyLimit
      return [
        "description": .string("At most \(limit.bytes) bytes and \(limit.values) JSON values."),
        "required": .bool(isRequired), "content": ["application/json": .object(media(schema()))],
      ]
    case .any(let type):
      let schema = JSONSchema(["type": ["object", "string"]], example: APIExamples.body(route))
      return [
        "description": .string("At most \(route.bodyLimit.bytes) bytes."),
        "content": .object([(type, .object(media(schema)))]),
      ]
    }
  }

  private static func media(_ schema: JSONSchema) -> [(String, JSONValue)] {
    let isShown = if case .null = schema.example { false } else { true }
    return [("schema", schema.reference)] + (isShown ? [("example", schema.example)] : [])
  }

  private static func responses(_ route: Route) -> JSONValue {
    let all = route.answers + route.refusalStatuses
    let statuses = Set(all.map(\.status)).sorted()
    return .object(statuses.map { status in ("\(status)", response(all.filter { $0.status == status })) })
  }

  /// One status may have several content types; the first answer that names one wins.
  private static func response(_ answers: [RouteAnswer]) -> JSONValue {
    var members: [(String, JSONValue)] = [("description", .optional(answers.first?.meaning))]
    var content: [(String, JSONValue)] = []
    for answer in answers where !content.contains(where: { $0.0 == answer.contentType }) {
      if let schema = answer.schema() { content.append((answer.contentType, .object(media(schema)))) }
    }
    if !content.isEmpty { members.append(("content", .object(content))) }
    return .object(members)
  }
}

extension Console {
  /// `GET /api/v1/openapi.json`
  func showOpenAPI(_ request: ConsoleRequest) throws -> HTTPResponse {
    return HTTPResponse(
      status: 200, fields: [HTTPField("Content-Type", "application/json")], body: Self.openAPI)
  }

  /// Made once: it is long, and never another.
  private static let openAPI = OpenAPIDocument.make(routeTable, version: "1").encoded
}
