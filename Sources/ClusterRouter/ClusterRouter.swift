import Basics
import Broker
import Console
import ConsoleAnswers
import PushModel
import Services
import Transport

/// Stands in front of a node's routes, and does what the nodes of a cluster do together: each request is carried out where its
/// route's place is (`RoutePlace`). Between nodes goes what clients ask, and the answers are documents or server-sent events, as
/// clients get them; a wait alone is asked for in parts (`MergedWait`).
package final class ClusterRouter: RequestRouter {
  /// How long another node may say nothing before it is left out, in nanoseconds: a node that lives answers in milliseconds, and who
  /// asks waits for it.
  package static let otherTimeout: Int64 = 2_000_000_000
  /// How long the others have for what they have found when a wait ends, in nanoseconds: who waits has said how long he will.
  package static let waitGrace: Int64 = 500_000_000
  /// How often it is looked whether the zones lie still, and the pause between, in nanoseconds.
  private static let settlingTries = 200
  private static let settlingPause: Int64 = 50_000_000

  private let context: ConsoleContext
  private let others: any OtherConsoles
  /// nil where nothing is done in one order.
  private let orders: (any NodeOrders)?
  private let events: EventFollower
  /// Requests that another node was asked to answer, as a count.
  private var relayed = 0
  /// Requests for all nodes that wait until the zones lie still, by their timers.
  private var settling: [ObjectIdentifier: AnyObject] = [:]

  package init(_ context: ConsoleContext, _ others: any OtherConsoles, _ orders: (any NodeOrders)?) {
    (self.context, self.others, self.orders) = (context, others, orders)
    events = EventFollower(context, others)
  }

  package var watcherCount: Int { events.pump.streamCount }

  package var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_relayed_requests_total", .counter,
        "Requests to the console that another node was asked to answer.", value: relayed)
    ]
  }

  package func shutDown() { events.end() }

  package func take(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route) throws -> Bool {
    switch route.place {
    case .leader(of: let device):
      return try passOn(request, exchange, to: device, isEndless: route.isStanding)
    case .node(let inCharge): return try passOn(request, exchange, to: inCharge(request))
    case .spread:
      spread(request, exchange, route, tries: Self.settlingTries)
      return true
    case .ordered(let body, _): return try order(request, exchange, body)
    case .here, .home, .merged: break
    }
    guard !request.http.isOfNode else {
      if !waitsForOrders(request, exchange, route) { try answer(request, exchange, route) }
      return true
    }
    if case .merged(let merged) = route.place {
      try merge(merged, request, exchange, route)
      return true
    }
    guard case .home = route.place, let id = UInt64(request.part("id")),
      case .at(let node) = others.home(of: id)
    else { return false }
    pass(exchange, to: node)
    return true
  }

  private func merge(
    _ merged: MergedAnswer, _ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route
  ) throws {
    switch merged {
    case .list: try list(request, exchange)
    case .deletion: try delete(request, exchange)
    case .wait: try wait(request, exchange)
    case .events: try events.answer(request, exchange)
    case .advice: try advise(request, exchange, route)
    }
  }

  /// Answers another node for this one alone.
  private func answer(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route) throws {
    switch route.place {
    case .merged(.wait): return try waitForNode(request, exchange)
    case .merged(.events): exchange.connection?.stand(stallTime: others.stallTime)
    default: break
    }
    try route.perform(request, exchange, context.slices)
  }

  // MARK: At another node

  /// Has the node answer that has the device which the request is about; false if that is this one, or none.
  private func passOn(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, to device: RouteDevice, isEndless: Bool
  ) throws -> Bool {
    guard let udid = self.device(device, of: request) else { return false }
    switch others.place(of: udid) {
    case .here: return false
    case .nowhere: throw ConsoleError.busy("the zone of \(udid.text) has no leader at the moment")
    case .at(let node):
      // What this node knows is newer than what that knew which has asked it.
      guard !request.http.isOfNode else {
        throw ConsoleError.busy("the zone of \(udid.text) has just moved to another node")
      }
      pass(exchange, to: node, about: udid, isEndless: isEndless)
      return true
    }
  }

  private func passOn(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, to node: NodeInCharge?
  ) throws -> Bool {
    guard let node else { return false }
    guard !request.http.isOfNode else { throw node.wasElsewhere }
    guard others.names.contains(node.name) else { throw node.isNowhere }
    pass(exchange, to: node.name)
    return true
  }

  private func pass(
    _ exchange: HTTPExchange, to node: String, about device: UDID? = nil, isEndless: Bool = false
  ) {
    relayed += 1
    PassedAnswer(node, to: exchange, stallTime: isEndless ? others.stallTime : nil).ask(others, about: device)
  }

  /// The device that a request is about; nil for none that is known: then the node that was asked says what is wrong, or makes it.
  private func device(_ device: RouteDevice, of request: ConsoleRequest) -> UDID? {
    func text(_ name: String) -> String? {
      (try? request.object()).flatMap { JSONValue.object($0.members).string(name) }
    }
    switch device {
    case .udid: return UDID(request.part("udid"))
    case .udidOfBody: return text("udid").flatMap { UDID($0) }
    case .tokenOrUDIDOfBody: return owner(of: text("token")) ?? text("udid").flatMap { UDID($0) }
    case .fleet(let token):
      let hex = token(request)
      return owner(of: hex) ?? hex.flatMap { CustomToken(hex: $0) }.flatMap { UDID($0.name) }
    }
  }

  private func owner(of hex: String?) -> UDID? {
    let registry = context.broker.registry
    return hex.flatMap { CustomToken(hex: $0) }.flatMap { registry.find($0) }.map {
      registry[registry[$0].device].udid
    }
  }

  // MARK: At every node

  /// Has all nodes carry out the request; false if it is for this one alone.
  private func order(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ body: Route.Handler<[UInt8]>?
  ) throws -> Bool {
    guard let orders else { return false }
    let http = request.http
    let order = OrderedRequest(method: http.method, path: http.path, body: try body?(request) ?? http.body)
    orders.order(order) { response, because in
      guard let response else {
        return exchange.answer(
          ConsoleError.unavailable("the other nodes can't be notified: \(because)").response)
      }
      exchange.respond(response)
    }
    return true
  }

  /// What another node asks waits until this one has carried out the orders that that has; false if it need not.
  private func waitsForOrders(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route) -> Bool {
    guard let orders, let number = request.http.field(OrderedRequest.lastOrderField).flatMap({ UInt64($0) }),
      number > orders.lastOrder
    else { return false }
    return orders.whenCarriedOut(number) { [unowned self] in
      exchange.refusing { try answer(request, exchange, route) }
    }
  }

  /// Another node is to answer behind all orders that this one has carried out: what was reset here is reset there.
  private func ordered(_ request: HTTPRequest) -> HTTPRequest {
    guard let orders else { return request }
    var request = request
    request.fields.append(HTTPField(OrderedRequest.lastOrderField, String(orders.lastOrder)))
    return request
  }

  /// Has all other nodes do it first, then this one.
  private func spread(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route, tries: Int) {
    guard others.isSettled else {
      guard tries > 0 else {
        return exchange.answer(ConsoleError.busy("zones are moving between nodes").response)
      }
      let timer = context.makeTimer(Self.settlingPause) { [weak self] in
        self?.settling[ObjectIdentifier(exchange)] = nil
        self?.spread(request, exchange, route, tries: tries - 1)
      }
      return settling[ObjectIdentifier(exchange)] = timer
    }
    guard !request.http.isOfNode else {
      if waitsForOrders(request, exchange, route) { return }
      return exchange.refusing { try answer(request, exchange, route) }
    }
    askAll(request.http, exchange, timeout: nil) { [context] _ in
      try route.perform(request, exchange, context.slices)
    }
  }

  /// Has all other nodes do what is asked, which is answered only if they have; `done` gets what each has said.
  private func askAll(
    _ request: HTTPRequest, _ exchange: HTTPExchange, timeout: Int64?,
    done: @escaping (_ answers: [JSONValue?]) throws -> Void
  ) {
    let nodes = others.names
    var over: [NodeAnswer] = []
    let conclude = {
      let failures = over.compactMap(\.failure)
      guard failures.isEmpty else { return exchange.answer(Self.notDone(failures)) }
      exchange.refusing { try done(over.map { JSONReader.read($0.rest) }) }
    }
    guard !nodes.isEmpty else { return conclude() }
    for node in nodes {
      let answer = NodeAnswer(node, .whole) {
        guard $0.isOver else { return }
        over.append($0)
        if over.count == nodes.count { conclude() }
      }
      answer.ask(others, ordered(request), timeout: timeout)
    }
  }

  /// Not all nodes have done what all are to do.
  private static func notDone(_ failures: [String]) -> HTTPResponse {
    let sentence = "not all nodes have done it; repeating the request is safe: "
    return ConsoleError.busy(sentence + failures.sorted().joined(separator: "; ")).response
  }

  // MARK: What came in by any node

  /// `GET /api/v1/notifications`
  private func list(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    // Both must be given once, before each node gets its part.
    _ = try QueryReader(request.http.query)
    var query = try QueryReader(request.http.part { others.home(of: $0) == .here }.query)
    let search = try NotificationSearch(&query)
    try query.finish()
    let merged = MergedHistory(
      search.begin(context.broker), context.broker, limit: search.limit, isNewestFirst: search.isNewestFirst,
      lost: Set(others.missing))
    for name in others.names {
      let isItsOwn = { [others] in others.home(of: $0) == .at(name) }
      var part = ordered(request.http.part(isItsOwn: isItsOwn))
      part.method = "GET"
      let cursor = request.http.queryValue(search.isNewestFirst ? "before" : "since")
      merged.ask(
        name, others, part, after: cursor.flatMap(HistoryCursor.init)?.ids.first(where: isItsOwn),
        timeout: Self.otherTimeout)
    }
    merged.answer(exchange, context.slices)
  }

  /// `DELETE /api/v1/notifications`: the others first, so that who hears of success need not do it again.
  private func delete(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let filter = try request.query { try NotificationFilter(&$0) }
    askAll(request.http, exchange, timeout: Self.otherTimeout) { [context] answers in
      let elsewhere = answers.reduce(0) { sum, answer in
        guard case .integer(let count)? = answer?.member("deleted"),
          (0...Int64(Journal.maximumCapacity)).contains(count)
        else { return sum }
        return sum + Int(count)
      }
      let group = NotificationGroup(context.broker, context.events)
      context.slices.answer(group.deletion(filter, elsewhere: elsewhere), to: exchange)
    }
  }

  /// `GET /api/v1/advice`
  private func advise(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route) throws {
    guard case .answer(let own) = route.action, let document = JSONReader.read(try own(request).body) else {
      return
    }
    let merged = MergedAdvice(document, missing: others.missing) { exchange.answer($0) }
    exchange.whenGone(merged.stop)
    merged.ask(others.names, others, ordered(request.http), timeout: Self.otherTimeout)
  }

  /// `POST /api/v1/notifications/wait`, as a client asks.
  private func wait(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let own = request.http.partOfBody { [others] in others.home(of: $0) == .here }
    let wait = try NotificationWait(request.bodyLimit.read(own.body), exchange, context.broker)
    let merged = MergedWait(wait, ordered(request.http), context, others)
    merged.begin()
    try context.waits.begin(wait, telling: merged)
  }

  /// As another node asks: what it waits for, or what is to be shown of what was found.
  private func waitForNode(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let body = try request.object()
    // The connection lasts as long as somebody waits.
    exchange.connection?.stand(stallTime: others.stallTime)
    if let shown = body["shown"] { return try show(JSONObject(shown, place: "shown"), exchange) }
    let wait = try NotificationWait(body, exchange, context.broker)
    let stream = FoundStream(context.broker)
    try context.waits.begin(wait, telling: stream)
    stream.answer(exchange, context.slices)
  }

  private func show(_ what: JSONObject, _ exchange: HTTPExchange) throws {
    let ids: [Int64] = try what.required("ids", .list(of: .whole(0...Int64.max)))
    let moment: Timestamp? = try what.droppingNull("before").value("before", .time)
    let shown = ShownNotifications(ids.map { UInt64($0) }, before: moment, context.broker)
    context.slices.answer(GrowingDocument(shown.members(context.broker)), to: exchange)
  }
}
