import Basics
import Broker
import Transport

/// Whether the emulator answers and is ready, and what it says of itself.
package struct InfoGroup: RouteGroup {
  private let broker: Broker
  private let clock: any ClockControl
  private let boot: String
  private let info: () -> EmulatorInfo
  private let unreadiness: () -> String?

  /// `boot` names this run of the emulator; `unreadiness` says why it is not ready, nil when it is.
  package init(
    _ broker: Broker, _ clock: any ClockControl, boot: String, info: @escaping () -> EmulatorInfo,
    unreadiness: @escaping () -> String?
  ) {
    (self.broker, self.clock, self.boot) = (broker, clock, boot)
    (self.info, self.unreadiness) = (info, unreadiness)
  }

  package var routes: [Route] {
    [
      .get(
        "/livez", "Whether the process answers",
        .answer { _ in HTTPResponse(json: Self.status.write("live")).claimingNothing }
      )
      .open.vital.anyQuery.answers(200, "It does", Self.status.schema),
      .get("/readyz", "Whether every listener accepts", .answer(ready)).open.vital.anyQuery
        .answers(200, "They do", Self.status.schema).answers(
          503, "Not yet, or not any more", APIExamples.error(503)),
      .get(
        "/api/v1/info", "Version, environment, listeners, CA, clock, seed, counters",
        .json {
          InfoDocument(
            info: info(), boot: boot, clock: ClockDocument(clock), now: $0.now, broker: broker)
        }
      )
      .vital.answers(200, "About this emulator", InfoDocument.schema),
    ]
  }

  private static let status = JSONShape<String>(["status": .show("live") { $0 }]).named("Status")

  /// `GET /readyz`
  private func ready(_ request: ConsoleRequest) -> HTTPResponse {
    let answer =
      unreadiness().map { HTTPResponse(status: 503, error: "notReady", $0) }
      ?? HTTPResponse(json: Self.status.write("ready"))
    return answer.claimingNothing
  }
}
