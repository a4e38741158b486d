import Basics
import Broker
import PushModel
import Transport

/// The console: answers requests from the table of routes. No socket of its own; an `HTTPServer` hands it exchanges.
package final class Console {
  let context: ConsoleContext
  let requestGuard: RequestGuard
  private let groups: [any RouteGroup]
  package private(set) var routes: [Route] = []
  var broker: Broker { context.broker }
  /// Whatever takes more than a moment.
  var slices: SliceScheduler { context.slices }
  /// Clients that wait for notifications.
  let waiting: WaitBoard
  /// What happens here, and who watches it: of a cluster, the other nodes.
  var ownEvents: OwnEvents { context.events }
  let eventPump: EventPump
  /// In a cluster: what happens at all nodes, for clients.
  let merged: MergedWatching?

  /// `about` is what tells of the emulator; it stands before the description of the API, and the other groups behind that.
  package init(_ context: ConsoleContext, about: [any RouteGroup], _ groups: [any RouteGroup]) {
    self.context = context
    self.groups = about + groups
    requestGuard = RequestGuard(
      hosts: HostPolicy(
        bindHost: context.bindHost, additional: context.allowedHosts, anyPort: context.accessToken != nil),
      accessToken: context.accessToken)
    waiting = WaitBoard(context.broker)
    let others = context.otherConsoles
    eventPump = EventPump(context, context.slices, context.events)
    merged = others.map { MergedWatching(context, context.slices, context.events, $0) }
    ownEvents.watch { [weak eventPump] in eventPump?.somethingHappened() }
    ownEvents.watch { [weak merged] in merged?.pump.somethingHappened() }
    watchBoard()
    let first = about.flatMap(\.routes)
    var rest = groups.flatMap(\.routes)
    insert(notificationRoutes + watchRoutes, before: "/api/v1/connections", in: &rest)
    insert(clusterRoutes, before: "/deviceservices/deviceActivation", in: &rest)
    routes = first + OpenAPIGroup(before: first, behind: rest).routes + rest
  }

  private func insert(_ new: [Route], before path: String, in routes: inout [Route]) {
    routes.insert(contentsOf: new, at: routes.firstIndex { $0.pattern.text == path } ?? routes.count)
  }

  /// How many clients watch.
  package var eventStreamCount: Int { (merged?.pump ?? eventPump).streamCount }

  /// Answers clients that wait and feeds those that watch. To be called at the end of every turn, after the commit.
  package func turnEnded() {
    slices.turnEnded()
    lookForWaits()
    ownEvents.turnEnded()
  }

  /// Answers everybody who waits and ends every stream, for an orderly end.
  package func shutDown() {
    endWaits(with: ConsoleError.goesAway.response)
    for group in groups { group.shutDown() }
    eventPump.endAll()
    merged?.end()
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
