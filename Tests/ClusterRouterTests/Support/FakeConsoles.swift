import ClusterRouter
import PushModel
import Transport

/// Other nodes that have some devices, and answer nothing but what the test has them answer.
final class FakeConsoles: OtherConsoles {
  /// What one of them was asked.
  final class Question: OpenQuestion {
    let node: String
    let request: HTTPRequest
    /// The device that it is about, of what is for the device's node.
    let device: UDID?
    /// How long it may say nothing, in nanoseconds.
    let timeout: Int64?
    /// Hears the answer; nil once it is over, or was given up.
    private(set) var reader: (any AnswerReader)?
    private(set) var isPaused = false

    init(
      _ node: String, _ request: HTTPRequest, _ device: UDID?, _ timeout: Int64?, _ reader: any AnswerReader
    ) {
      (self.node, self.request, self.device, self.timeout) = (node, request, device, timeout)
      self.reader = reader
    }

    func answer(_ text: String, status: Int = 200) {
      let length = HTTPField("Content-Length", "\(text.utf8.count)")
      let reader = reader
      reader?.answered(HTTPResponse(status: status, fields: [length]))
      reader?.received(Array(text.utf8))
      self.reader = nil
      reader?.ended(nil)
    }

    func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }
    func hold(_ bytes: Int) {}
    func giveUp() { reader = nil }
  }

  var places: [String: NodePlace] = [:]
  var homes: [UInt64: NodePlace] = [:]
  var names: [String] = []
  var missing: [String] = []
  var isSettled = true
  let stallTime: Int64 = 1_000_000_000
  private(set) var questions: [Question] = []

  func place(of udid: UDID) -> NodePlace { places[udid.text] ?? .here }
  func home(of notification: UInt64) -> NodePlace { homes[notification] ?? .here }

  func ask(
    _ node: String, _ request: HTTPRequest, about device: UDID?, timeout: Int64?, _ reader: any AnswerReader
  ) -> any OpenQuestion {
    let question = Question(node, request, device, timeout, reader)
    questions.append(question)
    if device != nil { question.answer("elsewhere") }
    return question
  }
}
