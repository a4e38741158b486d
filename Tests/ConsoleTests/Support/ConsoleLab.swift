import Basics
import Broker
import Console
import PushModel
import TestSupport
import Testing
import Transport

/// A console over a broker, with a clock that stands still until it is moved; requests are answered without sockets.
final class ConsoleLab {
  static let app = "com.example.app"
  let broker: Broker
  let parts: LabParts
  let clock: LabClock
  let timers: LabTimers
  private var devices: [TestDevice] = []
  /// Kept alive as long as the lab is.
  var phones: [FakePhone] = []
  lazy var console = parts.makeConsole()

  /// An activation that every device gets.
  static func activates(_ exchange: HTTPExchange, _ reply: (HTTPResponse) -> Void) -> Bool {
    reply(HTTPResponse(status: 200))
    return true
  }

  init(history: Int = 100, _ prepare: (LabParts) -> Void = { _ in }) {
    var options = BrokerOptions()
    options.history = history
    parts = LabParts(Broker(derivation: FakeDerivation(), options: options))
    (broker, clock, timers) = (parts.broker, parts.clock, parts.timers)
    prepare(parts)
  }

  /// The end of a turn of the loop.
  func endTurn() { console.turnEnded() }

  var now: Timestamp { clock.moment }

  // MARK: Requests

  /// Hands a request to the console; answers what came back so far.
  @discardableResult
  func open(
    _ method: String, _ target: String, json: String? = nil, fields: [HTTPField] = [], body: [UInt8] = [],
    isOnReserve: Bool = false
  ) throws -> Answer {
    var all = fields
    if all.first(named: "host") == nil { all.append(HTTPField("Host", "localhost")) }
    if json != nil, all.first(named: "content-type") == nil {
      all.append(HTTPField("Content-Type", "application/json"))
    }
    let request = try #require(
      HTTPRequest(method, target, fields: all, body: json.map { Array($0.utf8) } ?? body, localPort: 8790))
    let answer = Answer()
    answer.exchange = HTTPExchange(request, outlet: answer, isOnReserve: isOnReserve)
    if let exchange = answer.exchange { console.handle(exchange) }
    return answer
  }

  /// The answer of a request that is answered at once.
  func ask(
    _ method: String, _ target: String, json: String? = nil, fields: [HTTPField] = []
  ) throws -> HTTPResponse {
    try whole(try open(method, target, json: json, fields: fields))
  }

  /// The answer once it is complete, over as many turns as that takes.
  func whole(_ answer: Answer, turns limit: Int = 10_000) throws -> HTTPResponse {
    var turns = 0
    while !answer.isComplete, turns < limit {
      turn()
      turns += 1
    }
    try #require(answer.isComplete)
    return try #require(answer.response)
  }

  /// A turn of the loop in which nothing comes from outside.
  func turn() {
    timers.pass(milliseconds: 0)
    endTurn()
  }

  /// The document of a GET that succeeds.
  func get(_ target: String) throws -> JSONValue {
    let response = try ask("GET", target)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONReader.read(response.body))
  }

  /// The message of a request that is refused with `status`.
  func refusal(
    _ method: String, _ target: String, _ status: Int, json: String? = nil, fields: [HTTPField] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let response = try ask(method, target, json: json, fields: fields)
    #expect(response.status == status, sourceLocation: sourceLocation)
    let error = try #require(JSONReader.read(response.body)?.member("error"), sourceLocation: sourceLocation)
    #expect(error.string("code")?.isEmpty == false, sourceLocation: sourceLocation)
    return try #require(error.string("message"), sourceLocation: sourceLocation)
  }

  // MARK: Peers

  private func topic(_ name: String) throws -> TopicID {
    let topic = try #require(Topic(name))
    return try #require(broker.registry.topic(named: topic))
  }

  /// Installs an app; answers its token.
  @discardableResult
  func install(_ udid: String = "phone", _ app: String = app) throws -> DeviceToken {
    let udid = try #require(UDID(udid))
    let device = try #require(broker.registry.device(udid, now: now))
    let topic = try topic(app)
    let change = broker.apps.change(.install, device: device, topic: topic, environment: .sandbox, now: now)
    return try #require(change)
  }

  /// Connects a device that wants some topics.
  func connect(_ udid: String = "phone", enabling apps: [String] = [app]) throws -> TestDevice {
    let phone = TestDevice(connectedAt: now)
    devices.append(phone)
    let udid = try #require(UDID(udid))
    let connected = broker.devices.connect(
      udid, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil, link: phone.link, now: now)
    let session = try #require(connected).session
    phone.session = session
    // The index first: asking for it may add to the list that it is looked up in.
    let indices = try apps.map { try topic($0) }
    let hashes = indices.map { broker.registry[$0].hash }
    broker.devices.setFilter(session, enabled: hashes, now: now)
    return phone
  }

  /// Pushes; answers the notification's id.
  @discardableResult
  func push(
    _ token: [UInt8], _ payload: String, app: String = app, interface: Interface = .gateway,
    expiration: UInt32? = nil, explanation: String? = nil, fault: InjectedFault? = nil
  ) throws -> UInt64 {
    let topic = try topic(app)
    return token.withUnsafeBytes { token in
      Array(payload.utf8).withUnsafeBytes { payload in
        var submission = Submission(
          interface: interface, topic: topic, environment: .sandbox, token: token.span, payload: payload.span)
        submission.plain.expiration = expiration
        if interface == .gateway { (submission.plain.command, submission.plain.identifier) = (1, 42) }
        if explanation != nil || fault != nil {
          submission.detail = NotificationDetail(explanation: explanation, fault: fault)
        }
        return broker.routing.submit(submission, now: now).id
      }
    }
  }
}

/// What a console does with one exchange.
final class Answer: HTTPExchangeOutlet {
  var exchange: HTTPExchange?
  /// The head of a stream; its body is in `streamed`, and here too when it has ended.
  private(set) var response: HTTPResponse?
  private(set) var streamed = ""
  private(set) var hasEnded = false
  private(set) var isComplete = false
  var queuedBytes = 0

  func exchange(_ exchange: HTTPExchange, responds response: HTTPResponse) {
    (self.response, isComplete) = (response, true)
  }
  func exchange(_ exchange: HTTPExchange, startsStream head: HTTPResponse) {
    response = head
    streamed += String(decoding: head.body, as: UTF8.self)
  }
  func exchange(_ exchange: HTTPExchange, sends bytes: [UInt8]) {
    streamed += String(decoding: bytes, as: UTF8.self)
  }
  func exchangeEndsStream(_ exchange: HTTPExchange) {
    response?.body = Array(streamed.utf8)
    (hasEnded, isComplete) = (true, true)
  }
  func exchange(_ exchange: HTTPExchange, dribbles bytes: Int, everyNanoseconds interval: Int64) {}
  func exchange(_ exchange: HTTPExchange, breaks breakage: HTTPBreakage) { hasEnded = true }
  func exchange(_ exchange: HTTPExchange, becomesTunnel take: @escaping (SocketConnection) -> Void) {
    exchange.clientGone()
  }
}
