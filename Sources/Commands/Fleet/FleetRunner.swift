import Basics
import DeviceDriver
import Platform
import SimulatedDevice
import Transport

/// A fleet on its loop: does what the schedule says, hears what phones tell, and knows when it is over.
final class FleetRunner {
  /// How long steps may take in one turn of the loop, in nanoseconds.
  private static let stepBudget: Int64 = 10_000_000

  let site: FleetSite
  var tally: FleetTally
  private let output: FleetOutput
  private let stamp: String?
  private var remaining: Int?
  private let plan: FleetPlan
  private var schedule: FleetSchedule
  private let client: ClientLoop
  private let route: CourierRoute
  private var phones: [FleetPhone] = []
  private var timer: LoopEvent?
  private var reporter: LoopEvent?
  private var begin = SystemClock.now()
  private var hasWallClock = false
  private var failure: (any Error)?

  init(_ plan: FleetPlan, site: FleetSite, output: FleetOutput, count: Int?, stamp: String?) throws {
    (self.plan, self.site, self.output, self.stamp, remaining) = (plan, site, output, stamp, count)
    schedule = FleetSchedule(plan, begin: begin)
    tally = FleetTally(phones: plan.phones)
    client = try ClientLoop()
    route = try site.route(on: client.loop)
  }

  /// Runs until enough notifications came, the time is over, or it is interrupted.
  func run(limit nanoseconds: Int64?) throws -> ExitStatus {
    try site.checkReachable()
    hasWallClock = site.hasWallClock
    client.stop(at: .interrupt, .terminate)
    timer = LoopEvent(timerOn: client.loop) { [unowned self] in takeSteps() }
    reporter = LoopEvent(timerOn: client.loop) { [unowned self] in report() }
    begin = SystemClock.now()
    schedule = FleetSchedule(plan, begin: begin)
    takeSteps()
    reporter?.start(afterNanoseconds: output.progressInterval)
    client.run(limit: nanoseconds)
    return try finish()
  }

  private var elapsed: Int64 { SystemClock.now().nanoseconds(since: begin) }

  private func finish() throws -> ExitStatus {
    timer?.cancel()
    reporter?.cancel()
    let total = (tally, elapsed)
    for phone in phones { phone.device.switchOff() }
    client.flush()
    if let failure { throw failure }
    try output.summary(total.0, after: total.1, latencySince: latencySince)
    guard total.0.ready == plan.phones else {
      throw CommandFailure("\(plan.phones - total.0.ready) of \(plan.phones) phones never got their tokens")
    }
    return remaining ?? 0 > 0 ? .failure : .success
  }

  /// Where latency is measured from; nil if what the emulator dates can't be compared with what is seen here.
  private var latencySince: String? {
    if let stamp { return "the payload's \(stamp)" }
    return hasWallClock && site.hasWallClock ? "when the emulator took the push" : nil
  }

  // MARK: Steps

  /// What is behind goes on in the next turn: a phone waits for its activation, and the others want to be heard.
  private func takeSteps() {
    let end = SystemClock.now().adding(nanoseconds: Self.stepBudget)
    attempt {
      var now = SystemClock.now()
      while now < end, let moment = schedule.next(at: now) {
        try take(moment.step, phone: moment.phone)
        now = SystemClock.now()
      }
    }
    guard let next = schedule.nextAt else { return }
    timer?.start(afterNanoseconds: next.nanoseconds(since: SystemClock.now()))
  }

  private func take(_ step: FleetMoment.Step, phone: Int) throws {
    switch step {
    case .switchOn:
      phones.append(FleetPhone(try site.makeDevice(phone, seed: plan.seed(of: phone), route), of: self))
      phones[phone].device.switchOn()
    case .goOffline: phones[phone].device.tell(.networkLost)
    case .comeBack: phones[phone].device.tell(.networkFound)
    case .uninstall: phones[phone].uninstall()
    }
  }

  private func report() {
    attempt { try output.progress(tally, after: elapsed) }
    reporter?.start(afterNanoseconds: output.progressInterval)
  }

  // MARK: What phones tell

  func uninstall(_ state: DeviceState) { tally.removalsFailed += site.uninstall(state) }

  /// One more phone has its tokens.
  func ready() {
    tally.ready += 1
    if tally.ready == plan.phones { attempt { try output.ready(tally, phones, after: elapsed) } }
  }

  func notified(_ notification: DeviceNotification, isFirst: Bool) {
    tally.notified(
      isKept: notification.isFromStore, isFirst: isFirst, latency: latency(of: notification),
      at: SystemClock.now())
    guard let left = remaining else { return }
    remaining = max(0, left - 1)
    if left == 1 { client.stop() }
  }

  private func latency(of notification: DeviceNotification) -> Int64? {
    guard stamp != nil || hasWallClock else { return nil }
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    let sentAt =
      stamp.map { SendStamp.time(in: notification.payload, member: $0) } ?? notification.acceptedAt
    return sentAt.map { now.nanoseconds - $0.nanoseconds }
  }

  func failed(_ error: any Error) {
    failure = failure ?? error
    client.stop()
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { failed(error) }
  }
}
