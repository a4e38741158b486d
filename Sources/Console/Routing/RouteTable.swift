import Broker
import PushModel

/// In a cluster every node knows every device and token, and any node answers what is asked about them. What a device's node alone
/// knows (its connections, its phone, what is on its way) or does (whatever changes something, as only it may write the device's
/// zone) is `ledCount`, and passed on to that node. What is for the whole cluster is `ordered`: every node does it, in one order
/// for all. What is `spread` every node does for the zones that are its own. What came in by each node, and is in its history
/// alone, is `merged`: the node that is asked asks the others.
extension Console {
  /// Everything that the console answers (`Documentation/console-api.md`).
  static var routeTable: [Route] {
    healthRoutes + credentialRoutes + registryRoutes + deviceRoutes + streamRoutes + phoneRoutes
      + notificationRoutes
      + watchRoutes
      + controlRoutes + faultRoutes + explainRoutes + clusterRoutes
      + peerRoutes + dashboardRoutes
  }

  private static var healthRoutes: [Route] {
    [
      .get("/livez", "Whether the process answers") { $0.live($1) }.open.vital
        .answers(200, "It does", .schema("Status")),
      .get("/readyz", "Whether every listener accepts") { $0.ready($1) }.open.vital
        .answers(200, "They do", .schema("Status")).answers(
          503, "Not yet, or not any more", .error(503)),
      .get("/api/v1/info", "Version, environment, listeners, CA, clock, seed, counters") {
        try $0.showInfo($1)
      }
      .vital.answers(200, "About this emulator", .schema("Info")),
      .get("/metrics", "Metrics in the Prometheus text format") { try $0.showMetrics($1) }
        .vital.answers(200, "Metrics", .text(APIExamples.metrics), contentType: "text/plain"),
      .get("/api/v1/openapi.json", "This document") { try $0.showOpenAPI($1) }
        .answers(200, "The description", JSONSchema(["type": "object"], example: [:])),
    ]
  }

  private static var credentialRoutes: [Route] {
    [
      .get("/api/v1/ca.pem", "The certificate that clients have to trust, in PEM") {
        try $0.showCA($1)
      }
      .open.answers(200, "The certificate", .text(), contentType: "application/x-pem-file"),
      .get("/api/v1/ca.jks", "The same as a Java trust store; its password is `changeit`") {
        try $0.showTrustStore($1)
      }
      .open.answers(
        200, "The store", JSONSchema(["type": "string", "format": "binary"], example: ""),
        contentType: "application/x-java-keystore"),
      .list("/api/v1/certificates", "Push certificates that were issued") { try $0.listCertificates($1) }
        .answers(200, "Certificates; never a key", .list("certificates", of: "PushCertificate")),
      Route(
        "POST", "/api/v1/certificates", "Issues a push certificate, with a key or for a request's",
        action: .exchange { try $0.makeCertificate($1, $2) }
      )
      .needs(.schema("CertificateOrder")).refuses(409)
      .answers(201, "The certificate, and its key this once", .schema("MadeCertificate")),
      Route(
        "DELETE", "/api/v1/certificates/{sha256}",
        "Revokes a push certificate: refused in every handshake from now on",
        action: .exchange { try $0.revokeCertificate($1, $2) }
      )
      .refuses(409).answers(200, "It is revoked", .schema("RevokedCertificate")),
      .list("/api/v1/keys", "Token keys that were made") { try $0.listKeys($1) }
        .answers(200, "What is known of them; never the key", .list("keys", of: "TokenKey")),
      Route(
        "POST", "/api/v1/keys", "Makes a token key", action: .exchange { try $0.makeKey($1, $2) }
      )
      .needs(.schema("KeyOrder")).refuses(409).answers(201, "The key, this once", .schema("MadeKey")),
      Route(
        "DELETE", "/api/v1/keys/{keyId}", "Revokes a token key: its tokens are InvalidProviderToken",
        action: .exchange { try $0.revokeKey($1, $2) }
      )
      .refuses(409).answers(200, "It is revoked", .schema("RevokedKey")),
    ]
  }

  private static var registryRoutes: [Route] {
    [
      .list("/api/v1/tokens", "The table UDID, topic, environment → token, oldest first") {
        try $0.listTokens($1)
      }
      .query([.udid, .topic, .app, .deviceToken, .tokenState, .environment] + RouteParameter.page)
      .answers(200, "Rows of the table", .list("tokens", of: "Token")),
      .get("/api/v1/tokens/{token}", "One row of the table, and how its token comes to be") {
        try $0.showToken($1)
      }.answers(200, "The row with its derivation", .schema("TokenDetail")),
      .put(
        "/api/v1/tokens/{token}", "Gives an app on a device, which may be new, a token of your own choosing"
      ) {
        try $0.chooseToken($1)
      }
      // It changes the token map.
      .atLeader(of: .udidOfBody).needs(.schema("TokenClaim")).refuses(409)
      .answers(200, "The row, which was there before", .schema("Token"))
      .answers(201, "The new row", .schema("Token")),
      .list("/api/v1/channels", "Broadcast channels") { try $0.listChannels($1) }
        .answers(200, "Channels", .list("channels", of: "Channel")),
      .list("/api/v1/feedback", "What the feedback service holds, without clearing it") {
        try $0.listFeedback($1)
      }
      .query([.topic]).answers(200, "Entries, oldest first", .list("feedback", of: "FeedbackEntry")),
    ]
  }

  private static var deviceRoutes: [Route] {
    [
      .list("/api/v1/devices", "Devices that have been seen, oldest first") { try $0.listDevices($1) }
        .query([.online] + RouteParameter.page)
        .answers(200, "Devices", .list("devices", of: "Device")),
      // Whether it is connected, and by what, is known to its node.
      .list("/api/v1/devices/{udid}", "One device: connections, topics, stored notifications") {
        try $0.showDevice($1)
      }.atLeader(of: .udid).answers(200, "The device", .schema("Device")),
      Route(
        "POST", "/api/v1/devices/{udid}/erase", "Erases the phone: every app is gone",
        action: .document { try $0.eraseDevice($1) }
      )
      // It changes the token map; and so on.
      .atLeader(of: .udid).takes(.emptyObject).answers(200, "The device afterwards", .schema("Device")),
      Route(
        "POST", "/api/v1/devices/{udid}/restore",
        "Restores the phone's backup onto a new phone: every app is there, each with another token",
        action: .document { try $0.restoreDevice($1) }
      )
      .atLeader(of: .udid).takes(.emptyObject).refuses(409).answers(
        200, "The device afterwards", .schema("Device")),
      .post("/api/v1/devices/{udid}/disconnect", "Ends the device's connections; it may come back") {
        try $0.disconnectDevice($1)
      }
      .atLeader(of: .udid).takes(.emptyObject).answers(
        200, "Whether there was a connection", .schema("Disconnection")),
    ] + AppChange.allCases.filter { !$0.isOfPhone }.map(appRoute)
  }

  private static func appRoute(_ change: AppChange) -> Route {
    let summaries: [AppChange: String] = [
      .install: "Installs the app, on a device that may be new",
      .update: "Updates the app: its token stays",
      .reinstall: "Removes and installs the app: it gets another token",
      .remove: "Removes the app; providers hear of it once the device has been tried",
    ]
    return .post(
      "/api/v1/devices/{udid}/apps/{topic}/\(change.rawValue)", summaries[change] ?? change.rawValue
    ) { try $0.changeApp($1, change) }
    .atLeader(of: .udid).refuses(409).query([.environment]).takes(.emptyObject)
    .answers(200, "The app's row of the token table", .schema("Token"))
  }

  private static var streamRoutes: [Route] {
    [
      Route(
        "GET", "/api/v1/devices/{udid}/stream",
        "A device that is online as long as this is read: its notifications, as server-sent events",
        action: .exchange { try $0.streamDevice($1, $2) }
      )
      // Its reader is the device, which its node serves.
      .atLeader(of: .udid).query([.streamTopic, .environment, .streamAcknowledgement]).stream.standing
      .refuses(
        409, 503
      )
      .answers(200, "A stream without end", .text(APIExamples.events), contentType: "text/event-stream"),
      .post(
        "/api/v1/devices/{udid}/stream/ack",
        "Acknowledges notifications of a stream that was opened with `ack=explicit`"
      ) { try $0.acknowledgeStream($1) }
      .atLeader(of: .udid).refuses(409).query([.environment]).needs(.schema("StreamReceipt"))
      .takes(upTo: .large)
      .answers(200, "How many were not acknowledged before", .schema("StreamAcknowledgement")),
    ]
  }

  private static var phoneRoutes: [Route] {
    [
      .get("/api/v1/devices/{udid}/phone", "The phone of a simulated device: its screens, apps and log") {
        try $0.showPhone($1)
      }
      // What phones tell, and how they are ordered, is known where they are connected.
      .atLeader(of: .udid).refuses(409).answers(200, "The phone", .schema("Phone")),
      Route(
        "POST", "/api/v1/devices/{udid}/phone/{verb}",
        "What a person does to the phone; one that is offline is told its settings later",
        action: .exchange { try $0.orderPhone($1, $2) }
      )
      .atLeader(of: .udid).takes(.schema("PhoneOrder")).refuses(409)
      .answers(200, "What happened then", .schema("PhoneEvents"))
      .answers(202, "The phone is offline: it will be told when it is online", .schema("PhoneQueued"))
      .answers(504, "The phone has not answered", .error(504)),
    ]
  }

  private static var notificationRoutes: [Route] {
    [
      .list("/api/v1/notifications", "Notifications that came in, oldest first") {
        try $0.listNotifications($1)
      }
      .merged { try $0.mergeNotifications($1, $2, $3) }
      .query(RouteParameter.filters + RouteParameter.cursor)
      .answers(200, "Those that match, and where to go on", .schema("Notifications")),
      Route(
        "DELETE", "/api/v1/notifications", "Forgets those that match; without filters all",
        action: .document { try $0.deleteNotifications($1) }
      )
      .merged { try $0.deleteEverywhere($1, $2, $3) }
      .query(RouteParameter.filters).answers(200, "How many there were", .schema("Deletion")),
      .get("/api/v1/notifications/{id}", "One notification with headers and raw bytes") {
        try $0.showNotification($1)
      }
      .merged { try $0.findNotification($1, $2, $3) }
      .answers(200, "The notification", .schema("NotificationDetail")),
    ]
  }

  private static var watchRoutes: [Route] {
    [
      Route(
        "POST", "/api/v1/notifications/wait", "Waits until enough notifications match",
        action: .exchange { try $0.waitForNotifications($1, $2) }
      )
      .merged { try $0.mergeWait($1, $2, $3) }
      .takes(.schema("Wait")).refuses(503).answers(
        200, "As many as were asked for", .schema("Notifications")
      )
      .answers(408, "They did not come; what came nearest and why it did not match", .schema("WaitTimeout")),
      Route(
        "GET", "/api/v1/events",
        "Everything that happens, as server-sent events. Ids are `boot-number`; the first event of each stream is `boot`",
        action: .exchange { try $0.streamEvents($1, $2) }
      )
      .merged { try $0.mergeEvents($1, $2, $3) }
      .query([.eventSince]).stream.refuses(503)
      .answers(200, "A stream without end", .text(APIExamples.events), contentType: "text/event-stream"),
      .list("/api/v1/connections", "Every open connection") { try $0.listConnections($1) }
        .answers(200, "Connections", .list("connections", of: "Connection")),
    ]
  }

  private static var controlRoutes: [Route] {
    [
      Route(
        "POST", "/api/v1/push", "Sends a test push, in the name of a provider that may push to the topic",
        action: .exchange { try $0.sendTestPush($1, $2) }
      )
      // The answer tells what became of it, which its device's node knows. A provider's `/3/device/` hears a verdict alone, and goes
      // the way of all pushes.
      .atLeader(of: .tokenOrUDIDOfBody).needs(.schema("TestPush")).takes(upTo: .large).refuses(409).answers(
        200, "What became of it", .schema("NotificationDetail")),
      Route(
        "POST", "/api/v1/reset", "Forgets the parts named, or everything",
        action: .exchange { try $0.reset($1, $2) }
      )
      .ordered(doing: { try $0.resetAtOnce($1) }).takes(.schema("Reset")).answers(
        200, "What was reset", .schema("ResetDone")),
      .get("/api/v1/clock", "The emulator's clock") { try $0.showClock($1) }
        .answers(200, "The clock; the offset is in seconds", .schema("Clock")),
      Route(
        "PUT", "/api/v1/clock", "Moves, stops or starts the clock", action: .document { try $0.moveClock($1) }
      )
      .ordered(as: { try $0.absoluteClock($1) }).ordered(doing: { try $0.moveClockAtOnce($1) }).needs(
        .schema("ClockChange")
      ).answers(
        200, "The clock afterwards", .schema("Clock")),
      .list("/api/v1/export", "All that this emulator knows, as one document; no private keys") {
        try $0.exportState($1)
      }
      .refuses(409).answers(200, "The state", .schema("State")),
      Route(
        "POST", "/api/v1/import", "Makes the emulator know what a document says; twice is the same as once",
        action: .exchange { try $0.importState($1, $2) }
      )
      .spread.needs(.schema("State")).takes(upTo: .state).refuses(409)
      .answers(200, "What there was in it", .schema("Imported")),
    ]
  }

  private static var faultRoutes: [Route] {
    [
      .get("/api/v1/faults", "What goes wrong on purpose, and presets") { try $0.listFaults($1) }
        .answers(200, "Rules in the order in which they are looked at", .schema("Faults")),
      .post("/api/v1/faults", "Adds or replaces a rule; with name and enabled alone switches it") {
        try $0.setFault($1)
      }
      .ordered.needs(.schema("FaultRequest")).refuses(404, 409).answers(
        200, "The rule, which was there before", .schema("Fault")
      )
      .answers(201, "The new rule", .schema("Fault")),
      .get("/api/v1/faults/{name}", "One rule") { try $0.showFault($1) }
        .answers(200, "The rule", .schema("Fault")),
      .delete("/api/v1/faults/{name}", "Takes a rule away") { try $0.deleteFault($1) }
        .ordered.answers(200, "The rule as it was", .schema("Fault")),
    ]
  }

  private static var clusterRoutes: [Route] {
    [
      .get("/api/v1/cluster", "The cluster that this emulator is a node of: NATS servers, nodes, zones") {
        try $0.showCluster($1)
      }
      .refuses(404).answers(200, "The cluster as this node sees it", .schema("Cluster")),
      Route(
        "POST", "/api/v1/cluster/zones/{zone}", "Moves a zone to another node; any node may be asked",
        action: .exchange { try $0.moveZone($1, $2) }
      )
      .needs(.schema("ZoneMove")).refuses(409)
      .answers(200, "The zone, which moves now, or is there already", .schema("ClusterZone")),
      Route(
        "POST", "/api/v1/cluster/nodes/{node}/drain", "Hands all zones of a node over, and ends it then",
        action: .exchange { try $0.drainNode($1, $2) }
      )
      .takes(.emptyObject).answers(202, "It has begun", .schema("NodeOrder")),
      Route(
        "POST", "/api/v1/cluster/nodes/{node}/kill",
        "Ends a node at once, as `kill -9` does: to see the others take its zones over",
        action: .exchange { try $0.killNode($1, $2) }
      )
      .takes(.emptyObject).answers(202, "It ends", .schema("NodeOrder")),
      Route(
        "POST", "/api/v1/cluster/nodes/{missing}/forget",
        "Has nobody miss a node any more that will not come back; any node may be asked",
        action: .exchange { try $0.forgetNode($1, $2) }
      )
      .takes(.emptyObject).refuses(409).answers(200, "It is missed no more", .schema("NodeOrder")),
    ]
  }

  private static var peerRoutes: [Route] {
    let answer: Route.Action = .exchange { console, _, exchange in try console.push(exchange) }
    return [
      Route(
        "POST", "/deviceservices/deviceActivation", "Device activation: issues a device certificate",
        action: .exchange { console, _, exchange in try console.activateDevice(exchange) }
      )
      // With `--activation token` it asks for the token itself, on loopback too.
      .open.standsIn(for: "albert.apple.com").takes(contentType: "application/x-www-form-urlencoded")
      .refuses(401, 404)
      .answers(200, "A page with the activation record", .text(APIExamples.page), contentType: "text/html")
      .answers(400, "A page that says why not", .text(APIExamples.page), contentType: "text/html"),
      appleAnswers(
        Route("POST", "/3/device/{token}", "The provider request in plain HTTP/1.1", action: answer)
          .open.query(RouteParameter.push).takes(contentType: "application/json").answers(200, "Accepted")
          // So that a payload that is too long is refused in Apple's words.
          .takes(upTo: .large)),
      Route(Route.anyMethod, "/3/{rest*}", "Provider requests that are wrong", action: answer).open.hidden
        .takes(upTo: .large),
      Route(Route.anyMethod, "/4/{rest*}", "Broadcasts in plain HTTP/1.1", action: answer).open.hidden
        .takes(upTo: .large),
    ]
  }

  /// Every status of Apple's table with Apple's body; the console's own refusals come in the console's.
  private static func appleAnswers(_ route: Route) -> Route {
    return Set(Rejection.allCases.map(\.status)).sorted().reduce(route) { route, status in
      let example = APIExamples.reason(status)
      let both: JSONValue = ["oneOf": [.schema("Reason"), .schema("Error")]]
      return route.answers(
        status, "Rejected, with Apple's reason",
        JSONSchema(status == 400 || status == 403 ? both : .schema("Reason"), example: example))
    }
  }
}
