import Basics
import Broker
import ConsoleAnswers
import Phone
import PushModel
import Services
import Transport

/// Routes that belong together, with what answers them.
package protocol RouteGroup {
  var routes: [Route] { get }
  /// Ends what has begun, for an orderly end of the emulator.
  func shutDown()
}

extension RouteGroup {
  package func shutDown() {}
}

/// One row of the table of routes. The table answers requests and is the source of the OpenAPI document.
package struct Route {
  /// What a handler does with a request.
  package enum Action {
    /// Answers at once.
    case answer(Handler<HTTPResponse>)
    /// Answers with a document that may take many turns of the loop to write.
    case document(Handler<GrowingDocument>)
    /// Takes the exchange and answers later, or in a stream.
    case exchange((ConsoleRequest, HTTPExchange) throws -> Void)
  }

  /// A method of the group that the route is of, or in a few words what it would do.
  package typealias Handler<Answer> = (ConsoleRequest) throws -> Answer

  /// What a request carries.
  package enum Body {
    case none
    /// `application/json`.
    case json(isRequired: Bool, schema: () -> JSONSchema)
    /// Whatever a device or a provider sends.
    case any(contentType: String)
  }

  package var method: String
  package var pattern: PathPattern
  package var summary: String
  /// Made when the description is: at the start nobody reads it. Likewise the schemas of what goes in and comes out.
  package var parameters: () -> [RouteParameter] = { [] }
  /// Whether the query is the handler's to read; else there must be none.
  package var readsQuery = false
  package var body = Body.none
  package var bodyLimit = BodyLimit.usual
  /// Documented answers: status and meaning, with the schema of a JSON body.
  package var answers: [RouteAnswer] = []
  /// Statuses of this route's own refusals, besides those that `refusalStatuses` derives from what it takes.
  package var refusals: [Int] = []
  /// Writes and streams are not for other people's pages, so they get the Origin check.
  package var isStream = false
  /// Open to everybody who reaches the port: health checks, devices and providers prove themselves otherwise or not.
  package var isPublic = false
  /// Answered also when the console is full: it tells what is wrong. Never an exchange, so that it can't be held.
  package var isVital = false
  /// Answered also when the console is full: its connection leaves the number of those there may be, and is counted otherwise.
  package var isStanding = false
  /// A name, in lower case, by which this route alone may be asked: that of the service it stands in for.
  package var host: String?
  /// Where a cluster carries it out.
  package var place = RoutePlace.here
  /// Whether the OpenAPI document lists it.
  package var isDocumented = true
  package var action: Action

  package init(_ method: String, _ pattern: String, _ summary: String, _ action: Action) {
    (self.method, self.pattern, self.summary, self.action) = (method, PathPattern(pattern), summary, action)
  }

  /// Does what the route is for, here.
  package func perform(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ slices: SliceScheduler) throws {
    switch action {
    case .answer(let answer): exchange.answer(try answer(request))
    case .document(let make): slices.answer(try make(request), to: exchange)
    case .exchange(let take): try take(request, exchange)
    }
  }

  /// Matches every method.
  package static let anyMethod = "*"

  /// Whether it takes the request's method; the path is known to match.
  package func matches(_ request: HTTPRequest) -> Bool {
    method == Self.anyMethod || method == (request.method == "HEAD" ? "GET" : request.method)
  }
}

extension Route.Action {
  /// Answers with a document at once.
  package static func json<Document: JSONShown>(_ make: @escaping Route.Handler<Document>) -> Self {
    .answer { HTTPResponse(json: try make($0).json) }
  }
}

/// A row of the table reads from left to right: method, path, what it is for, what does it, then what goes in and comes out.
extension Route {
  package static func get(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("GET", pattern, summary, action)
  }

  package static func post(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("POST", pattern, summary, action)
  }

  package static func put(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("PUT", pattern, summary, action)
  }

  package static func delete(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("DELETE", pattern, summary, action)
  }

  /// Names parameters besides those of the path, which the handler reads.
  package func query(_ parameters: @escaping @autoclosure () -> [RouteParameter]) -> Route {
    with { ($0.readsQuery, $0.parameters) = (true, parameters) }
  }

  /// Does not mind what is in the query.
  package var anyQuery: Route { with { $0.readsQuery = true } }

  /// Takes a JSON body of this shape, which may be left out.
  package func takes(_ schema: @escaping @autoclosure () -> JSONSchema) -> Route {
    with { $0.body = .json(isRequired: false, schema: schema) }
  }

  /// Takes a JSON body of this shape.
  package func needs(_ schema: @escaping @autoclosure () -> JSONSchema) -> Route {
    with { $0.body = .json(isRequired: true, schema: schema) }
  }

  /// Takes any body.
  package func takes(contentType: String) -> Route { with { $0.body = .any(contentType: contentType) } }

  /// Takes a body as long as this.
  package func takes(upTo limit: BodyLimit) -> Route { with { $0.bodyLimit = limit } }

  /// Documents an answer.
  package func answers(
    _ status: Int, _ meaning: String, _ schema: @escaping @autoclosure () -> JSONSchema? = nil,
    contentType: String = "application/json"
  ) -> Route {
    with {
      $0.answers.append(
        RouteAnswer(status: status, meaning: meaning, contentType: contentType, schema: schema))
    }
  }

  /// Documents refusals of its own.
  package func refuses(_ statuses: Int...) -> Route { with { $0.refusals += statuses } }

  /// Needs no access token.
  package var open: Route { with { $0.isPublic = true } }
  /// Is answered also when the console is full.
  package var vital: Route { with { $0.isVital = true } }
  /// Is answered also when the console is full, as its connection is counted otherwise.
  package var standing: Route { with { $0.isStanding = true } }
  /// May also be asked by the name of the service that it stands in for.
  package func standsIn(for host: String) -> Route { with { $0.host = host } }
  /// In a cluster, is answered by the node that has the device.
  package func atLeader(of device: RouteDevice) -> Route { with { $0.place = .leader(of: device) } }
  /// In a cluster, is done by every node, in one order (`RoutePlace.ordered`).
  package var ordered: Route { ordered() }
  package func ordered(as body: Handler<[UInt8]>? = nil, doing answer: Handler<HTTPResponse>? = nil) -> Route
  {
    with { $0.place = .ordered(as: body, doing: answer) }
  }
  /// In a cluster, is done by every node for what is its own.
  package var spread: Route { with { $0.place = .spread } }
  /// In a cluster, is answered elsewhere, or by several nodes.
  package func at(_ place: RoutePlace) -> Route { with { $0.place = place } }
  /// Is left out of the OpenAPI document.
  package var hidden: Route { with { $0.isDocumented = false } }
  /// Gets the Origin check although it only reads.
  package var stream: Route { with { $0.isStream = true } }

  private func with(_ change: (inout Route) -> Void) -> Route {
    var route = self
    change(&route)
    return route
  }
}

/// Where a cluster carries a route out. An emulator that is alone does it all itself, and so does a node where no `RequestRouter`
/// stands in front of the routes.
///
/// Every node knows every device and token, so any of them answers what is asked about those.
package enum RoutePlace {
  /// At the node that is asked.
  case here
  /// At the node that has the device: it alone knows the device's connections, phone and what is on its way, or may change anything,
  /// as only it may write the device's zone.
  case leader(of: RouteDevice)
  /// At the node that alone can do it; nil if that is this one, or who it is does not matter.
  case node((ConsoleRequest) throws -> NodeInCharge?)
  /// At the node by which the notification came that the path names.
  case home
  /// At every node, in one order for all. Each is asked for what `as` makes of the request, else for what came; and does what `doing`
  /// does, at once and whole, where the route itself answers later.
  case ordered(as: Route.Handler<[UInt8]>? = nil, doing: Route.Handler<HTTPResponse>? = nil)
  /// At every node, each for the zones that are its own.
  case spread
  /// At every node, each with what came in by it: who is asked puts their answers together.
  case merged(MergedAnswer)
}

/// Which device a request is about.
package enum RouteDevice {
  /// The one that the path names.
  case udid
  /// The one that the body names.
  case udidOfBody
  /// The same, or that of the token that the body names.
  case tokenOrUDIDOfBody
  /// That of a token of Fleet's; one that is nobody's yet is a device of that name.
  case fleet((ConsoleRequest) -> String?)
}

/// The node that alone can do something, and what makes it the one, as a sentence.
package struct NodeInCharge: Equatable {
  package let name: String
  package let why: String

  package init(name: String, why: String) { (self.name, self.why) = (name, why) }

  /// What is answered where it can't be asked.
  package var isNowhere: ConsoleError { .busy("\(why), whose address is not known yet; try again") }
  /// What another node is answered, which knew less than this one.
  package var wasElsewhere: ConsoleError { .busy("\(why) now; try again") }
}

/// What is put together of the answers of all nodes.
package enum MergedAnswer {
  case list, deletion, wait, events, advice
}

/// What stands in front of the routes of a node: what the nodes of a cluster do together. Implemented by module `ClusterRouter`.
package protocol RequestRouter: AnyObject {
  /// Has the request carried out at its route's place; false if that is here, and now.
  func take(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route) throws -> Bool
  /// Clients of the event stream, as a count.
  var watcherCount: Int { get }
  var metrics: [MetricFamily] { get }
  /// Ends every stream, for an orderly end.
  func shutDown()
}

/// A path with named parts: `/api/v1/devices/{udid}`. A last part `{name*}` takes all that is left.
package struct PathPattern {
  private enum Part {
    case fixed(String)
    case named(String)
    case rest(String)
  }

  package let text: String
  private let parts: [Part]

  package init(_ text: String) {
    self.text = text
    parts = text.split(separator: "/").map { part in
      guard part.hasPrefix("{"), part.hasSuffix("}") else { return .fixed(String(part)) }
      let name = part.dropFirst().dropLast()
      return name.hasSuffix("*") ? .rest(String(name.dropLast())) : .named(String(name))
    }
  }

  /// Names of the parts in braces, in order.
  package var names: [String] {
    parts.compactMap {
      switch $0 {
      case .fixed: nil
      case .named(let name), .rest(let name): name
      }
    }
  }

  /// The values of the named parts if the path matches; nil if it does not.
  package func match(_ segments: [String]) -> [String: String]? {
    var values: [String: String] = [:]
    for (index, part) in parts.enumerated() {
      if case .rest(let name) = part {
        values[name] = segments[min(index, segments.count)...].joined(separator: "/")
        return values
      }
      guard index < segments.count else { return nil }
      switch part {
      case .fixed(let text): guard text == segments[index] else { return nil }
      case .named(let name): values[name] = segments[index]
      case .rest: break
      }
    }
    return segments.count == parts.count ? values : nil
  }
}

/// The routes of a console, found by what is asked for.
package struct RouteTable {
  package let routes: [Route]

  package init(_ routes: [Route]) { self.routes = routes }

  /// Routes whose path matches; one without named parts rules out those with them, as `wait` is no id.
  func candidates(_ request: HTTPRequest) -> [(Route, [String: String])] {
    let matches = routes.compactMap { route in
      route.pattern.match(request.segments).map { (route, $0) }
    }
    let exact = matches.filter { $0.1.isEmpty }
    return exact.isEmpty ? matches : exact
  }

  /// The route of a request, with the named parts of its path.
  package func find(_ request: HTTPRequest) -> (route: Route, captures: [String: String])? {
    candidates(request).first { $0.0.matches(request) }
  }
}
