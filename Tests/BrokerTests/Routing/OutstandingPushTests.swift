import PushModel
import Testing

import Broker

@Suite("A push over HTTP that waits for its verdict")
struct OutstandingPushTests {
  private final class Sink {
    let waiters = PushWaiters()
    var answer = PushVerdict.busy
    var told: [UInt64?] = []
    private var ticket = PushTicket(waiter: 0, sequence: 0)

    func submit() -> OutstandingPush {
      ticket.waiter = waiters.makeNumber()
      let push = OutstandingPush(answer, ticket, waiters) { [unowned self] in answer }
      push.then = { [unowned self] in told.append($0?.id) }
      return push
    }

    func settle() { waiters.settle(ticket, SubmissionResult(id: 7)) }
  }
  private let sink = Sink()

  @Test("is told it once, and waits no more")
  func settled() {
    sink.answer = .later(7)
    let push = sink.submit()
    #expect(push.id == 7 && sink.told == [] && !sink.waiters.isEmpty)
    sink.settle()
    #expect(sink.told == [7] && sink.waiters.isEmpty)
    sink.settle()
    push.endWithoutVerdicts()
    #expect(sink.told == [7])
  }

  @Test("is submitted again where the sink was too busy, until it is taken, and then no more")
  func busy() {
    let push = sink.submit()
    push.resume()
    #expect(push.id == nil && sink.told == [] && !sink.waiters.isEmpty)
    sink.answer = .later(8)
    push.resume()
    #expect(push.id == 8 && sink.told == [])
    sink.answer = .busy
    let other = sink.submit()
    sink.answer = .now(SubmissionResult(id: 9))
    push.resume()
    #expect(push.id == 8 && sink.told == [])
    other.resume()
    #expect(other.id == nil && sink.told == [9] && sink.waiters.all.count == 1)
  }

  @Test("hears of none when the emulator ends: what was never taken waits no more, what was taken goes on")
  func ended() {
    let never = sink.submit()
    never.endWithoutVerdicts()
    #expect(sink.told == [nil] && sink.waiters.isEmpty)
    sink.answer = .later(7)
    let taken = sink.submit()
    taken.endWithoutVerdicts()
    #expect(sink.told == [nil, nil] && sink.waiters.all.count == 1)
    sink.settle()
    #expect(sink.told == [nil, nil] && sink.waiters.isEmpty)
  }
}
