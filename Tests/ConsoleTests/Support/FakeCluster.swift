import Basics
import Console
import Services
import Transport

/// Two nodes and four zones: this node owns 0 and 3, the other 1, nobody 2. It remembers what it was asked.
final class FakeCluster: ClusterBoard, @unchecked Sendable {
  private(set) var asked: [String] = []
  /// What is answered to who wants to move a zone.
  var refusal: String?
  var because: String?
  var waitingBytes = 0
  var missing = ["node-3"]

  var report: ClusterReport {
    let nats = ClusterReport.NATSStatus(
      servers: ["nats://127.0.0.1:4222"], isConnected: because == nil, trouble: because, waitingMs: 0)
    return ClusterReport(
      name: "node-1", because: because, nats: nats,
      nodes: [node("node-1", console: "127.0.0.1:8790"), node("node-2", console: "127.0.0.1:8890")],
      missing: missing,
      zones: [
        zone(0, "node-1", .here), zone(1, "node-2", .elsewhere), zone(2, nil, .nowhere),
        zone(3, "node-1", .here),
      ])
  }

  private func node(_ name: String, console: String) -> ClusterReport.Node {
    ClusterReport.Node(
      name: name, ordinal: 2, address: "127.0.0.1:4000", console: console, ledCount: 2, devices: 5,
      isDraining: false)
  }

  private func zone(_ number: Int, _ leader: String?, _ seat: ClusterReport.Seat) -> ClusterReport.Zone {
    ClusterReport.Zone(
      number: number, leader: leader, seat: seat, epoch: 1, sequence: 9, waitingBytes: waitingBytes,
      isMoving: asked.contains("move \(number) to node-2"), trouble: nil)
  }

  func move(_ zone: Int, to node: String) -> String? {
    if refusal == nil { asked.append("move \(zone) to \(node)") }
    return refusal
  }
  func forget(_ node: String, done: @escaping (String?) -> Void) {
    asked.append("forget \(node)")
    done(refusal)
  }
  func drain() { asked.append("drain") }
  func kill() { asked.append("kill") }
}

/// Other nodes do what they alone can do; all else is done here.
final class FakeRouter: RequestRouter {
  let watcherCount = 0
  let metrics: [MetricFamily] = []

  func take(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ route: Route) throws -> Bool {
    guard case .node(let inCharge) = route.place, let node = try inCharge(request) else { return false }
    exchange.answer(HTTPResponse(status: 202, json: ["node": .string(node.name), "does": "drain"]))
    return true
  }

  func shutDown() {}
}
