import PushModel
import Transport

/// A row of the table reads from left to right: method, path, what it is for, then what goes in and comes out.
extension Route {
  static func get(
    _ pattern: String, _ summary: String, _ answer: @escaping (Console, ConsoleRequest) throws -> HTTPResponse
  ) -> Route { Route("GET", pattern, summary, action: .answer(answer)) }

  /// As `get`, of what may be long.
  static func list(
    _ pattern: String, _ summary: String,
    _ answer: @escaping (Console, ConsoleRequest) throws -> GrowingDocument
  ) -> Route { Route("GET", pattern, summary, action: .document(answer)) }

  static func post(
    _ pattern: String, _ summary: String, _ answer: @escaping (Console, ConsoleRequest) throws -> HTTPResponse
  ) -> Route { Route("POST", pattern, summary, action: .answer(answer)) }

  static func put(
    _ pattern: String, _ summary: String, _ answer: @escaping (Console, ConsoleRequest) throws -> HTTPResponse
  ) -> Route { Route("PUT", pattern, summary, action: .answer(answer)) }

  static func delete(
    _ pattern: String, _ summary: String, _ answer: @escaping (Console, ConsoleRequest) throws -> HTTPResponse
  ) -> Route { Route("DELETE", pattern, summary, action: .answer(answer)) }

  /// Names parameters besides those of the path.
  func query(_ parameters: [RouteParameter]) -> Route { with { $0.parameters += parameters } }

  /// Takes a JSON body of this shape, which may be left out.
  func takes(_ schema: JSONValue) -> Route { with { $0.body = .json(schema: schema, isRequired: false) } }

  /// Takes a JSON body of this shape.
  func needs(_ schema: JSONValue) -> Route { with { $0.body = .json(schema: schema, isRequired: true) } }

  /// Takes any body.
  func takes(contentType: String) -> Route { with { $0.body = .any(contentType: contentType) } }

  /// Documents an answer.
  func answers(
    _ status: Int, _ meaning: String, _ schema: JSONValue? = nil, contentType: String = "application/json"
  ) -> Route {
    with {
      var answer = RouteAnswer(status, meaning, schema)
      answer.contentType = contentType
      $0.answers.append(answer)
    }
  }

  /// Documents refusals of its own.
  func refuses(_ statuses: Int...) -> Route { with { $0.refusals += statuses } }

  /// Needs no access token.
  var open: Route { with { $0.isPublic = true } }
  /// Is answered also when the console is full.
  var vital: Route { with { $0.isVital = true } }
  /// May also be asked by the name of the service that it stands in for.
  func standsIn(for host: String) -> Route { with { $0.host = host } }
  /// Is left out of the OpenAPI document.
  var hidden: Route { with { $0.isDocumented = false } }
  /// Gets the Origin check although it only reads.
  var stream: Route { with { $0.isStream = true } }

  private func with(_ change: (inout Route) -> Void) -> Route {
    var route = self
    change(&route)
    return route
  }
}
