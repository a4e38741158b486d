import Basics
import ConsoleAnswers
import PushModel
import Transport

/// Runs drills with a server that does not end, and so has to be told of them.
package protocol DrillBoard: AnyObject {
  /// What there is, and the run that goes on.
  var overview: DrillOverview { get }
  /// Begins a run: `baseline`, or the drill of that id. `ended` gets the verdict, once.
  ///
  /// - Parameter timeout: how long the server may take, in milliseconds; nil for as long as a command may.
  /// - Throws: `ConsoleError` if it can't be run now, or there is no such drill; then nothing is called.
  func begin(_ id: String, timeout: Int64?, ended: @escaping (Result<DrillOutcome, ConsoleError>) -> Void)
    throws
  /// The server has done all that it will. With `notSent` it has told which pushes it could not send. Answers the id of the run.
  func complete(notSent: [CustomToken]?) throws -> String
  /// Nobody waits for the verdict any more: the run ends without one.
  func abandon()
}

/// Drills of a server that runs.
package struct DrillGroup: RouteGroup {
  /// How long a run may take, in milliseconds. The longest leaves a person time to start something by hand.
  package static let timeouts: ClosedRange<Int64> = 100...600_000

  private let board: (any DrillBoard)?

  /// Without a board the routes say how to get one.
  package init(_ board: (any DrillBoard)?) { self.board = board }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/drills", "Drills for a server that runs, and the run that goes on",
        .json { _ in try present.overview }
      )
      .answers(200, "All drills, and the tokens of the run that goes on", DrillOverview.schema),
      .post(
        "/api/v1/drills/complete",
        "Says that the server has done all that it will: the run that goes on is judged", .json(complete)
      )
      .takes(DrillCompletion.schema).takes(upTo: .large).refuses(409)
      .answers(200, "The run that is judged", CompletedDrill.schema),
      .post(
        "/api/v1/drills/{drill}",
        "Begins a run: the drill of this id, or `baseline`. Answers once the run is over", .exchange(begin)
      )
      .takes(DrillRequest.schema).refuses(409)
      .answers(200, "What became of the pushes, whatever the verdict", DrillOutcome.schema),
    ]
  }

  private var present: any DrillBoard {
    get throws {
      guard let board else {
        throw ConsoleError.unavailable(
          "this emulator runs no drills; start one that does with: apns-emulator drill --serve")
      }
      return board
    }
  }

  /// `POST /api/v1/drills/{drill}`
  private func begin(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let board = try present
    let asked = try DrillRequest.form.read(request.object(), from: DrillRequest())
    try board.begin(request.part("drill"), timeout: asked.timeout) { ended in
      switch ended {
      case .success(let outcome): exchange.answer(HTTPResponse(json: outcome.json))
      case .failure(let error): exchange.answer(error.response)
      }
    }
    exchange.whenGone { board.abandon() }
  }

  /// `POST /api/v1/drills/complete`
  private func complete(_ request: ConsoleRequest) throws -> CompletedDrill {
    let asked = try DrillCompletion.form.read(request.object(), from: DrillCompletion())
    return CompletedDrill(id: try present.complete(notSent: asked.notSent))
  }
}

/// What `POST /api/v1/drills/{drill}` takes.
struct DrillRequest: JSONDocument {
  var timeout: Int64?

  static let form = JSONForm<DrillRequest>([JSONField("timeoutMs", .whole(DrillGroup.timeouts), \.timeout)])
  static let schema = JSONSchema("DrillRequest", form.schema, example: ["timeoutMs": 20_000])
}

/// What `POST /api/v1/drills/complete` takes.
struct DrillCompletion: JSONDocument {
  var notSent: [CustomToken]?

  static let form = JSONForm<DrillCompletion>([
    JSONField("notSent", .list(of: .customToken, "device tokens"), \.notSent)
  ])
  static let schema = JSONSchema("DrillCompletion", form.schema, example: ["notSent": [JSONExample.token]])
}

struct CompletedDrill: JSONAnswer {
  let id: String

  static let shape: JSONShape<CompletedDrill> = ["id": .show("goaway-graceful") { $0.id }]
}
