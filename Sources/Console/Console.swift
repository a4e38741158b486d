import Basics
import Broker
import ConsoleAnswers
import PushModel
import Transport

/// The console: answers requests from the table of routes. No socket of its own; an `HTTPServer` hands it exchanges.
package final class Console {
  private let context: ConsoleContext
  private let requestGuard: RequestGuard
  private let groups: [any RouteGroup]
  package let table: RouteTable
  private let router: (any RequestRouter)?

  /// `about` is what tells of the emulator; it stands before the description of the API, and the other groups behind that. `router`
  /// stands in front of them all; nil without a cluster.
  package init(
    _ context: ConsoleContext, about: [any RouteGroup], _ groups: [any RouteGroup],
    router: (any RequestRouter)? = nil
  ) {
    (self.context, self.groups, self.router) = (context, about + groups, router)
    requestGuard = RequestGuard(
      hosts: HostPolicy(
        bindHost: context.bindHost, additional: context.allowedHosts, anyPort: context.accessToken != nil),
      accessToken: context.accessToken)
    let (first, rest) = (about.flatMap(\.routes), groups.flatMap(\.routes))
    table = RouteTable(first + OpenAPIGroup(before: first, behind: rest).routes + rest)
  }

  /// Answers clients that wait and feeds those that watch. To be called at the end of every turn, after the commit.
  package func turnEnded() {
    context.slices.turnEnded()
    context.waits.catchUp()
    context.events.turnEnded()
  }

  /// Answers everybody who waits and ends every stream, for an orderly end.
  package func shutDown() {
    for group in groups { group.shutDown() }
    router?.shutDown()
  }

  /// Answers one request, now or later. The handler of an `HTTPServer`.
  package func handle(_ exchange: HTTPExchange) { exchange.refusing { try dispatch(exchange) } }

  /// How long a body the route of a request takes, in bytes. For an `HTTPServer`, which asks before it reads one.
  package func bodyLimit(of request: HTTPRequest) -> Int {
    (table.find(request)?.route.bodyLimit ?? .usual).bytes
  }

  private func dispatch(_ exchange: HTTPExchange) throws {
    let request = exchange.request
    let matches = table.candidates(request)
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
    if !route.readsQuery { try call.query { _ in } }
    if let router, try router.take(call, exchange, route) { return }
    try route.perform(call, exchange, context.slices)
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
      message: "\(request.path): expected \(allow.value), got \(request.method)", fields: [allow])
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
