import Basics
import Console
import Testing
import Transport

@Suite("Drills of a server that runs, by the API")
struct DrillRoutesTests {
  private let board = FakeDrills()
  private let lab = GroupLab()
  private static let place = "/api/v1/drills"

  private func ask(_ method: String, _ path: String = "", json: String = "{}") throws -> HTTPResponse {
    try lab.ask(DrillGroup(board), method, Self.place + path, json: json)
  }

  private func document(_ response: HTTPResponse) throws -> JSONValue {
    try #require(JSONReader.read(response.body, maximumDepth: 64))
  }

  @Test("an emulator that runs none says how to start one that does")
  func absent() throws {
    for (method, path) in [("GET", ""), ("POST", "/shutdown"), ("POST", "/complete")] {
      let answer = try lab.ask(DrillGroup(nil), method, Self.place + path, json: method == "GET" ? "" : "{}")
      #expect(answer.status == 503)
      #expect(String(decoding: answer.body, as: UTF8.self).contains("apns-emulator drill --serve"))
    }
  }

  @Test(
    "the list has each drill with what goes wrong, what is right and its heading; and the run with its tokens"
  )
  func list() throws {
    let idle = try document(ask("GET", json: ""))
    #expect(idle["running"].isNull && idle["baseline"].text == "false")
    let expected = #"""
      {"id":"shutdown","interface":"http2","summary":"503 for three pushes","remedy":"send them again",
      "evidence":{"page":"Documentation/drills.md","heading":"shutdown"},
      "skipped":"the server does not speak HTTP/2"}
      """#.filter { $0 != "\n" }
    #expect(idle["drills"][0].text == expected)
    board.overview = .running
    let running = try document(ask("GET", json: ""))["running"]
    #expect(running.text == #"{"id":"shutdown","tokens":["ab","cd"],"udids":["drill-1-1",null]}"#)
  }

  @Test("a run is answered once it is over, with 200 whatever the verdict")
  func verdict() throws {
    let answer = try ask("POST", "/shutdown", json: #"{"timeoutMs":2500}"#)
    #expect(answer.status == 200)
    #expect(board.begun.map(\.id) == ["shutdown"] && board.begun.first?.timeout == 2500)
    let expected = #"""
      {"id":"shutdown","verdict":"FAIL","passed":false,"sent":10,"once":7,"twice":0,"never":0,"refused":3,
      "reported":0,"lost":3,"doubled":0,"nanoseconds":400000000,"status":0,"attempts":1,
      "sentence":"3 pushes were lost",
      "evidence":{"page":"Documentation/provider-api.md","heading":"reasons"},
      "advice":[{"id":"lost-at-goaway","severity":"error","count":3,"sentence":"3 pushes were lost."}],
      "notes":[],"again":""}
      """#.filter { $0 != "\n" }
    #expect(try document(answer).text == expected)
  }

  @Test("how long a server may take has limits", arguments: [99, 600_001])
  func timeouts(milliseconds: Int) throws {
    #expect(try ask("POST", "/shutdown", json: #"{"timeoutMs":\#(milliseconds)}"#).status == 400)
    #expect(board.begun.isEmpty)
  }

  @Test("what can't be run now, and how a run ends without a verdict, is told")
  func refused() throws {
    board.refusal = .conflict("baseline is running")
    #expect(try ask("POST", "/shutdown").status == 409)
    #expect(try ask("POST", "/complete").status == 409)
    (board.refusal, board.outcome) = (nil, .failure(.goesAway))
    #expect(try ask("POST", "/shutdown").status == 503)
  }

  @Test("that the server is done is said with the tokens that it could not send to, or without")
  func complete() throws {
    let answer = try ask("POST", "/complete", json: #"{"notSent":["ABCD"]}"#)
    #expect(try document(answer).text == #"{"id":"baseline"}"#)
    #expect(board.notSent?.map(\.hex) == ["abcd"])
    #expect(try ask("POST", "/complete").status == 200 && board.notSent == nil)
    #expect(try ask("POST", "/complete", json: #"{"notSent":["no token"]}"#).status == 400)
  }

  @Test("a client that goes away before the end abandons the run, and one that has its answer does not")
  func gone() throws {
    let consoleLab = ConsoleLab { $0.drills = board }
    board.outcome = nil
    let answered = try consoleLab.open("POST", Self.place + "/shutdown", json: "{}")
    #expect(answered.response == nil)
    board.finish(.success(.failed))
    #expect(answered.response?.status == 200)
    answered.exchange?.clientGone()
    #expect(board.abandonments == 0)
    let waiting = try consoleLab.open("POST", Self.place + "/shutdown", json: "{}")
    waiting.exchange?.clientGone()
    #expect(board.abandonments == 1)
  }
}
