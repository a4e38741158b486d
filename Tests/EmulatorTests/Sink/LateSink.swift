import Basics
import Broker
import PushModel
import Testing

import Emulator

/// Takes pushes and says nothing until the test does.
final class LateSink: BridgeSink {
  struct Taken: Equatable {
    var ticket: PushTicket
    /// The identifier of the frame; 0 over HTTP.
    var identifier: UInt32
  }

  private let waiters: PushWaiters
  /// What was submitted and has no verdict, in order.
  private(set) var taken: [Taken] = []
  /// Every identifier, in the order of coming.
  private(set) var seen: [UInt32] = []
  private(set) var turnedAway: Set<Int> = []
  private(set) var discarded: [Int] = []
  /// Identifiers of those that were accepted, and that their provider takes for discarded.
  private(set) var undone: [UInt32] = []
  /// What is kept for providers, by its id.
  private(set) var kept: Set<Int64> = []
  private var lastKept: Int64 = 0
  var released = ReleasedPushes()
  var isBusy = false
  /// Identifiers of those that are accepted at once.
  var atOnce: Set<UInt32> = []
  var window = PushWindow(size: 100)

  init(_ waiters: PushWaiters) { self.waiters = waiters }

  func submit(_ push: PlainSubmission, detail: NotificationDetail?, for ticket: PushTicket, now: Timestamp)
    -> PushVerdict
  {
    guard !isBusy else {
      turnedAway.insert(ticket.waiter)
      return .busy
    }
    if atOnce.contains(push.identifier) { return .now(SubmissionResult(id: 1)) }
    taken.append(Taken(ticket: ticket, identifier: push.identifier))
    seen.append(push.identifier)
    return .later(UInt64(seen.count))
  }

  /// The verdict on the push that came as this one of those without.
  func settle(_ index: Int, _ rejection: Rejection? = nil) {
    let push = taken.remove(at: index)
    kept.remove(push.ticket.kept)
    waiters.settle(push.ticket, SubmissionResult(id: 1, rejection: rejection)) { [unowned self] in
      undone.append(push.identifier)
    }
  }

  /// There is room again.
  func goOn() {
    isBusy = false
    let waiting = turnedAway.sorted()
    turnedAway = []
    for waiter in waiting { waiters[waiter]?.resume() }
  }

  func keep(_ frame: [UInt8], _ topic: TopicID?, _ environment: Environment) -> Int64 {
    lastKept += 1
    kept.insert(lastKept)
    return lastKept
  }

  func forget(_ ids: [Int64]) { kept.subtract(ids) }

  func keptOfSubmitted(on number: Int) -> [Int64] {
    taken.filter { $0.ticket.waiter == number }.map(\.ticket.kept)
  }

  func discard(of waiter: Int) { discarded.append(waiter) }
}

extension EmulatorHarness {
  /// One with a console, all of whose pushes go to a sink whose verdicts come when the test says so.
  static func withLateVerdicts() throws -> (EmulatorHarness, LateSink) {
    var sink: LateSink?
    let harness = try EmulatorHarness(
      { $0.listeners.console = .number(0) },
      sink: {
        let late = LateSink($0)
        sink = late
        return late
      })
    return (harness, try #require(sink))
  }
}
