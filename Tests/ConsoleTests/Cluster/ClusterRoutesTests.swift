import Basics
import Testing
import Transport

import Console

@Suite("Routes of the cluster") struct ClusterRoutesTests {
  private let cluster = FakeCluster()
  private let lab: ConsoleLab

  init() {
    let cluster = cluster
    lab = ConsoleLab { $0.cluster = cluster }
  }

  private func move(_ zone: String, to node: String) throws -> HTTPResponse {
    try lab.ask("POST", "/api/v1/cluster/zones/\(zone)", json: #"{"node": "\#(node)"}"#)
  }

  private func refusal(_ target: String, _ status: Int, json: String = "{}") throws -> String {
    try lab.refusal("POST", "/api/v1/cluster/\(target)", status, json: json)
  }

  @Test("an emulator that is alone says what would make it a node")
  func alone() throws {
    let lab = ConsoleLab()
    #expect(try lab.refusal("GET", "/api/v1/cluster", 404).contains("serve --nats"))
    for target in ["zones/3", "nodes/node-1/drain", "nodes/node-1/kill", "nodes/node-1/forget"] {
      _ = try lab.refusal("POST", "/api/v1/cluster/\(target)", 404, json: #"{"node": "node-1"}"#)
    }
  }

  @Test("nodes and zones are shown, and what keeps the node from being ready")
  func shown() throws {
    let shown = try lab.get("/api/v1/cluster")
    #expect(
      shown["name"].string == "node-1" && shown["ready"].text == "true" && shown["zoneCount"].text == "4")
    #expect(shown["nodes"].elements.map { $0["isThis"].text } == ["true", "false"])
    #expect(shown["zones"].elements.map { $0["seat"].string } == ["here", "elsewhere", "nowhere", "here"])
    #expect(shown["zones"][2]["owner"].isNull)
    cluster.because = "the NATS server is unreachable: refused"
    let troubled = try lab.get("/api/v1/cluster")
    #expect(troubled["ready"].text == "false" && troubled["because"].string == cluster.because)
    #expect(troubled["engine"]["connected"].text == "false")
  }

  @Test("a zone of this node is moved, one of another is that node's to move")
  func moved() throws {
    let moved = try move("3", to: "node-2")
    let zone = try #require(JSONReader.read(moved.body))
    #expect(moved.status == 200 && zone["zone"].text == "3" && zone["moving"].text == "true")
    #expect(cluster.asked == ["move 3 to node-2"])
    #expect(try nodeInCharge("zones/{zone}", "zones/1", to: "node-1") == "node-2")
    #expect(try nodeInCharge("zones/{zone}", "zones/3", to: "node-2") == nil)
  }

  @Test("a zone that is there already is left alone")
  func thereAlready() throws {
    #expect(try move("0", to: "node-1").status == 200)
    #expect(try move("1", to: "node-2").status == 200)
    #expect(cluster.asked.isEmpty)
  }

  @Test("what can't be moved is told why")
  func notMoved() throws {
    let here = #"{"node": "node-1"}"#
    for zone in ["x", "-1", "+1", "01", "1.0", "70000"] { _ = try refusal("zones/\(zone)", 400, json: here) }
    #expect(try refusal("zones/4", 404, json: here).contains("from 0 to 3"))
    #expect(try refusal("zones/2", 503, json: here).contains("no leader"))
    #expect(try refusal("zones/3", 409, json: #"{"node": "node-9"}"#).contains("node-1, node-2"))
    for body in ["{}", #"{"node": 2}"#, #"{"node": "node-2", "x": 1}"#] {
      _ = try refusal("zones/3", 400, json: body)
    }
    cluster.refusal = "it is on its way"
    #expect(try refusal("zones/3", 409, json: #"{"node": "node-2"}"#) == "it is on its way")
    #expect(cluster.asked.isEmpty)
  }

  /// The node that alone can do what is asked; nil if that is this one.
  private func nodeInCharge(_ pattern: String, _ target: String, to node: String? = nil) throws -> String? {
    let route = try #require(
      ClusterGroup(cluster).routes.first { $0.pattern.text == "/api/v1/cluster/\(pattern)" })
    guard case .node(let inCharge) = route.place else { throw CancellationError() }
    let body = node.map { Array(#"{"node": "\#($0)"}"#.utf8) } ?? []
    let http = try #require(HTTPRequest("POST", "/api/v1/cluster/\(target)", body: body))
    let captures = try #require(RouteTable([route]).find(http)).captures
    return try inCharge(ConsoleRequest(http: http, captures: captures, now: lab.now))?.name
  }

  @Test("where another node can't be asked, that is told")
  func notPassed() throws {
    #expect(try refusal("zones/1", 503, json: #"{"node": "node-1"}"#).contains("node-2"))
    #expect(try refusal("nodes/node-2/kill", 503).contains("node-2"))
  }

  @Test("a node is drained or killed by its own console, and no other")
  func orders() throws {
    for word in ["drain", "kill"] {
      let answer = try lab.ask("POST", "/api/v1/cluster/nodes/node-1/\(word)")
      #expect(answer.status == 202 && JSONReader.read(answer.body)?["does"].string == word)
      #expect(try nodeInCharge("nodes/{node}/\(word)", "nodes/node-1/\(word)") == nil)
      #expect(try nodeInCharge("nodes/{node}/\(word)", "nodes/node-2/\(word)") == "node-2")
    }
    #expect(cluster.asked == ["drain", "kill"])
    #expect(try refusal("nodes/node-9/kill", 404).contains("node-1, node-2"))
    _ = try refusal("nodes/node-1/kill", 400, json: #"{"now": true}"#)
    let page = HTTPField("Origin", "https://evil.example")
    #expect(try lab.ask("POST", "/api/v1/cluster/nodes/node-1/kill", fields: [page]).status == 403)
    #expect(cluster.asked.count == 2)
  }

  @Test("a node that is away is forgotten, one that lives or nobody knows is not")
  func forgotten() throws {
    #expect(try lab.get("/api/v1/cluster")["missing"].elements.map(\.string) == ["node-3"])
    #expect(try lab.ask("POST", "/api/v1/cluster/nodes/node-3/forget").status == 200)
    #expect(cluster.asked == ["forget node-3"])
    #expect(try refusal("nodes/node-2/forget", 409).contains("cluster drain node-2"))
    #expect(try refusal("nodes/node-9/forget", 404).contains("(node-3)"))
    cluster.refusal = "the NATS server does not answer"
    #expect(try refusal("nodes/node-3/forget", 503).contains("the NATS server does not answer"))
  }
}
