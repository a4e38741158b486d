import Basics
import Transport

/// Why a request to the console is refused; becomes `{"error": {"code": …, "message": …}}`
/// (`Documentation/console-api.md`).
package struct ConsoleError: Error, Equatable, CustomStringConvertible {
  package var status: Int
  package var code: String
  package var message: String
  package var fields: [HTTPField]

  package init(status: Int, code: String, message: String, fields: [HTTPField] = []) {
    (self.status, self.code, self.message, self.fields) = (status, code, message, fields)
  }

  package var description: String { message }
  package var response: HTTPResponse { HTTPResponse(status: status, error: code, message, fields: fields) }

  /// What is answered where something has gone wrong.
  package static func response(to error: any Error) -> HTTPResponse {
    switch error {
    case let error as ConsoleError: error.response
    case let error as DocumentError: badRequest(error.description).response
    default: failed("\(error)").response
    }
  }

  package static func == (left: ConsoleError, right: ConsoleError) -> Bool { left.code == right.code }

  /// Some text in the query, the path or the body is not what it should be.
  package static func bad(_ name: String, expected: String, got: String) -> ConsoleError {
    badRequest(DocumentError(name, expected: expected, got: .string(got)).description)
  }

  /// Something of ours has gone wrong.
  package static func failed(_ message: String) -> ConsoleError {
    ConsoleError(status: 500, code: "internal", message: message)
  }

  package static func badRequest(_ message: String) -> ConsoleError {
    ConsoleError(status: 400, code: "badRequest", message: message)
  }

  package static func notFound(_ message: String) -> ConsoleError {
    ConsoleError(status: 404, code: "notFound", message: message)
  }

  /// A table takes no more: `what` names what there may be `limit` of.
  package static func full(_ what: String, limit: Int) -> ConsoleError {
    conflict("the limit of \(limit) is reached for \(what)")
  }

  package static func conflict(_ message: String) -> ConsoleError {
    ConsoleError(status: 409, code: "conflict", message: message)
  }

  /// The request, or a list in it, is longer than what is taken.
  package static func tooMuch(_ message: String) -> ConsoleError {
    ConsoleError(status: 413, code: HTTPStatus.errorCode(413), message: message)
  }

  package static func forbidden(_ message: String) -> ConsoleError {
    ConsoleError(status: 403, code: "forbidden", message: message)
  }

  /// The feature is not part of this run.
  package static func unavailable(_ message: String) -> ConsoleError {
    ConsoleError(status: 503, code: "unavailable", message: message)
  }

  /// Too many do it now; later it may work.
  package static func busy(_ message: String) -> ConsoleError {
    var error = unavailable(message)
    error.fields = [HTTPField("Retry-After", "\(retrySeconds)")]
    return error
  }

  /// For who waits for what won't come any more.
  package static var goesAway: ConsoleError { unavailable("the emulator is shutting down") }

  /// Every connection is taken but those that are kept for vital routes.
  package static var full: ConsoleError {
    busy("every connection of the console is in use; only health, info and metrics are still answered")
  }

  /// When somebody who was turned away may come again, in seconds: the least that the field can say (RFC 9110 10.2.3).
  private static let retrySeconds = 1
}
