import Basics
import Broker
import PushModel
import Transport

/// The console: answers requests from the table of routes. No socket of its own; an `HTTPServer` hands it exchanges.
package final class Console {
  let context: ConsoleContext
  let requestGuard: RequestGuard
  private(set) var routes: [Route] = []
  /// The API's description: made once, as it is long and never another.
  private(set) lazy var description = OpenAPIDocument.make(routes, version: "1").encoded
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

  /// Reads what the context says about hosts and access once; everything else when it is asked for.
  package init(_ context: ConsoleContext) {
    self.context = context
    requestGuard = RequestGuard(
      hosts: HostPolicy(
        bindHost: context.bindHost, additional: context.allowedHosts, anyPort: context.accessToken != nil),
      accessToken: context.accessToken)
    slices = SliceScheduler { [unowned context] in context.makeTimer($0, $1) }
    waiting = WaitBoard(context.broker)
    let others = context.otherConsoles
    let ownEvents = OwnEvents(context.broker, now: context.now) { id in
      others.map { $0.home(of: id) != .here } ?? false
    }
    self.ownEvents = ownEvents
    eventPump = EventPump(context, slices, ownEvents)
    merged = others.map { [slices] in MergedWatching(context, slices, ownEvents, $0) }
    ownEvents.watch { [weak eventPump] in eventPump?.somethingHappened() }
    ownEvents.watch { [weak merged] in merged?.pump.somethingHappened() }
    watchBoard()
    watchPhones()
    routes = (context.fleet.map(fleetRoutes) ?? []) + routeTable
  }

  /// Answers clients that wait and feeds those that watch. To be called at the end of every turn, after the commit.
  package func turnEnded() {
    slices.turnEnded()
    lookForWaits()
    ownEvents.turnEnded()
  }

  /// Answers everybody who waits and ends every stream, for an orderly end.
  package func shutDown() {
    endWaits(with: ConsoleError.goesAway.response)
    importing?.end(
      because: .unavailable("the emulator shut down before the whole document was imported; import it again"))
    eventPump.endAll()
    merged?.end()
  }

  /// Tells watchers of something outside the broker: `connection` or `fault`.
  package func publish(_ event: String, _ members: [(String, JSONValue)]) {
    ownEvents.publish(event, members)
  }

  /// A handler of this class, which is not kept alive by it.
  func bound<Answer>(_ handler: @escaping (Console) -> (ConsoleRequest) throws -> Answer)
    -> (ConsoleRequest) throws -> Answer
  {
    { [unowned self] in try handler(self)($0) }
  }

  func bound(_ handler: @escaping (Console) -> (ConsoleRequest, HTTPExchange) throws -> Void)
    -> (ConsoleRequest, HTTPExchange) throws -> Void
  {
    { [unowned self] in try handler(self)($0, $1) }
  }

  /// Requests for all nodes that wait until the zones lie still, by their timers.
  var settling: [ObjectIdentifier: AnyObject] = [:]

  /// Answers one request, now or later. The handler of an `HTTPServer`.
  package func handle(_ exchange: HTTPExchange) { exchange.refusing { try dispatch(exchange) } }

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
    try route.perform(call, exchange, slices)
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
    guard activate(exchange, { exchange.answer($0) }) else {
      throw ConsoleError.busy("too many devices are being activated")
    }
  }

  /// `POST /3/device/{token}` in plain HTTP/1.1
  func push(_: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let push = try context.push.orUnavailable("the provider interface is not part of this run")
    push(exchange) { exchange.answer($0) }
  }
}
