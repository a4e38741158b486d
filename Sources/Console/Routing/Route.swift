import PushModel
import Transport

/// One row of the table of routes. The table answers requests and is the source of the OpenAPI document.
struct Route {
  /// What a handler does with a request.
  enum Action {
    /// Answers at once.
    case answer((Console, ConsoleRequest) throws -> HTTPResponse)
    /// Takes the exchange and answers later, or in a stream.
    case exchange((Console, ConsoleRequest, HTTPExchange) throws -> Void)
  }

  /// What a request carries.
  enum Body {
    case none
    /// `application/json`.
    case json(schema: JSONValue, isRequired: Bool)
    /// Whatever a device or a provider sends.
    case any(contentType: String)
  }

  var method: String
  var pattern: PathPattern
  var summary: String
  var parameters: [RouteParameter] = []
  var body = Body.none
  /// Documented answers: status and meaning, with the schema of a JSON body.
  var answers: [RouteAnswer] = []
  /// Writes and streams are not for other people's pages, so they get the Origin check.
  var isStream = false
  /// Open to everybody who reaches the port: health checks, devices and providers prove themselves otherwise or not.
  var isPublic = false
  /// Whether the OpenAPI document lists it.
  var isDocumented = true
  var action: Action

  init(_ method: String, _ pattern: String, _ summary: String, action: Action) {
    (self.method, self.pattern, self.summary, self.action) = (method, PathPattern(pattern), summary, action)
  }

  /// Matches every method.
  static let anyMethod = "*"
}

/// A query parameter as the OpenAPI document tells it.
struct RouteParameter {
  var name: String
  var meaning: String
  var schema: JSONValue

  init(_ name: String, _ meaning: String, _ schema: JSONValue = ["type": "string"]) {
    (self.name, self.meaning, self.schema) = (name, meaning, schema)
  }
}

/// One documented answer.
struct RouteAnswer {
  var status: Int
  var meaning: String
  var contentType = "application/json"
  var schema: JSONValue?

  init(_ status: Int, _ meaning: String, _ schema: JSONValue? = nil) {
    (self.status, self.meaning, self.schema) = (status, meaning, schema)
  }
}
