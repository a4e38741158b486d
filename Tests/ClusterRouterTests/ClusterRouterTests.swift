import Basics
import Broker
import ClusterRouter
import Console
import ConsoleAnswers
import PushModel
import Testing
import Transport

/// Orders that are carried out at once, or kept back.
private final class FakeOrders: NodeOrders {
  var lastOrder: UInt64 = 3
  /// Why orders can't be told the others; nil if they can.
  var trouble: String?
  private(set) var ordered: [OrderedRequest] = []
  private(set) var waiting: [(number: UInt64, then: () -> Void)] = []

  func order(_ request: OrderedRequest, done: @escaping (HTTPResponse?, String) -> Void) {
    ordered.append(request)
    done(trouble == nil ? HTTPResponse(status: 200, text: "done") : nil, trouble ?? "")
  }

  func whenCarriedOut(_ number: UInt64, then: @escaping () -> Void) -> Bool {
    waiting.append((number, then))
    return true
  }

  func forgetDevices() {}
}

/// The router by itself: no console, and the routes are the test's.
@Suite("What a cluster does with a route") struct ClusterRouterTests {
  private let others = FakeConsoles()
  private let orders = FakeOrders()
  private let lab: RouterLab
  private var router: ClusterRouter { lab.router }

  init() {
    lab = RouterLab(others, orders)
    others.names = ["b"]
  }

  private func route(_ place: RoutePlace, _ pattern: String = "/it") -> Route {
    Route("POST", pattern, "", .answer { _ in HTTPResponse(status: 200, text: "here") }).at(place)
  }

  /// What is answered; nil if nothing is yet.
  private func ask(
    _ route: Route, _ target: String = "/it", json: String? = nil, fields: [HTTPField] = [],
    ofNode: Bool = false
  ) throws -> Reply {
    let reply = Reply()
    let exchange = try reply.exchange("POST", target, json: json, fields: fields, ofNode: ofNode)
    let captures = try #require(RouteTable([route]).find(exchange.request)).captures
    let call = ConsoleRequest(http: exchange.request, captures: captures, now: lab.context.now())
    exchange.refusing {
      if try router.take(call, exchange, route) { return }
      try route.perform(call, exchange, lab.context.slices)
    }
    return reply
  }

  private func text(_ reply: Reply) -> String? {
    reply.response.map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test("what is answered here is no business of others")
  func here() throws {
    #expect(try text(ask(route(.here))) == "here")
    #expect(others.questions.isEmpty && orders.ordered.isEmpty)
  }

  @Test("what one node alone can do is done there: its answer comes back, and is counted")
  func oneNode() throws {
    let there = route(.node { _ in NodeInCharge(name: "b", why: "it is b's") })
    let reply = try ask(there)
    #expect(text(reply) == nil)
    try #require(others.questions.first).answer("there", status: 202)
    #expect(text(reply) == "there" && reply.response?.status == 202)
    #expect(router.metrics.map(\.text).joined().contains("relayed_requests_total 1"))
    let again = try ask(there, ofNode: true)
    #expect(again.response?.status == 503 && text(again)?.contains("it is b's now; try again") == true)
    others.names = []
    #expect(try text(ask(there))?.contains("it is b's, whose address is not known yet; try again") == true)
    #expect(try text(ask(route(.node { _ in nil }))) == "here")
    #expect(others.questions.count == 1)
  }

  @Test("a notification is shown by the node by which it came, and by this one if that is nobody's")
  func home() throws {
    others.homes = [7: .at("b"), 8: .nowhere]
    let shown = route(.home, "/it/{id}")
    let reply = try ask(shown, "/it/7")
    try #require(others.questions.first).answer("there")
    #expect(text(reply) == "there")
    for target in ["/it/8", "/it/9", "/it/x"] { #expect(try text(ask(shown, target)) == "here") }
    #expect(try text(ask(shown, "/it/7", ofNode: true)) == "here")
  }

  @Test("what all do in one order is ordered with what came, or with what the route makes of it")
  func ordered() throws {
    #expect(try text(ask(route(.ordered()), json: "{}")) == "done")
    _ = try ask(route(.ordered(as: { _ in Array("[]".utf8) })), json: "{}")
    #expect(
      orders.ordered
        == ["{}", "[]"].map { OrderedRequest(method: "POST", path: "/it", body: Array($0.utf8)) })
    orders.trouble = "no way"
    let refused = try ask(route(.ordered()))
    #expect(refused.response?.status == 503 && text(refused)?.contains("no way") == true)
  }

  @Test(
    "an order is carried out by its own route, in the way that is meant for it; others are not known to it")
  func carriedOut() throws {
    let doing: Route.Handler<HTTPResponse> = { _ in HTTPResponse(status: 200, text: "at once") }
    let table = RouteTable([
      route(.ordered()), route(.ordered(doing: doing), "/that"), route(.here, "/other"),
      Route("POST", "/wrong", "", .answer { try .init(json: .object($0.object().members)) }).ordered,
    ])
    func carryOut(_ path: String, _ body: String = "") -> (Int, String) {
      let order = OrderedRequest(method: "POST", path: path, body: Array(body.utf8))
      let response = order.carryOut(by: table, at: lab.context.now())
      return (response.status, String(decoding: response.body, as: UTF8.self))
    }
    #expect(carryOut("/it") == (200, "here") && carryOut("/that") == (200, "at once"))
    #expect(carryOut("/other").0 == 500 && carryOut("/nothing").0 == 500)
    #expect(carryOut("/wrong", "[").0 == 400)
    let order = OrderedRequest(method: "PUT", path: "/a", body: Array("{}".utf8))
    #expect(OrderedRequest(order.document.encoded) == order)
  }

  @Test("what another node asks waits for the orders that that has carried out")
  func behindOrders() throws {
    let late = [HTTPField("X-APNs-Emulator-Order", "4")]
    let reply = try ask(route(.merged(.list)), fields: late, ofNode: true)
    #expect(reply.response == nil && orders.waiting.map(\.number) == [4])
    orders.waiting.first?.then()
    #expect(text(reply) == "here")
    let known = [HTTPField("X-APNs-Emulator-Order", "3")]
    #expect(try text(ask(route(.merged(.list)), fields: known, ofNode: true)) == "here")
  }

  @Test(
    "what each does for its own is done by the others first, and here only if they have; once the zones lie still"
  )
  func spread() throws {
    others.names = ["b", "c"]
    others.isSettled = false
    let reply = try ask(route(.spread))
    lab.timers.pass(milliseconds: 49)
    #expect(others.questions.isEmpty)
    others.isSettled = true
    lab.timers.pass(milliseconds: 1)
    #expect(others.questions.map(\.node) == ["b", "c"])
    #expect(others.questions.allSatisfy { $0.request.field("x-apns-emulator-order") == "3" })
    others.questions[0].answer("{}")
    #expect(reply.response == nil)
    others.questions[1].answer("{}")
    #expect(text(reply) == "here")
    let refused = try ask(route(.spread))
    others.questions[2].answer("{}")
    others.questions[3].answer("it is at another", status: 503)
    #expect(refused.response?.status == 503)
    #expect(text(refused)?.contains("c: it answers 503 it is at another") == true)
    #expect(try text(ask(route(.spread), ofNode: true)) == "here")
  }

  @Test("what is deleted everywhere is counted together, and nothing is deleted here before the others have")
  func deletion() throws {
    try lab.push(try lab.install(), "{}")
    let reply = try ask(route(.merged(.deletion)))
    #expect(lab.broker.journal.shown(1) != nil)
    others.questions[0].answer(#"{"deleted":2}"#)
    for _ in 0..<10 { lab.turn() }
    #expect(text(reply) == #"{"deleted":3}"# && lab.broker.journal.shown(1) == nil)
  }
}
