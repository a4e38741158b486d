import Testing
import Transport

@testable import ClusterRouter

@Suite("What one other node answers") struct NodeAnswerTests {
  private let others = FakeConsoles()

  /// What was told, once for each piece of news.
  private final class News { var count = 0 }
  private let news = News()

  private func ask(_ form: NodeAnswer.Form) throws -> (answer: NodeAnswer, question: FakeConsoles.Question) {
    let answer = NodeAnswer("b", form) { [news] _ in news.count += 1 }
    let request = try #require(HTTPRequest("GET", "/it"))
    answer.ask(others, request, timeout: nil)
    return (answer, try #require(others.questions.last))
  }

  private func say(_ question: FakeConsoles.Question, _ text: String) {
    question.reader?.received(Array(text.utf8))
  }

  @Test("elements of a list come one by one, and what stands behind it when it has ended")
  func list() throws {
    let (answer, question) = try ask(.list)
    question.reader?.answered(HTTPResponse(status: 200))
    say(question, #"{"found":[{"id":1},{"#)
    #expect(answer.take()?.bytes == Array(#"{"id":1}"#.utf8) && answer.take() == nil && news.count == 1)
    say(question, #""id":2}],"next":7}"#)
    question.reader?.ended(nil)
    #expect(answer.take()?.bytes == Array(#"{"id":2}"#.utf8) && answer.hasEnded && !answer.hasFailed)
    #expect(answer.rest == Array(#"{"next":7}"#.utf8) && news.count == 3)
  }

  @Test("events come with their names and ids, and a stream that ends has failed")
  func events() throws {
    let (answer, question) = try ask(.events)
    question.reader?.answered(HTTPResponse(status: 200))
    say(question, "id: x-1\nevent: boot\ndata: {}\n\n")
    let event = try #require(answer.take())
    #expect(event.id == "x-1" && event.name == "boot" && event.bytes == Array("{}".utf8))
    question.reader?.ended(nil)
    #expect(answer.hasFailed && !answer.hasEnded)
  }

  @Test("with too much that nobody takes, no more is read")
  func backlog() throws {
    let (answer, question) = try ask(.list)
    question.reader?.answered(HTTPResponse(status: 200))
    let large = #"{"x":""# + String(repeating: "x", count: 40_000) + #""}"#
    say(question, #"{"found":["# + large + ",")
    #expect(!question.isPaused)
    say(question, large + ",")
    #expect(question.isPaused)
    _ = answer.take()
    #expect(!question.isPaused)
  }

  @Test("who refuses has failed, and is asked no more", arguments: [NodeAnswer.Form.list, .events])
  func refused(form: NodeAnswer.Form) throws {
    let (answer, question) = try ask(form)
    question.reader?.answered(HTTPResponse(status: 503))
    #expect(answer.hasFailed && !answer.hasBegun && question.reader == nil && news.count == 1)
  }

  @Test("nobody who has stopped hears more, and that is no failure of the node's")
  func stopped() throws {
    let (answer, question) = try ask(.list)
    answer.stop()
    #expect(question.reader == nil && !answer.isOver && news.count == 0)
    let (given, _) = try ask(.list)
    given.giveUp()
    #expect(given.hasFailed && news.count == 0)
  }
}
