import Basics
import Testing
import Transport

import ClusterRouter

@Suite("A wait and a list at several nodes") struct MergedWaitTests {
  private let path = "/api/v1/notifications/wait"
  private let others = FakeConsoles()
  private let lab: RouterLab

  init() {
    lab = RouterLab(others)
    others.names = ["b", "c"]
  }

  private func wait(_ json: String) throws -> Reply { try lab.open("POST", path, json: json) }

  private func pass(_ milliseconds: Int64) {
    lab.timers.pass(milliseconds: milliseconds)
    for _ in 0..<100 { lab.turn() }
  }

  /// What is asked of a node after some questions that were asked before.
  private func question(_ node: String, after count: Int = 0) throws -> FakeConsoles.Question {
    try #require(others.questions.dropFirst(count).last { $0.node == node })
  }

  private func missing(_ reply: Reply, _ status: Int) throws -> [String?] {
    let response = try #require(reply.response)
    #expect(response.status == status)
    return try #require(JSONReader.read(response.body))["missing"].elements.map(\.string)
  }

  @Test("It takes the time that was asked for, though a node says nothing, and names that one")
  func silentNode() throws {
    let answer = try wait(#"{"timeoutMs": 1000}"#)
    try question("c").reader?.answered(HTTPResponse(status: 200))
    pass(999)
    #expect(answer.response == nil)
    pass(1)
    try question("c").answer(#"{"found":[],"nearMisses":[]}"#)
    let count = others.questions.count
    pass(0)
    #expect(others.questions.dropFirst(count - 1).map(\.node) == ["c"], "b is not waited for again")
    try question("c").answer(#"{"notifications":[],"next":7}"#)
    pass(0)
    #expect(try missing(answer, 408) == ["b"])
  }

  @Test("A node that falls silent amid a wait has a moment for what it has found, and no more")
  func silentAmid() throws {
    others.names = ["b"]
    let answer = try wait(#"{"timeoutMs": 1000}"#)
    try question("b").reader?.answered(HTTPResponse(status: 200))
    pass(1000)
    #expect(answer.response == nil)
    pass(ClusterRouter.waitGrace / 1_000_000)
    #expect(try missing(answer, 408) == ["b"])
  }

  @Test("With no time at all a node that lives still has a moment to answer")
  func noTime() throws {
    others.names = ["b"]
    let answer = try wait(#"{"timeoutMs": 0}"#)
    pass(0)
    #expect(answer.response == nil)
    try question("b").answer(#"{"found":[],"nearMisses":[]}"#)
    let shown = try question("b", after: 1)
    #expect(shown.timeout == ClusterRouter.waitGrace)
    shown.answer(#"{"notifications":[],"next":7}"#)
    pass(0)
    #expect(try missing(answer, 408) == [])
  }

  @Test("What is found here is not held back by a node that says nothing")
  func found() throws {
    others.names = ["b"]
    let token = try lab.install()
    let answer = try wait("{}")
    pass(ClusterRouter.waitGrace / 1_000_000)
    try lab.push(token, "{}")
    pass(0)
    #expect(try missing(answer, 200) == ["b"])
  }

  @Test("A wait that is fulfilled gives the node that has found it as much time to show it as a list does")
  func foundElsewhere() throws {
    (others.names, others.homes) = (["b"], [7: .at("b")])
    let answer = try wait("{}")
    let mark = #"{"id":7,"receivedAt":"2026-01-02T03:04:05.678Z"}"#
    try question("b").answer(#"{"found":[\#(mark)],"nearMisses":[]}"#)
    let shown = try question("b", after: 1)
    #expect(shown.timeout == ClusterRouter.otherTimeout && answer.response == nil)
    shown.answer(#"{"notifications":[\#(mark)],"next":8}"#)
    pass(0)
    #expect(try missing(answer, 200) == [])
  }

  @Test("A node that goes while it is told what came near leaves nothing")
  func goesAmidMisses() throws {
    let token = try lab.install()
    for _ in 0..<100 { try lab.push(token, "{}") }
    let match = #"{"topic": "a.b", "udid": "none", "interface": "console", "status": 404, "q": "no"}"#
    let answer = try lab.open("POST", path, json: #"{"match": \#(match), "timeoutMs": 0}"#, ofNode: true)
    try #require(answer.response == nil && !answer.hasEnded, "it takes more than a turn")
    answer.asked?.clientGone()
    pass(0)
    #expect(lab.context.waits.count == 0 && answer.response == nil && !answer.hasEnded)
  }

  @Test("Nodes that are known to the cluster and away are named as long as they are")
  func away() throws {
    (others.names, others.missing) = ([], ["b"])
    #expect(try lab.get("/api/v1/notifications")["missing"].elements.map(\.string) == ["b"])
    let answer = try wait(#"{"timeoutMs": 1000}"#)
    pass(1000)
    #expect(try missing(answer, 408) == ["b"])
    others.missing = []
    #expect(try lab.get("/api/v1/notifications")["missing"].elements.isEmpty)
  }
}
