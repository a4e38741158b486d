import Basics
import PushModel

/// In a cluster every node knows every device and token, and any node answers what is asked about them. What a device's node alone
/// knows (its connections, its phone, what is on its way) or does (whatever changes something, as only it may write the device's
/// zone) is `ledCount`, and passed on to that node. What is for the whole cluster is `ordered`: every node does it, in one order
/// for all. What is `spread` every node does for the zones that are its own. What came in by each node, and is in its history
/// alone, is `merged`: the node that is asked asks the others.
extension Console {
  /// Everything that the console answers (`Documentation/console-api.md`).
  var routeTable: [Route] {
    healthRoutes + credentialRoutes + registryRoutes + deviceRoutes + streamRoutes + phoneRoutes
      + notificationRoutes
      + watchRoutes
      + controlRoutes + faultRoutes + explainRoutes + clusterRoutes
      + peerRoutes + dashboardRoutes
  }

  private var healthRoutes: [Route] {
    [
      .get("/livez", "Whether the process answers", .answer(bound(Console.live))).open.vital.anyQuery
        .answers(200, "It does", Self.status.schema),
      .get("/readyz", "Whether every listener accepts", .answer(bound(Console.ready))).open.vital.anyQuery
        .answers(200, "They do", Self.status.schema).answers(
          503, "Not yet, or not any more", APIExamples.error(503)),
      .get(
        "/api/v1/info", "Version, environment, listeners, CA, clock, seed, counters",
        .answer(bound(Console.showInfo))
      )
      .vital.answers(200, "About this emulator", InfoDocument.schema),
      .get("/metrics", "Metrics in the Prometheus text format", .answer(bound(Console.showMetrics)))
        .vital.answers(200, "Metrics", .text(APIExamples.metrics), contentType: "text/plain"),
      .get("/api/v1/openapi.json", "This document", .answer(bound(Console.showOpenAPI)))
        .answers(200, "The description", JSONSchema(["type": "object"], example: [:])),
    ]
  }

  private var watchRoutes: [Route] {
    [
      .post(
        "/api/v1/notifications/wait", "Waits until enough notifications match",
        .exchange(bound(Console.waitForNotifications))
      )
      .merged(Console.mergeWait).takes(NotificationWait.schema).refuses(503)
      .answers(200, "As many as were asked for", NotificationAnswer.found.schema)
      .answers(
        408, "They did not come; what came nearest and why it did not match",
        NotificationAnswer.timeout.schema),
      .get(
        "/api/v1/events",
        "Everything that happens, as server-sent events. Ids are `boot-number`; the first event of each stream is `boot`",
        .exchange(bound(Console.streamEvents))
      )
      .merged(Console.mergeEvents).query([.eventSince]).stream.refuses(503)
      .answers(200, "A stream without end", .text(APIExamples.events), contentType: "text/event-stream"),
      .get("/api/v1/connections", "Every open connection", .document(bound(Console.listConnections)))
        .answers(200, "Connections", .list("connections", of: ConnectionReport.schema)),
    ]
  }

  private var controlRoutes: [Route] {
    [
      .post(
        "/api/v1/push", "Sends a test push, in the name of a provider that may push to the topic",
        .exchange(bound(Console.sendTestPush))
      )
      // The answer tells what became of it, which its device's node knows. A provider's `/3/device/` hears a verdict alone, and goes
      // the way of all pushes.
      .atLeader(of: .tokenOrUDIDOfBody).needs(TestPush.schema).takes(upTo: .large).refuses(409)
      .answers(200, "What became of it", NotificationDocument.whole.schema),
      .post("/api/v1/reset", "Forgets the parts named, or everything", .exchange(bound(Console.reset)))
        .ordered(doing: bound(Console.resetAtOnce)).takes(ResetRequest.schema)
        .answers(200, "What was reset", ResetPart.done.schema),
      .get("/api/v1/clock", "The emulator's clock", .answer(bound(Console.showClock)))
        .answers(200, "The clock; the offset is in seconds", ClockDocument.schema),
      .put("/api/v1/clock", "Moves, stops or starts the clock", .document(bound(Console.moveClock)))
        .ordered(as: bound(Console.absoluteClock)).ordered(doing: bound(Console.moveClockAtOnce))
        .needs(ClockChange.schema).answers(200, "The clock afterwards", ClockDocument.schema),
      .get(
        "/api/v1/export", "All that this emulator knows, as one document; no private keys",
        .document(bound(Console.exportState))
      )
      .refuses(409).answers(200, "The state", SavedState.schema),
      .post(
        "/api/v1/import", "Makes the emulator know what a document says; twice is the same as once",
        .exchange(bound(Console.importState))
      )
      .spread.needs(SavedState.schema).takes(upTo: .state).refuses(409)
      .answers(200, "What there was in it", StateImport.Counts.shape.schema),
    ]
  }

  private var peerRoutes: [Route] {
    [
      .post(
        "/deviceservices/deviceActivation", "Device activation: issues a device certificate",
        .exchange(bound(Console.activateDevice))
      )
      // With `--activation token` it asks for the token itself, on loopback too.
      .open.anyQuery.standsIn(for: "albert.apple.com").takes(contentType: "application/x-www-form-urlencoded")
      .refuses(401, 404)
      .answers(200, "A page with the activation record", .text(APIExamples.page), contentType: "text/html")
      .answers(400, "A page that says why not", .text(APIExamples.page), contentType: "text/html"),
      appleAnswers(
        .post("/3/device/{token}", "The provider request in plain HTTP/1.1", .exchange(bound(Console.push)))
          .open.query(RouteParameter.push).takes(contentType: "application/json").answers(200, "Accepted")
          // So that a payload that is too long is refused in Apple's words.
          .takes(upTo: .large)),
      Route(Route.anyMethod, "/3/{rest*}", "Provider requests that are wrong", .exchange(bound(Console.push)))
        .open.anyQuery.hidden.takes(upTo: .large),
      Route(Route.anyMethod, "/4/{rest*}", "Broadcasts in plain HTTP/1.1", .exchange(bound(Console.push)))
        .open.anyQuery.hidden.takes(upTo: .large),
    ]
  }

  /// Every status of Apple's table with Apple's body; the console's own refusals come in the console's.
  private func appleAnswers(_ route: Route) -> Route {
    Set(Rejection.allCases.map(\.status)).sorted().reduce(route) { route, status in
      route.answers(status, "Rejected, with Apple's reason", APIExamples.reason(status))
    }
  }
}
