import Basics
import Console
import Transport

/// The push service of Fleet's load test, as its simulated devices and its server know it
/// (`Documentation/mdm.md#fleets-load-test`). Implemented by the emulator, with `--fleet-events`.
package protocol FleetMDMService: AnyObject {
  /// `POST /3/device/{hex}`; `hex` as it stands in the path.
  func push(_ request: HTTPRequest, hex: String) -> HTTPResponse
  /// `GET /events?token=`: begins a stream, or answers why not.
  func open(hex: String?, _ exchange: HTTPExchange)
  /// `GET /stats`
  var stats: JSONValue { get }
}

/// Fleet's own paths, as Fleet has them. They are no part of the console's API, and not in its description. Before the other groups,
/// as one of them is a path of the console's, too.
package struct FleetMDMGroup: RouteGroup {
  private let fleet: any FleetMDMService

  package init(_ fleet: any FleetMDMService) { self.fleet = fleet }

  package var routes: [Route] {
    let routes: [Route] = [
      .post(
        "/3/device/{token}", "A push of Fleet's server",
        .answer { fleet.push($0.http, hex: $0.part("token")) }
      ).hidden.atLeader(of: .fleet { $0.part("token") }).takes(upTo: .large),
      .get(
        "/events", "A simulated device of Fleet's",
        .exchange { request, exchange in
          guard request.http.method == "GET" else { return exchange.answer(.eventStream()) }
          fleet.open(hex: request.http.queryValue("token"), exchange)
        }
      ).stream.standing.hidden.atLeader(of: .fleet { $0.http.queryValue("token") }),
      .get("/healthz", "Whether the process answers", .answer { _ in HTTPResponse(text: "ok") })
        .vital.hidden,
      .get("/stats", "Numbers", .answer { _ in HTTPResponse(json: fleet.stats) })
        .vital.hidden,
    ]
    return routes.map(\.open.anyQuery)
  }
}
