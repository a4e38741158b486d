import Basics
import ClusterRouter
import Console
import ConsoleAnswers
import Testing
import Transport

/// Each node knows what has come in by it; who is asked lists it all.
@Suite("Advice of several nodes") struct MergedAdviceTests {
  private let others = FakeConsoles()
  private let lab: RouterLab

  init() {
    lab = RouterLab(others, nil)
    others.names = ["b", "c"]
  }

  private static func finding(_ id: String, _ severity: String, _ count: Int) -> String {
    #"{"id":"\#(id)","severity":"\#(severity)","count":\#(count),"sentence":"a \"quoted\" [word]"}"#
  }

  private static func answer(_ findings: [String], pushes: Int) -> String {
    #"{"findings":[\#(findings.joined(separator: ","))],"notifications":\#(pushes),"counts":{}}"#
  }

  /// Asks the node, which has a warning itself.
  private func ask(ofNode: Bool = false) throws -> Reply {
    let own = Self.answer([Self.finding("own", "warning", 5)], pushes: 10)
    let route = Route.get(
      "/api/v1/advice", "",
      .answer { _ in
        HTTPResponse(json: try #require(JSONReader.read(Array(own.utf8))))
      }
    ).at(.merged(.advice))
    let reply = Reply()
    let exchange = try reply.exchange("GET", "/api/v1/advice?severity=note", ofNode: ofNode)
    let call = ConsoleRequest(http: exchange.request, captures: [:], now: lab.context.now())
    exchange.refusing {
      let isTaken = try lab.router.take(call, exchange, route)
      #expect(isTaken)
    }
    return reply
  }

  private func document(_ reply: Reply) throws -> JSONValue {
    let response = try #require(reply.response)
    return try #require(JSONReader.read(response.body))
  }

  @Test("all are in one list, the worst first and then the most frequent, and pushes are added")
  func merged() throws {
    let reply = try ask()
    #expect(others.questions.map(\.node) == ["b", "c"])
    #expect(others.questions.allSatisfy { $0.request.path == "/api/v1/advice" && $0.timeout != nil })
    #expect(others.questions.allSatisfy { $0.request.queryValue("severity") == "note" })
    others.questions[0].answer(
      Self.answer([Self.finding("b1", "error", 1), Self.finding("b2", "note", 99)], pushes: 7))
    #expect(reply.response == nil, "one has not answered")
    others.questions[1].answer(
      Self.answer([Self.finding("c1", "error", 3), Self.finding("c2", "warning", 6)], pushes: 0))
    let merged = try document(reply)
    #expect(merged["findings"].elements.map { $0["id"].string } == ["c1", "b1", "c2", "own", "b2"])
    #expect(merged["findings"].elements.first?["sentence"].string == #"a "quoted" [word]"#)
    #expect(merged["notifications"].text == "17")
    #expect(merged["counts"].text == #"{"error":2,"warning":2,"note":1}"#)
    #expect(merged["missing"].text == "[]")
  }

  @Test("a node that does not answer, or answers nonsense, is left out and named", arguments: [503, 200])
  func missing(status: Int) throws {
    others.missing = ["gone"]
    let reply = try ask()
    others.questions[0].answer("nonsense", status: status)
    others.questions[1].answer(Self.answer([], pushes: 1))
    let merged = try document(reply)
    #expect(merged["findings"].elements.map { $0["id"].string } == ["own"])
    #expect(merged["missing"].text == #"["b","gone"]"#)
    #expect(merged["notifications"].text == "11")
  }

  @Test("asked by another node, it answers for itself alone")
  func ofNode() throws {
    let merged = try document(ask(ofNode: true))
    #expect(others.questions.isEmpty)
    #expect(merged["findings"].elements.map { $0["id"].string } == ["own"])
    #expect(merged["notifications"].text == "10")
  }
}
