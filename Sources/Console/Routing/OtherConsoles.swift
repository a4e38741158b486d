import Basics
import PushModel
import Transport

/// The consoles of other nodes of a cluster, for what the node has to answer that has a device. Implemented by the emulator.
package protocol OtherConsoles: AnyObject {
  /// Where a device is.
  func place(of udid: UDID) -> ConsolePlace
  /// Has the device's node answer. `endless`: the answer has no end of its own. `refuse` makes the answer of a sentence, when
  /// that node can't be reached.
  func pass(
    _ exchange: HTTPExchange, for udid: UDID, endless: Bool,
    refuse: @escaping (_ sentence: String) -> HTTPResponse)
  /// Whether no zone is on its way between nodes: what each does for its own zones would miss such a one.
  var isSettled: Bool { get }
  /// Has every other node do what is asked as well, and tells what each has answered. `timeout`: how long each may say nothing,
  /// in nanoseconds; nil for as long as it lives.
  func spread(
    _ request: HTTPRequest, timeout: Int64?, done: @escaping (_ answers: [OtherAnswer]) -> Void)
  /// The other nodes that live, by name.
  var names: [String] { get }
  /// Nodes that belong to the cluster and are missing, by name: what came in by them nobody can tell.
  var missing: [String] { get }
  /// Where the node is that gave a notification its id.
  func home(of notification: UInt64) -> NotificationHome
  /// Asks one of them; `reader` hears what it answers, and how that ends. `timeout` as above.
  func ask(_ node: String, _ request: HTTPRequest, timeout: Int64?, _ reader: any AnswerReader)
    -> any OpenQuestion
  /// Has one of them answer; `refuse` as above.
  func pass(
    _ exchange: HTTPExchange, to node: String, refuse: @escaping (_ sentence: String) -> HTTPResponse)
}

/// Which history has a notification.
package enum NotificationHome: Equatable, Sendable {
  case here
  /// That of another node that lives.
  case at(String)
  /// None: its node has ended, or never was.
  case gone
}

/// What one of all other nodes has answered.
package struct OtherAnswer: Sendable {
  package var body: [UInt8]
  /// Why it has not done it, with its name; nil if it has.
  package var failure: String?

  package init(body: [UInt8], failure: String?) { (self.body, self.failure) = (body, failure) }
}

/// Hears what another node answers.
package protocol AnswerReader: AnyObject {
  /// The answer has begun: all of it but its body.
  func answered(_ head: HTTPResponse)
  /// More of the body.
  func received(_ piece: [UInt8])
  /// There is no more: it is whole, or there is a sentence why it is not. Not called for who has given up.
  func ended(_ failure: String?)
}

/// What was asked of another node, until its answer is whole.
package protocol OpenQuestion: AnyObject {
  /// While paused, nothing is read, and the node may take its time.
  func setPaused(_ isPaused: Bool)
  /// What its reader holds of the answer, in bytes.
  func hold(_ bytes: Int)
  /// Nobody waits for (more of) the answer.
  func giveUp()
}

/// Where the node is that has a device.
package enum ConsolePlace: Sendable {
  case here, elsewhere, nowhere
}

/// Which device a request is about, for routes that the device's node alone answers.
package struct RouteLeader {
  /// nil: none that is known; then the node that was asked says what is wrong, or makes it.
  let device: (Console, ConsoleRequest) -> UDID?

  /// The path names it.
  package static var udid: RouteLeader { RouteLeader { UDID($1.part("udid")) } }

  /// The body names it.
  static var udidOfBody: RouteLeader {
    RouteLeader { _, request in request.document?.string("udid").flatMap { UDID($0) } }
  }

  /// The body names it, or a token of it.
  static var tokenOrUDIDOfBody: RouteLeader {
    RouteLeader { console, request in
      console.device(withToken: request.document?.string("token")) ?? udidOfBody.device(console, request)
    }
  }

  /// A token of Fleet's names it; one that is nobody's yet is a device of that name.
  package static func fleet(_ hex: @escaping (ConsoleRequest) -> String?) -> RouteLeader {
    RouteLeader { console, request in
      let hex = hex(request)
      return console.device(withToken: hex) ?? hex.flatMap { CustomToken(hex: $0) }.flatMap { UDID($0.name) }
    }
  }
}

extension ConsoleRequest {
  fileprivate var document: JSONValue? { (try? object()).map { .object($0.members) } }
}

extension Console {
  fileprivate func device(withToken hex: String?) -> UDID? {
    hex.flatMap { CustomToken(hex: $0) }.flatMap { broker.registry.find($0) }.map {
      broker.registry[broker.registry[$0].device].udid
    }
  }

  /// In a cluster: has all other nodes do it first. False if it is for this one alone.
  func spread(_ exchange: HTTPExchange, _ request: ConsoleRequest, _ route: Route) -> Bool {
    guard let others = context.otherConsoles, route.isSpread else { return false }
    spread(exchange, request, route, others, tries: Self.settlingTries)
    return true
  }

  private static let isMoving = "zones are on their way between nodes"
  /// How often it is looked whether the zones lie still, and the pause between, in nanoseconds.
  private static let settlingTries = 200
  private static let settlingPause: Int64 = 50_000_000

  private func spread(
    _ exchange: HTTPExchange, _ request: ConsoleRequest, _ route: Route, _ others: any OtherConsoles,
    tries: Int
  ) {
    guard others.isSettled else {
      guard tries > 0 else { return exchange.answer(ConsoleError.busy(Self.isMoving).response) }
      let timer = context.makeTimer(Self.settlingPause) { [weak self] in
        self?.settling[ObjectIdentifier(exchange)] = nil
        self?.spread(exchange, request, route, others, tries: tries - 1)
      }
      return settling[ObjectIdentifier(exchange)] = timer
    }
    guard !request.http.isOfNode else {
      if waitForOrders(exchange, request, route) { return }
      return exchange.refusing { try route.perform(request, exchange, slices) }
    }
    others.spread(ordered(request.http), timeout: nil) { [unowned self] answers in
      let failures = answers.compactMap(\.failure)
      guard failures.isEmpty else { return exchange.answer(Self.notDone(failures)) }
      exchange.refusing { try route.perform(request, exchange, slices) }
    }
  }

  /// In a cluster: has the node answer that has the device which the request is about. False if that is this one, or none.
  func passOn(_ exchange: HTTPExchange, _ request: ConsoleRequest, _ route: Route) throws -> Bool {
    guard let others = context.otherConsoles, let udid = route.leader?.device(self, request) else {
      return false
    }
    switch others.place(of: udid) {
    case .here: return false
    case .nowhere: throw ConsoleError.busy("no node has the zone of \(udid.text) at the moment")
    case .elsewhere:
      // What this node knows is newer than what that knew which has asked it.
      guard !request.http.isOfNode else {
        throw ConsoleError.busy("the zone of \(udid.text) has just moved to another node")
      }
      others.pass(exchange, for: udid, endless: route.isStanding) {
        ConsoleError.busy($0).response.finished
      }
      return true
    }
  }
}
