import Basics
import Broker
import ClusterRouter
import Console
import PushModel
import TestSupport
import Testing
import Transport

/// A node of a cluster, whose other nodes answer what the test has them answer: its console API with the router in front, without sockets.
final class RouterLab {
  static let app = "com.example.app"
  let broker: Broker
  let context: ConsoleContext
  let router: ClusterRouter
  let timers = LabTimers()
  lazy var console = Console(
    context, about: [],
    [
      TokenGroup(broker, .sandbox) { _, _, _, _, _ in [] }, DeviceGroup(broker, .sandbox),
      NotificationGroup(broker, context.events), WaitGroup(broker, context.waits, context.slices),
      EventGroup(context),
    ] + groups, router: router)
  private let groups: [any RouteGroup]

  /// `groups`: further ones than those of devices, tokens and what came in.
  init(
    _ others: FakeConsoles, _ orders: (any NodeOrders)? = nil, accessToken: String? = nil,
    _ groups: [any RouteGroup] = []
  ) {
    var options = BrokerOptions()
    options.history = 100
    broker = Broker(derivation: FakeDerivation(), options: options)
    let now = { Timestamp(seconds: 1_767_323_045) }
    let events = OwnEvents(broker, now: now) { others.home(of: $0) != .here }
    context = ConsoleContext(
      broker, now: now, bindHost: "127.0.0.1", allowedHosts: [], accessToken: accessToken, events: events,
      makeTimer: timers.make)
    router = ClusterRouter(context, others, orders)
    self.groups = groups
  }

  /// A turn of the loop in which nothing comes from outside.
  func turn() {
    timers.pass(milliseconds: 0)
    console.turnEnded()
  }

  /// Hands a request to the console; answers what came back so far.
  func open(
    _ method: String, _ target: String, json: String? = nil, fields: [HTTPField] = [], ofNode: Bool = false
  ) throws -> Reply {
    let reply = Reply()
    let exchange = try reply.exchange(method, target, json: json, fields: fields, ofNode: ofNode)
    console.handle(exchange)
    return reply
  }

  /// The answer once it is whole.
  func ask(
    _ method: String, _ target: String, json: String? = nil, fields: [HTTPField] = [], ofNode: Bool = false
  ) throws -> HTTPResponse {
    let reply = try open(method, target, json: json, fields: fields, ofNode: ofNode)
    for _ in 0..<1000 where reply.response == nil { turn() }
    return try #require(reply.response)
  }

  /// The document of a GET that succeeds.
  func get(_ target: String) throws -> JSONValue {
    let response = try ask("GET", target)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONReader.read(response.body))
  }

  /// Installs the app; answers its token.
  @discardableResult
  func install(_ udid: String = "phone") throws -> DeviceToken {
    let (udid, topic) = (try #require(UDID(udid)), try #require(Topic(Self.app)))
    let device = try #require(broker.registry.device(udid, now: context.now()))
    let row = try #require(broker.registry.topic(named: topic))
    return try #require(
      broker.apps.change(.install, device: device, topic: row, environment: .sandbox, now: context.now()))
  }

  /// A push that comes in here; answers the notification's id.
  @discardableResult
  func push(_ token: DeviceToken, _ payload: String) throws -> UInt64 {
    let topic = try #require(Topic(Self.app).flatMap(broker.registry.topic(named:)))
    return token.bytes.withUnsafeBytes { token in
      Array(payload.utf8).withUnsafeBytes { payload in
        let submission = Submission(
          interface: .gateway, topic: topic, environment: .sandbox, token: token.span, payload: payload.span)
        return broker.routing.submit(submission, now: context.now()).id
      }
    }
  }
}

/// What one exchange is answered.
final class Reply: HTTPExchangeOutlet {
  private(set) var response: HTTPResponse?
  private(set) var streamed: [UInt8] = []
  private(set) var hasEnded = false
  private(set) var asked: HTTPExchange?
  let queuedBytes = 0

  /// A request whose answer comes here.
  func exchange(
    _ method: String, _ target: String, json: String? = nil, fields: [HTTPField] = [], ofNode: Bool = false
  ) throws -> HTTPExchange {
    let type = json.map { _ in [HTTPField("Content-Type", "application/json")] } ?? []
    var request = try #require(
      HTTPRequest(
        // The first counts.
        method, target, fields: fields + type + [HTTPField("Host", "localhost")],
        body: Array((json ?? "").utf8),
        localPort: 1))
    request.isOfNode = ofNode
    let exchange = HTTPExchange(request, outlet: self)
    asked = exchange
    return exchange
  }

  var document: JSONValue? { response.flatMap { JSONReader.read($0.body) } }

  func exchange(_ exchange: HTTPExchange, responds response: HTTPResponse) { self.response = response }
  func exchange(_ exchange: HTTPExchange, startsStream head: HTTPResponse) { streamed += head.body }
  func exchange(_ exchange: HTTPExchange, sends bytes: [UInt8]) { streamed += bytes }
  func exchangeEndsStream(_ exchange: HTTPExchange) { hasEnded = true }
  func exchange(_ exchange: HTTPExchange, dribbles bytes: Int, everyNanoseconds interval: Int64) {}
  func exchange(_ exchange: HTTPExchange, breaks breakage: HTTPBreakage) {}
  func exchange(_ exchange: HTTPExchange, becomesTunnel take: @escaping (SocketConnection) -> Void) {}
}
