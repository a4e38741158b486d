import PushModel
import Transport

/// The push service of Fleet's load test, as its simulated devices and its server know it
/// (`Documentation/mdm.md#fleets-load-test`). Implemented by the emulator, with `--fleet-events`.
public protocol FleetMDMService: AnyObject {
  /// `POST /3/device/{hex}`; `hex` as it stands in the path.
  func push(_ request: HTTPRequest, hex: String) -> HTTPResponse
  /// `GET /events?token=`: begins a stream, or answers why not.
  func open(hex: String?, _ exchange: HTTPExchange)
  /// `GET /stats`
  var stats: JSONValue { get }
}

extension Console {
  /// Fleet's own paths, as Fleet has them. They are no part of the console's API, and not in its description.
  static func fleetRoutes(_ fleet: any FleetMDMService) -> [Route] {
    [
      Route(
        "POST", "/3/device/{token}", "A push of Fleet's server",
        action: .answer { [unowned fleet] in fleet.push($1.http, hex: $1.part("token")) }
      ).open.hidden.atLeader(of: .fleet { $0.part("token") }).takes(upTo: .large),
      Route(
        "GET", "/events", "A simulated device of Fleet's",
        action: .exchange { [unowned fleet] in
          guard $1.http.method == "GET" else { return $2.respond($0.finished(.eventStream())) }
          fleet.open(hex: $1.http.queryValue("token"), $2)
        }
      ).open.stream.standing.hidden.atLeader(of: .fleet { $0.http.queryValue("token") }),
      .get("/healthz", "Whether the process answers") { _, _ in HTTPResponse(text: "ok") }.open.vital.hidden,
      .get("/stats", "Numbers") { [unowned fleet] _, _ in HTTPResponse(json: fleet.stats) }.open.vital.hidden,
    ]
  }
}
