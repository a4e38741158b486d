import PushModel
import Transport

/// One row of the table of routes. The table answers requests and is the source of the OpenAPI document.
struct Route {
  /// What a handler does with a request.
  enum Action {
    /// Answers at once.
    case answer((Console, ConsoleRequest) throws -> HTTPResponse)
    /// Answers with a document that may take many turns of the loop to write.
    case document((Console, ConsoleRequest) throws -> GrowingDocument)
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
  /// Statuses of this route's own refusals, besides those that `refusalStatuses` derives from what it takes.
  var refusals: [Int] = []
  /// Writes and streams are not for other people's pages, so they get the Origin check.
  var isStream = false
  /// Open to everybody who reaches the port: health checks, devices and providers prove themselves otherwise or not.
  var isPublic = false
  /// Answered also when the console is full: it tells what is wrong. Never an exchange, so that it can't be held.
  var isVital = false
  /// A name, in lower case, by which this route alone may be asked: that of the service it stands in for.
  var host: String?
  /// Whether the OpenAPI document lists it.
  var isDocumented = true
  var action: Action

  init(_ method: String, _ pattern: String, _ summary: String, action: Action) {
    (self.method, self.pattern, self.summary, self.action) = (method, PathPattern(pattern), summary, action)
  }

  /// Matches every method.
  static let anyMethod = "*"
}

/// Every status that a refused request can get is documented, so that a client's generator knows them all.
extension Route {
  private static let meanings: [Int: String] = [
    400: "Something in the request is not what it should be", 401: "The access token is missing",
    403: "The Host or the Origin is not allowed", 404: "There is no such thing",
    409: "It can't be done in the present state, or a table is full", 413: "The body is too large",
    415: "The body is not application/json",
    503: "Too many do it at once (`Retry-After` says when to try again), or it is not part of this run",
  ]

  /// Refusals that follow from what the route takes, and its own.
  var refusalStatuses: [RouteAnswer] {
    var statuses = [400, 403] + refusals + (isVital ? [] : [503])
    if !isPublic { statuses.append(401) }
    if !pattern.names.isEmpty { statuses.append(404) }
    if case .json = body { statuses += [413, 415] }
    return Set(statuses).sorted().map { RouteAnswer($0, Self.meanings[$0] ?? "Refused", .schema("Error")) }
  }
}

/// A parameter as the OpenAPI document tells it.
struct RouteParameter {
  /// Where a request has it.
  enum Place: String { case query, header }

  var name: String
  var place = Place.query
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
