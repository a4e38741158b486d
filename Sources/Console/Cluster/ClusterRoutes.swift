import Basics
import Transport

/// The cluster of this node. Whatever only one node can do is passed on to that one.
extension Console {
  var clusterRoutes: [Route] {
    [
      .get(
        "/api/v1/cluster", "The cluster that this emulator is a node of: NATS servers, nodes, zones",
        .answer(bound(Console.showCluster))
      )
      .refuses(404).answers(200, "The cluster as this node sees it", ClusterReport.schema),
      .post(
        "/api/v1/cluster/zones/{zone}", "Moves a zone to another node; any node may be asked",
        .exchange(bound(Console.moveZone))
      )
      .needs(ZoneMove.schema).refuses(409)
      .answers(200, "The zone, which moves now, or is there already", ClusterReport.Zone.schema),
      .post(
        "/api/v1/cluster/nodes/{node}/drain", "Hands all zones of a node over, and ends it then",
        .exchange(bound(Console.drainNode))
      )
      .takes(.emptyObject).answers(202, "It has begun", NodeOrder.schema),
      .post(
        "/api/v1/cluster/nodes/{node}/kill",
        "Ends a node at once, as `kill -9` does: to see the others take its zones over",
        .exchange(bound(Console.killNode))
      )
      .takes(.emptyObject).answers(202, "It ends", NodeOrder.schema),
      .post(
        "/api/v1/cluster/nodes/{missing}/forget",
        "Has nobody miss a node any more that will not come back; any node may be asked",
        .exchange(bound(Console.forgetNode))
      )
      .takes(.emptyObject).refuses(409).answers(200, "It is missed no more", NodeOrder.schema),
    ]
  }

  /// `GET /api/v1/cluster`
  func showCluster(_ request: ConsoleRequest) throws -> HTTPResponse {
    return try HTTPResponse(json: clusterBoard.report.json).claimingNothing
  }

  /// `POST /api/v1/cluster/zones/{zone}`: moves a zone; only its leader can.
  func moveZone(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let board = try clusterBoard
    let report = board.report
    let zone = try Self.zone(request.part("zone"), of: report)
    let move = try ZoneMove.form.read(request.object(), from: ZoneMove())
    guard report.nodes.contains(where: { $0.name == move.node }) else {
      throw ConsoleError.conflict(Self.noNode(move.node, of: report))
    }
    guard let leader = zone.leader, zone.seat != .nowhere || leader == report.name else {
      throw ConsoleError.busy("nobody leads zone \(zone.number) at the moment")
    }
    if leader == move.node, !zone.isMoving {
      return exchange.answer(HTTPResponse(json: zone.json))
    }
    guard leader == report.name else {
      return try pass(exchange, request, to: leader, "zone \(zone.number) is at \(leader)")
    }
    if let sentence = board.move(zone.number, to: move.node) { throw ConsoleError.conflict(sentence) }
    let moved = board.report.zones.first { $0.number == zone.number } ?? zone
    exchange.answer(HTTPResponse(json: moved.json))
  }

  /// `POST /api/v1/cluster/nodes/{node}/drain`: hands its zones over, and ends it then.
  func drainNode(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    try handToNode(.drain, request, exchange) { $0.drain() }
  }

  /// `POST /api/v1/cluster/nodes/{node}/kill`: ends it at once, for who wants to see what the others do then.
  func killNode(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    try handToNode(.kill, request, exchange) { $0.kill() }
  }

  /// `POST /api/v1/cluster/nodes/{missing}/forget`: nobody misses it any more.
  func forgetNode(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let board = try clusterBoard
    let (report, name) = (board.report, request.part("missing"))
    _ = try request.object(allowing: [])
    guard !report.nodes.contains(where: { $0.name == name }) else {
      throw ConsoleError.conflict("\(name) lives: `cluster drain \(name)` has it leave in order")
    }
    guard report.missing.contains(name) else {
      let missing = report.missing.isEmpty ? "none is" : report.missing.joined(separator: ", ")
      throw ConsoleError.notFound(
        "expected a node that is missing (\(missing)), got \(DocumentError.quoted(name))")
    }
    board.forget(name) { failure in
      let done = HTTPResponse(json: NodeOrder(node: name, deed: .forget).json)
      exchange.answer(failure.map { ConsoleError.busy("it may not be done: \($0)").response } ?? done)
    }
  }

  private func handToNode(
    _ deed: NodeOrder.Deed, _ request: ConsoleRequest, _ exchange: HTTPExchange,
    _ work: (any ClusterBoard) -> Void
  ) throws {
    let board = try clusterBoard
    let report = board.report
    let name = request.part("node")
    guard report.nodes.contains(where: { $0.name == name }) else {
      throw ConsoleError.notFound(Self.noNode(name, of: report))
    }
    _ = try request.object(allowing: [])
    guard name == report.name else {
      return try pass(exchange, request, to: name, "only \(name) can do that")
    }
    exchange.answer(HTTPResponse(status: 202, json: NodeOrder(node: name, deed: deed).json))
    work(board)
  }

  // MARK: Helpers

  private var clusterBoard: any ClusterBoard {
    get throws {
      guard let board = context.cluster else {
        throw ConsoleError.notFound(
          "this emulator is alone; started with `serve --nats nats://HOST:PORT` it is a node of a cluster")
      }
      return board
    }
  }

  private static func zone(_ text: String, of report: ClusterReport) throws -> ClusterReport.Zone {
    guard let number = UInt16(text), "\(number)" == text else {
      throw ConsoleError.bad("zone", expected: "a number", got: text)
    }
    guard let zone = report.zones.first(where: { $0.number == number }) else {
      throw ConsoleError.notFound("expected a zone from 0 to \(report.zones.count - 1), got \(number)")
    }
    return zone
  }

  private static func noNode(_ name: String, of report: ClusterReport) -> String {
    let names = report.nodes.map(\.name).joined(separator: ", ")
    return "there is no node \(DocumentError.quoted(name)) now; there is \(names)"
  }

  /// Has another node answer.
  private func pass(
    _ exchange: HTTPExchange, _ request: ConsoleRequest, to node: String, _ why: String
  ) throws {
    // What this node knows is newer than what that knew which has asked it.
    guard !request.http.isOfNode else { throw ConsoleError.busy("\(why), and was elsewhere a moment ago") }
    let isPassed =
      context.cluster?.pass(exchange, to: node) {
        ConsoleError.busy($0).response.finished
      } ?? false
    guard !isPassed else { return }
    throw ConsoleError.busy("\(why), and where that is nobody knows yet")
  }
}
