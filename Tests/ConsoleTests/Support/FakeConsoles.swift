import Console
import PushModel
import Transport

/// Other nodes that have some devices, and answer nothing but what the test has them answer.
final class FakeConsoles: OtherConsoles {
  /// What one of them was asked about its own.
  final class Question: OpenQuestion {
    let node: String
    let request: HTTPRequest
    /// How long it may say nothing, in nanoseconds.
    let timeout: Int64?
    /// Hears the answer; nil once it was given up.
    private(set) weak var reader: (any AnswerReader)?

    init(_ node: String, _ request: HTTPRequest, _ timeout: Int64?, _ reader: any AnswerReader) {
      (self.node, self.request, self.timeout, self.reader) = (node, request, timeout, reader)
    }

    func answer(_ json: String) {
      reader?.answered(HTTPResponse(status: 200))
      reader?.received(Array(json.utf8))
      reader?.ended(nil)
    }

    func setPaused(_ isPaused: Bool) {}
    func hold(_ bytes: Int) {}
    func giveUp() { reader = nil }
  }

  var places: [String: ConsolePlace] = [:]
  var homes: [UInt64: NotificationHome] = [:]
  var names: [String] = []
  var missing: [String] = []
  private(set) var questions: [Question] = []
  private(set) var asked: [String] = []
  private(set) var endless: [Bool] = []
  var isSettled: Bool { true }

  func place(of udid: UDID) -> ConsolePlace { places[udid.text] ?? .here }
  func home(of notification: UInt64) -> NotificationHome { homes[notification] ?? .here }

  func spread(_ request: HTTPRequest, timeout: Int64?, done: @escaping ([OtherAnswer]) -> Void) { done([]) }

  func ask(_ node: String, _ request: HTTPRequest, timeout: Int64?, _ reader: any AnswerReader)
    -> any OpenQuestion
  {
    let question = Question(node, request, timeout, reader)
    questions.append(question)
    return question
  }

  func pass(_ exchange: HTTPExchange, to node: String, refuse: @escaping (String) -> HTTPResponse) {
    exchange.respond(refuse(node))
  }

  func pass(
    _ exchange: HTTPExchange, for udid: UDID, endless: Bool, refuse: @escaping (String) -> HTTPResponse
  ) {
    asked.append("\(exchange.request.method) \(exchange.request.path)")
    self.endless.append(endless)
    exchange.respond(HTTPResponse(status: 200, text: "elsewhere"))
  }
}
