import Basics
import ConsoleAnswers
import Transport

/// The cluster of this node. Whatever only one node can do is done at that one.
package final class ClusterGroup: RouteGroup {
  private let cluster: (any ClusterBoard)?

  /// nil for an emulator that is alone.
  package init(_ cluster: (any ClusterBoard)?) { self.cluster = cluster }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/cluster", "The cluster that this emulator is a node of: NATS servers, nodes, zones",
        .answer { [self] _ in try HTTPResponse(json: board.report.json).claimingNothing }
      )
      .refuses(404).answers(200, "The cluster as this node sees it", ClusterReport.schema),
      .post(
        "/api/v1/cluster/zones/{zone}", "Moves a zone to another node; any node may be asked",
        .answer(moveZone)
      )
      .at(.node { [self] in try mover($0).node }).needs(ZoneMove.schema).refuses(409)
      .answers(200, "The zone, which moves now, or is there already", ClusterReport.Zone.schema),
    ] + nodeRoutes
  }

  private var nodeRoutes: [Route] {
    [
      .post(
        "/api/v1/cluster/nodes/{node}/drain", "Hands over all zones of a node, then ends the node",
        .exchange { [self] in try order(.drain, $0, $1) { $0.drain() } }
      )
      .at(.node(named)).takes(.emptyObject).answers(
        202, "The node hands over its zones, and ends then", NodeOrder.schema),
      .post(
        "/api/v1/cluster/nodes/{node}/kill",
        "Ends a node at once, as `kill -9` does, to test a failover",
        .exchange { [self] in try order(.kill, $0, $1) { $0.kill() } }
      )
      .at(.node(named)).takes(.emptyObject).answers(202, "The node ends", NodeOrder.schema),
      .post(
        "/api/v1/cluster/nodes/{missing}/forget",
        "Forgets a missing node that will not come back; any node may be asked",
        .exchange(forget)
      )
      .takes(.emptyObject).refuses(409).answers(200, "The node is forgotten", NodeOrder.schema),
    ]
  }

  // MARK: Zones

  private func moveZone(_ request: ConsoleRequest) throws -> HTTPResponse {
    let (zone, target, node) = try mover(request)
    if let node { throw node.isNowhere }
    guard zone.leader != target || zone.isMoving else { return HTTPResponse(json: zone.json) }
    let board = try board
    if let sentence = board.move(zone.number, to: target) { throw ConsoleError.conflict(sentence) }
    return HTTPResponse(json: (board.report.zones.first { $0.number == zone.number } ?? zone).json)
  }

  /// A zone and where it is to go; and the node that moves it, if it is another: only its leader can.
  private func mover(_ request: ConsoleRequest) throws
    -> (zone: ClusterReport.Zone, target: String, node: NodeInCharge?)
  {
    let report = try board.report
    let zone = try Self.zone(request.part("zone"), of: report)
    let move = try ZoneMove.form.read(request.object(), from: ZoneMove())
    guard report.nodes.contains(where: { $0.name == move.node }) else {
      throw ConsoleError.conflict(Self.noNode(move.node, of: report))
    }
    guard let leader = zone.leader, zone.seat != .nowhere || leader == report.name else {
      throw ConsoleError.busy("zone \(zone.number) has no leader at the moment")
    }
    let isHere = leader == report.name || leader == move.node && !zone.isMoving
    return (
      zone, move.node,
      isHere ? nil : NodeInCharge(name: leader, why: "zone \(zone.number) is at \(leader)")
    )
  }

  // MARK: Nodes

  /// The node that the path names, if it is another.
  private func named(_ request: ConsoleRequest) throws -> NodeInCharge? {
    let (report, name) = (try board.report, request.part("node"))
    guard report.nodes.contains(where: { $0.name == name }) else {
      throw ConsoleError.notFound(Self.noNode(name, of: report))
    }
    _ = try request.object(allowing: [])
    return name == report.name ? nil : NodeInCharge(name: name, why: "only \(name) can do that")
  }

  private func order(
    _ deed: NodeOrder.Deed, _ request: ConsoleRequest, _ exchange: HTTPExchange,
    _ work: (any ClusterBoard) -> Void
  ) throws {
    if let node = try named(request) { throw node.isNowhere }
    let order = NodeOrder(node: request.part("node"), deed: deed)
    exchange.answer(HTTPResponse(status: 202, json: order.json))
    try work(board)
  }

  private func forget(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let board = try board
    let (report, name) = (board.report, request.part("missing"))
    _ = try request.object(allowing: [])
    guard !report.nodes.contains(where: { $0.name == name }) else {
      throw ConsoleError.conflict("\(name) is running: use `cluster drain \(name)` to make it leave")
    }
    guard report.missing.contains(name) else {
      let missing = report.missing.isEmpty ? "none is" : report.missing.joined(separator: ", ")
      throw ConsoleError.notFound(
        "expected a node that is missing (\(missing)), got \(DocumentError.quoted(name))")
    }
    board.forget(name) { failure in
      let done = HTTPResponse(json: NodeOrder(node: name, deed: .forget).json)
      exchange.answer(
        failure.map { ConsoleError.busy("the node can't be forgotten: \($0)").response } ?? done)
    }
  }

  // MARK: Helpers

  private var board: any ClusterBoard {
    get throws {
      guard let cluster else {
        throw ConsoleError.notFound(
          "this emulator is not in a cluster; start it with `serve --nats nats://HOST:PORT`")
      }
      return cluster
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
}
