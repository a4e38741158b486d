import CLibrary
import Platform
import Testing
import Transport

@Suite("Work beside the loop", .timeLimit(.minutes(15)))
struct BackgroundWorkTests {
  private let loop: EventLoop
  private let work: BackgroundWork

  init() throws {
    loop = try #require(EventLoop())
    work = try #require(BackgroundWork(loop))
  }

  /// Unchecked: written by one thread before the loop reads it.
  private final class Seen: @unchecked Sendable {
    var threads: [Bool] = []
  }

  @Test("is done one after the other on other threads, and answered in order on the loop's")
  func order() {
    let (seen, here) = (Seen(), pthread_self())
    var answers: [Int] = []
    for number in 1...5 {
      let isTaken = work.run {
        seen.threads.append(pthread_equal(pthread_self(), here) != 0)
        return number * 10
      } then: {
        #expect(pthread_equal(pthread_self(), here) != 0)
        answers.append($0)
      }
      #expect(isTaken)
    }
    #expect(answers.isEmpty)
    while answers.count < 5 { loop.runTurn() }
    #expect(answers == [10, 20, 30, 40, 50] && seen.threads == [false, false, false, false, false])
  }

  private func expectTaken(_ isTaken: Bool) { #expect(isTaken) }

  @Test("is refused where 32 wait, and taken again later")
  func limit() {
    var done = 0
    for _ in 0..<32 { expectTaken(work.run({ 1 }, then: { done += $0 })) }
    let isTaken = work.run({ 1 }, then: { _ in Issue.record("it was refused") })
    #expect(!isTaken)
    while done < 32 { loop.runTurn() }
    expectTaken(work.run({ 1 }, then: { done += $0 }))
    while done <= 32 { loop.runTurn() }
  }

  @Test("that is asked for by an answer comes behind what waits")
  func nested() {
    var order: [String] = []
    _ = work.run({ 1 }) { _ in
      order.append("first")
      _ = work.run({ 3 }) { _ in order.append("third") }
    }
    _ = work.run({ 2 }) { _ in order.append("second") }
    while order.count < 3 { loop.runTurn() }
    #expect(order == ["first", "second", "third"])
  }

  @Test("is the loop's where the system can't start a thread, unless the loop can't wait for it")
  func noThread() throws {
    loop.refusesThreads = true
    var answers: [String] = []
    expectTaken(work.run({ "done" }, then: { answers.append($0) }))
    expectTaken(work.run({ "done" }, withoutThread: { "not done" }, then: { answers.append($0) }))
    #expect(answers.isEmpty)
    while answers.count < 2 { loop.runTurn() }
    #expect(answers == ["done", "not done"])
  }

  @Test("a name is not looked up without a thread: whoever asked hears that it failed")
  func lookUp() throws {
    loop.refusesThreads = true
    let resolver = AddressResolver(loop: loop)
    var answers: [Result<[SocketAddress], SocketError>] = []
    resolver.resolve(SocketAddress(host: "localhost", port: 1)) { answers.append($0) }
    while answers.isEmpty { loop.runTurn() }
    let error = #expect(throws: SocketError.self) { try answers[0].get() }
    #expect(error?.sentence == "the system can't start a thread")
  }

  @Test("nobody hears of what is at work when it is let go")
  func letGo() throws {
    let gate = try #require(NumberPipe())
    let end = try #require(NumberPipe())
    var other = BackgroundWork(loop)
    let isTaken = other?.run {
      _ = gate.receive()
      end.send(1)
      return 0
    } then: { _ in
      Issue.record("it was let go")
    }
    #expect(isTaken == true)
    other = nil
    gate.send(1)
    #expect(end.receive() == 1)
    loop.runTurn(wait: false)
    gate.close()
    end.close()
  }
}
