import Basics
import Broker
import PushModel
import Transport

/// The console: answers requests from the table of routes. No socket of its own; an `HTTPServer` hands it exchanges.
package final class Console {
  let context: ConsoleContext
  let requestGuard: RequestGuard
  let routes: [Route]
  var broker: Broker { context.broker }
  /// Whatever takes more than a moment.
  let slices: SliceScheduler
  /// Clients that wait for notifications.
  let waiting: WaitBoard
  /// What happens here, and who watches it: of a cluster, the other nodes.
  let ownEvents: OwnEvents
  let eventPump: EventPump
  /// In a cluster: what happens at all nodes, for clients.
  let merged: MergedWatching?
  /// The document that is being imported: one at a time.
  var importing: DocumentImport?
  private var seenEvents: UInt64 = 0

  /// Reads what the context says about hosts and access once; everything else when it is asked for.
  package init(_ context: ConsoleContext) {
    self.context = context
    requestGuard = RequestGuard(
      hosts: HostPolicy(
        bindHost: context.bindHost, additional: context.allowedHosts, anyPort: context.accessToken != nil),
      accessToken: context.accessToken)
    routes = (context.fleet.map(Self.fleetRoutes) ?? []) + Self.routeTable
    slices = SliceScheduler { [unowned context] in context.makeTimer($0, $1) }
    waiting = WaitBoard(context.broker)
    let ownEvents = OwnEvents(context)
    self.ownEvents = ownEvents
    eventPump = EventPump(context, slices, ownEvents)
    merged = context.otherConsoles.map { [slices] in MergedWatching(context, slices, ownEvents, $0) }
    watchBoard()
    watchPhones()
  }

  /// Answers clients that wait and feeds those that watch. To be called at the end of every turn, after the commit.
  package func turnEnded() {
    slices.turnEnded()
    let next = broker.events.nextNumber
    guard next != seenEvents else { return }
    seenEvents = next
    lookForWaits()
    eventPump.somethingHappened()
    merged?.pump.somethingHappened()
  }

  /// Answers everybody who waits and ends every stream, for an orderly end.
  package func shutDown() {
    endWaits(with: Self.goesAway)
    importing?.end(
      because: .unavailable("the emulator shut down before the whole document was imported; import it again"))
    eventPump.endAll()
    merged?.end()
  }

  /// For who waits for what won't come any more.
  static var goesAway: HTTPResponse { ConsoleError.unavailable("the emulator is shutting down").response }

  /// Tells watchers of something outside the broker: `connection` or `fault`.
  package func publish(_ event: String, _ members: [(String, JSONValue)]) {
    guard ownEvents.publish(event, members) else { return }
    // It may happen behind the turn's end, and nothing else may wake the loop.
    eventPump.somethingHappened()
    merged?.pump.somethingHappened()
  }

  /// Requests for all nodes that wait until the zones lie still, by their timers.
  var settling: [ObjectIdentifier: AnyObject] = [:]

  /// Answers one request, now or later. The handler of an `HTTPServer`.
  package func handle(_ exchange: HTTPExchange) { refusing(exchange) { try dispatch(exchange) } }

  /// What goes wrong is the answer.
  func refusing(_ exchange: HTTPExchange, _ act: () throws -> Void) {
    do {
      try act()
    } catch {
      exchange.respond(finished(Self.refusal(error)))
    }
  }

  /// What is answered where something has gone wrong.
  static func refusal(_ error: any Error) -> HTTPResponse {
    switch error {
    case let error as ConsoleError: error.response
    case let error as DocumentError: ConsoleError.badRequest(error.description).response
    default: HTTPResponse(status: 500, error: "internal", "\(error)")
    }
  }

  /// How long a body the route of a request takes, in bytes. For an `HTTPServer`, which asks before it reads one.
  package func bodyLimit(of request: HTTPRequest) -> Int {
    let route = candidates(request).first { $0.0.matches(request) }?.0
    return (route?.bodyLimit ?? .usual).bytes
  }

  private func dispatch(_ exchange: HTTPExchange) throws {
    let request = exchange.request
    let matches = candidates(request)
    let found = matches.first { $0.0.matches(request) }
    if let response = accessGranted(request) { return exchange.respond(response) }
    if !request.isOfNode { try requestGuard.check(request, found?.0 ?? matches.first?.0) }
    let isHeard = found.map { $0.0.isVital || $0.0.isStanding } ?? false
    guard !exchange.isOnReserve || isHeard else { throw ConsoleError.full }
    guard let (route, captures) = found else {
      return exchange.respond(try unrouted(request, matches.map(\.0)))
    }
    let call = ConsoleRequest(
      http: request, captures: captures, now: context.now(), bodyLimit: route.bodyLimit)
    if !route.readsQuery { try call.query().finish() }
    if let others = context.otherConsoles {
      if try passOn(exchange, call, route) || spread(exchange, call, route) { return }
      if waitForOrders(exchange, call, route) { return }
      if let merge = route.merge, !request.isOfNode { return try merge(self)(call, exchange, others) }
    }
    if context.orders != nil, try order(exchange, call, route) { return }
    try perform(route, call, exchange)
  }

  /// Does what the route is for, here.
  func perform(_ route: Route, _ call: ConsoleRequest, _ exchange: HTTPExchange) throws {
    switch route.action {
    case .answer(let answer): exchange.respond(finished(try answer(self)(call)))
    case .document(let make): answer(try make(self)(call), to: exchange)
    case .exchange(let take): try take(self)(call, exchange)
    }
  }

  /// Answers with a document, over as many turns as it takes.
  func answer(_ document: GrowingDocument, to exchange: HTTPExchange) {
    slices.add(LongAnswer(document, to: exchange, slices) { [unowned self] in finished($0) })
  }

  /// Routes whose path matches; one without named parts rules out those with them, as `wait` is no id.
  func candidates(_ request: HTTPRequest) -> [(Route, [String: String])] {
    let matches = routes.compactMap { route in
      route.pattern.match(request.segments).map { (route, $0) }
    }
    let exact = matches.filter { $0.1.isEmpty }
    return exact.isEmpty ? matches : exact
  }

  /// A path that has no route, or not with this method.
  private func unrouted(_ request: HTTPRequest, _ matches: [Route]) throws -> HTTPResponse {
    guard !matches.isEmpty else {
      throw ConsoleError.notFound("there is nothing at \(request.path); see /api/v1/openapi.json")
    }
    var methods = matches.map(\.method) + ["OPTIONS"]
    if methods.contains("GET") { methods.append("HEAD") }
    let allow = HTTPField("Allow", Set(methods).sorted().joined(separator: ", "))
    guard request.method != "OPTIONS" else { return HTTPResponse(status: 204, fields: [allow]) }
    throw ConsoleError(
      status: 405, code: "methodNotAllowed",
      message: "\(request.path) takes \(allow.value), not \(request.method)", fields: [allow])
  }

  /// `/?access=TOKEN` turns the token into a cookie.
  private func accessGranted(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.method == "GET", request.path == "/", let token = context.accessToken,
      let offered = request.queryValue("access"), RequestGuard.isSame(offered, token),
      requestGuard.hosts.allows(request.field("host") ?? "", port: request.localPort)
    else { return nil }
    return AccessCookie.setting(token)
  }

  /// Adds what every answer has: nothing is cached, and nothing is taken for another type than it says.
  func finished(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    response.fields.append(HTTPField("X-Content-Type-Options", "nosniff"))
    if response.field("cache-control") == nil {
      response.fields.append(HTTPField("Cache-Control", "no-store"))
    }
    return response
  }
}

extension Console {
  /// `GET /livez`
  func live(_ request: ConsoleRequest) -> HTTPResponse {
    HTTPResponse(json: Self.status.write("live")).claimingNothing
  }

  static let status = JSONShape<String>(["status": .show("live") { $0 }]).named("Status")

  /// `GET /readyz`
  func ready(_ request: ConsoleRequest) -> HTTPResponse {
    let reason = context.unreadiness()
    let answer =
      reason.map { HTTPResponse(status: 503, error: "notReady", $0) }
      ?? HTTPResponse(json: Self.status.write("ready"))
    return answer.claimingNothing
  }

  /// `GET /api/v1/info`
  func showInfo(_ request: ConsoleRequest) -> HTTPResponse {
    let clock = context.clock.map(clockDocument)
    let document = InfoDocument(
      info: context.info(), boot: context.boot, clock: clock, now: request.now, broker: broker)
    return HTTPResponse(json: document.json)
  }

  /// `GET /api/v1/connections`
  func listConnections(_ request: ConsoleRequest) -> GrowingDocument {
    var connections = context.connections().makeIterator()
    return GrowingDocument([
      .list("connections") { _ in connections.next().map { .value($0().json) } ?? .end }
    ])
  }
}

/// Requests of devices and providers, which are answered elsewhere.
extension Console {
  /// `POST /deviceservices/deviceActivation` (`Documentation/device-protocol.md#activation`)
  func activateDevice(_: ConsoleRequest, _ exchange: HTTPExchange) throws {
    switch context.activation {
    case .open: break
    case .token(let token): try RequestGuard.checkAccess(exchange.request, token)
    case .off:
      throw ConsoleError.notFound(
        "devices are not activated here (--activation off); certs device --udid UDID issues an identity")
    }
    let activate = try context.activate.orUnavailable("there is no activation")
    guard activate(exchange, { [unowned self] in exchange.respond(finished($0)) }) else {
      throw ConsoleError.busy("too many devices are being activated")
    }
  }

  /// `POST /3/device/{token}` in plain HTTP/1.1
  func push(_: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let push = try context.push.orUnavailable("the provider interface is not part of this run")
    push(exchange) { [unowned self] in exchange.respond(finished($0)) }
  }
}
