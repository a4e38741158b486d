import Broker
import PushModel

@testable import Emulator

/// Takes pushes and says nothing until the test does.
final class LateSink: PushSink {
  struct Taken: Equatable {
    var ticket: PushTicket
    /// The identifier of the frame; 0 over HTTP.
    var identifier: UInt32
    var kept: Int64
  }

  private let waiters: PushWaiters
  /// What was submitted and has no verdict, in order.
  private(set) var taken: [Taken] = []
  /// Every identifier, in the order of coming.
  private(set) var seen: [UInt32] = []
  private(set) var turnedAway: Set<Int> = []
  private(set) var thrownAway: [Int] = []
  /// Identifiers of those that were accepted, and that their provider takes for thrown away.
  private(set) var undone: [UInt32] = []
  /// What is kept for providers, by its id.
  private(set) var kept: Set<Int64> = []
  private var lastKept: Int64 = 0
  var isBusy = false
  /// Identifiers of those that are accepted at once.
  var atOnce: Set<UInt32> = []
  var window = 100
  var mayRetry = false
  var decidesAllFirst = false

  init(_ emulator: Emulator) { waiters = emulator.waiters }

  func submit(
    _ push: PlainSubmission, detail: NotificationDetail?, kept: Int64, for ticket: PushTicket, now: Timestamp
  ) -> PushVerdict {
    guard !isBusy else {
      turnedAway.insert(ticket.waiter)
      return .busy
    }
    if atOnce.contains(push.identifier) { return .now(SubmissionResult(id: 1)) }
    taken.append(Taken(ticket: ticket, identifier: push.identifier, kept: kept))
    seen.append(push.identifier)
    return .later(UInt64(seen.count))
  }

  /// The verdict on the push that came as this one of those without.
  func settle(_ index: Int, _ rejection: Rejection? = nil) {
    let push = taken.remove(at: index)
    kept.remove(push.kept)
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

  func flush() {}

  func keep(_ frame: [UInt8], of provider: GatewayProvider) -> Int64 {
    lastKept += 1
    kept.insert(lastKept)
    return lastKept
  }

  func forget(kept: [Int64]) { self.kept.subtract(kept) }
  func kept(of waiter: Int) -> [Int64] { taken.filter { $0.ticket.waiter == waiter }.map(\.kept) }
  func throwAway(of waiter: Int) { thrownAway.append(waiter) }
}

extension EmulatorHarness {
  /// Has all pushes go to a sink whose verdicts come when the test says so.
  func makeVerdictsLate() -> LateSink {
    let sink = LateSink(emulator)
    emulator.sink = sink
    return sink
  }
}
