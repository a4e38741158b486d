import Basics
import Console
import ConsoleAnswers
import PushModel
import Testing

import Drill

@Suite("Where drills of a server are asked for")
struct DrillDeskTests {
  private let desk: DrillDesk
  private let answers = Answers()

  /// What clients were answered.
  private final class Answers {
    var list: [Result<DrillOutcome, ConsoleError>] = []
  }

  init() throws { desk = DrillDesk(try #require(Topic("com.example.app"))) }

  private func begin(_ id: String, timeout: Int64? = nil) throws {
    try desk.begin(id, timeout: timeout) { [answers] in answers.list.append($0) }
  }

  /// Status and message of what is refused.
  private func refusal(_ act: () throws -> Void) -> (status: Int, message: String)? {
    do {
      try act()
      return nil
    } catch let error as ConsoleError {
      return (error.status, error.message)
    } catch {
      return nil
    }
  }

  @Test("the run without a fault comes first, and its failure allows no other")
  func baselineFirst() throws {
    let early = refusal { try begin("shutdown") }
    #expect(early?.status == 409 && early?.message.contains("POST /api/v1/drills/baseline") == true)
    try begin("baseline")
    desk.finish(.success(DrillOutcome()))
    #expect(refusal { try begin("shutdown") }?.status == 409)
    desk.baseline = Facts.baseline()
    try begin("shutdown")
    #expect(answers.list.count == 1)
  }

  @Test("one run goes on at a time, and its client has one answer")
  func oneAtATime() throws {
    try begin("baseline")
    let second = refusal { try begin("baseline") }
    #expect(second?.status == 409 && second?.message.hasPrefix("baseline is running") == true)
    desk.finish(.success(DrillOutcome()))
    desk.finish(.success(DrillOutcome()))
    #expect(answers.list.count == 1)
    try begin("baseline")
  }

  @Test("an id that there is not is told with the nearest, whatever goes on")
  func unknown() throws {
    try begin("baseline")
    let unknown = refusal { try begin("goaway-gracefull") }
    #expect(unknown?.status == 404)
    #expect(unknown?.message.contains("did you mean goaway-graceful?") == true)
  }

  @Test("drills that are not for the server are listed with the reason, and refused with it")
  func skipped() throws {
    let reason = "the server does not speak the binary protocol"
    #expect(!desk.overview.json.text.contains(reason))
    desk.baseline = Facts.baseline()
    let count = desk.overview.json.text.split(separator: reason, omittingEmptySubsequences: false).count - 1
    #expect(count == DrillCatalogue.all.count { $0.interface == .binary })
    #expect(
      refusal { try begin("binary-shutdown") }?.message == reason)
  }

  @Test("a server has the time of a command, or what its client says")
  func limits() throws {
    func limit(_ id: String, _ timeout: Int64? = nil) throws -> Int64? {
      try begin(id, timeout: timeout)
      defer { desk.finish(.failure(.goesAway)) }
      return desk.asked?.limit
    }
    #expect(try limit("baseline") == 90_000_000_000)
    #expect(try limit("baseline", 2500) == 2_500_000_000)
    // Five times 0.4 s, and 5 s; with a minute for timeouts of the server's own where the drill has it wait.
    desk.baseline = Facts.baseline()
    #expect(try limit("service-unavailable") == 7_000_000_000)
    #expect(try limit("shutdown") == 67_000_000_000)
  }

  @Test("a run is complete once it has tokens, and those that are not sent are of the run")
  func complete() throws {
    let token = try #require(CustomToken(bytes: [0xab, 0xcd]))
    let stranger = try #require(CustomToken(bytes: [0xab]))
    #expect(refusal { _ = try desk.complete(notSent: nil) }?.status == 409)
    try begin("baseline")
    #expect(refusal { _ = try desk.complete(notSent: nil) }?.status == 409)
    desk.asked?.began(tokens: [[1, 2], [0xab, 0xcd]], udids: [UDID("drill-1-1"), nil])
    let running = desk.overview.running?.json.text
    #expect(running == #"{"id":"baseline","tokens":["0102","abcd"],"udids":["drill-1-1",null]}"#)
    let wrong = refusal { _ = try desk.complete(notSent: [token, stranger]) }
    #expect(wrong?.status == 400 && wrong?.message.contains("notSent[1]") == true)
    #expect(desk.asked?.isComplete == false)
    #expect(try desk.complete(notSent: [token]) == "baseline")
    #expect(desk.asked?.isComplete == true && desk.asked?.notSent == [1])
  }

  @Test("a run that nobody waits for is told so")
  func abandoned() throws {
    desk.abandon()
    try begin("baseline")
    #expect(desk.asked?.isAbandoned == false)
    desk.abandon()
    #expect(desk.asked?.isAbandoned == true)
  }
}
