import Basics
import PushModel
import Transport

/// The API's description (OpenAPI 3.1), made from the table of routes, so that the two can't differ.
package enum OpenAPIDocument {
  package static func make(_ routes: [Route], version: String) -> JSONValue {
    let routes = routes.filter(\.isDocumented)
    var paths: [(String, JSONValue)] = []
    for pattern in routes.map(\.pattern.text) where !paths.contains(where: { $0.0 == pattern }) {
      let operations = routes.filter { $0.pattern.text == pattern }
      paths.append((pattern, .object(operations.map { ($0.method.lowercased(), operation($0)) })))
    }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "apns-emulator console", "version": .string(version),
        "description":
          "Inspect notifications and devices, wait for them, inject faults, and reset the emulator.",
      ],
      "servers": [["url": "/"]], "paths": .object(paths),
      "components": ["schemas": .object(schemas(routes))],
    ]
  }

  /// Those with a name that routes take and answer, with what these refer to.
  private static func schemas(_ routes: [Route]) -> [(String, JSONValue)] {
    var definitions: [String: JSONValue] = [:]
    for route in routes {
      var schemas = (route.answers + route.refusalStatuses).compactMap { $0.schema() }
      if case .json(_, let schema) = route.body { schemas.append(schema()) }
      for schema in schemas.flatMap(\.named) { definitions[schema.name ?? ""] = schema.definition }
    }
    return definitions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
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

/// Tells of all routes.
package final class OpenAPIGroup: RouteGroup {
  private let before: [Route]
  private let behind: [Route]
  /// Made once: it is long, and never another.
  private lazy var document = OpenAPIDocument.make(before + routes + behind, version: "1").encoded

  /// The others, in the order of the description: those before its own and those behind it.
  package init(before: [Route], behind: [Route]) { (self.before, self.behind) = (before, behind) }

  package var routes: [Route] {
    [
      .get("/api/v1/openapi.json", "This document", .json { [self] _ in JSONValue.verbatim(document) })
        .answers(200, "The description", JSONSchema(["type": "object"], example: [:]))
    ]
  }
}

/// What requests look like and what comes back, for the API's description.
package enum APIExamples {
  static let metrics: JSONValue = "# TYPE apns_emulator_devices gauge\napns_emulator_devices 1\n"
  package static let events: JSONValue =
    "retry: 1000\n\nid: x-1\nevent: reset\ndata: {\"event\":\"reset\"}\n\n"
  static let page: JSONValue = "<html><head></head><body>…</body></html>"

  /// The body of a request that may be any.
  static func body(_ route: Route) -> JSONValue {
    route.pattern.text == "/3/device/{token}" ? JSONExample.payload : .string(activationForm)
  }

  /// Apple's refusals of one status; where the console refuses as well, the words may be its own.
  static func reason(_ status: Int) -> JSONSchema {
    let rejection = Rejection.allCases.first { $0.status == status }
    let reason = ("reason", JSONValue.optional(rejection?.reason))
    let schema = JSONSchema(
      "Reason",
      [
        "type": "object", "required": ["reason"],
        "properties": ["reason": .words(JSONValue.reasons), "timestamp": ["type": "integer"]],
      ], example: .object(status == 410 ? [reason, ("timestamp", 1_767_323_045_678)] : [reason]))
    guard status == 400 || status == 403 else { return schema }
    let error = HTTPResponse.error.schema
    return JSONSchema(
      nil, ["oneOf": [schema.reference, error.reference]], example: schema.example,
      parts: [schema, error])
  }

  /// The console's own refusal.
  static func error(_ status: Int) -> JSONSchema {
    let (code, message) =
      switch status {
      case 401: ("unauthorized", "this console requires its access token")
      case 403: ("forbidden", "the origin \"http://example.com\" may not do this")
      case 404: ("notFound", "device phone-1 is unknown; connect it, or install an app on it")
      case 409: ("conflict", "there are too many topics")
      case 413: ("bodyTooLarge", "the body is larger than 16777216 bytes")
      case 415:
        ("unsupportedMediaType", "the body: expected Content-Type application/json, got \"text/plain\"")
      case 503: ("unavailable", "800 clients are waiting already")
      default: ("badRequest", "limit: expected a number from 1 to 10000, got \"0\"")
      }
    return HTTPResponse.error.schema.showing(HTTPResponse.error.write((code, message)))
  }

  // MARK: Activation

  /// What a device posts (`Documentation/device-protocol.md#activation`): a property list in a form, with another one
  /// in it that has the certificate request.
  private static var activationForm: String {
    let information = plist(
      "<key>UniqueDeviceID</key><string>phone-1</string>" + data("DeviceCertRequest", csr))
    return "activation-info=" + PercentEncoding.encode(plist(data("ActivationInfoXML", information)))
  }

  private static func plist(_ members: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\(members)</dict></plist>"
  }

  private static func data(_ name: String, _ text: String) -> String {
    "<key>\(name)</key><data>\(Base64.encode(Array(text.utf8)))</data>"
  }

  /// For a key that nobody has any more.
  private static let csr = """
    -----BEGIN CERTIFICATE REQUEST-----
    MIIBUTCBuwIBADASMRAwDgYDVQQDDAdwaG9uZS0xMIGfMA0GCSqGSIb3DQEBAQUA
    A4GNADCBiQKBgQCnlp+KAyNrP/UI8baeYh4GUV+upWyoQJGPl++zlxELtq5g8di3
    3ABhvGNhaIZlE+/ONwLvbT5kdwCDCzPO7qm+c/faIiOw0ioBFbt8HvkZw70KTB/r
    I9GslEopLh2ZoI0Imsj2664ctkwJ49M820BDS4Wo9iX10qvRqqEGzAsIvwIDAQAB
    oAAwDQYJKoZIhvcNAQELBQADgYEAYNQk2D1v7v6vZLioKiNXix/7AGuSllaA8fhc
    z7QnUopcUK5hYtMaG42s9XRRZUjiTTEBkJcptYRxF5iAMxYlqRRWQPsc6SoVLI+8
    /YjCx+EeqI36zRNoqPk0Livjt3vFhBfMPxKMjaPlz4CyXNJkxmTKt3fBJKOdYDjO
    g5IPZjc=
    -----END CERTIFICATE REQUEST-----

    """
}
