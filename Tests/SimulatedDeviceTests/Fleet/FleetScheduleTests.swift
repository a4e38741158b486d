import Basics
import SimulatedDevice
import Testing

@Suite("What a fleet goes through")
struct FleetScheduleTests {
  private static let begin = Instant(nanoseconds: 5_000_000_000)
  private static let second: Int64 = 1_000_000_000

  /// Fifty phones, ten a second.
  private func plan(offline: Int = 0, uninstall: Int = 0, seed: UInt64 = 1) -> FleetPlan {
    var plan = FleetPlan(phones: 50, rate: 10, seed: seed)
    (plan.offlinePercent, plan.uninstallPercent) = (offline, uninstall)
    (plan.offlineNanoseconds, plan.periodNanoseconds) = (2 * Self.second, 20 * Self.second)
    return plan
  }

  /// Everything until so many seconds after the beginning, each moment taken when it comes.
  private func moments(_ plan: FleetPlan, seconds: Int64) -> [FleetMoment] {
    var schedule = FleetSchedule(plan, begin: Self.begin)
    let end = Self.begin.adding(nanoseconds: seconds * Self.second)
    var moments: [FleetMoment] = []
    while let at = schedule.nextAt, at <= end {
      let before = moments.count
      while let moment = schedule.next(at: at) { moments.append(moment) }
      // A new period may begin with a moment that is later.
      if moments.count == before, schedule.nextAt == at { break }
    }
    return moments
  }

  private func seconds(_ moment: FleetMoment) -> Double {
    Double(moment.at.nanoseconds(since: Self.begin)) / Double(Self.second)
  }

  @Test("phones are switched on in their order, evenly, and then nothing happens")
  func starts() {
    let all = moments(plan(), seconds: 3600)
    #expect(all.map(\.phone) == Array(0..<50))
    #expect(all.allSatisfy { $0.step == .switchOn })
    #expect(all.enumerated().allSatisfy { abs(seconds($1) - Double($0) / 10) < 0.001 })
  }

  @Test("nothing comes early")
  func early() {
    var schedule = FleetSchedule(plan(), begin: Self.begin)
    #expect(schedule.next(at: Self.begin)?.phone == 0)
    #expect(schedule.next(at: Self.begin.adding(nanoseconds: Self.second / 10 - 1)) == nil)
    #expect(schedule.next(at: Self.begin.adding(nanoseconds: Self.second / 10))?.phone == 1)
  }

  @Test("the same share goes offline once in every period, and comes back when it was away long enough")
  func offline() {
    let all = moments(plan(offline: 20), seconds: 5 + 3 * 20).filter { $0.step != .switchOn }
    for period in 0..<3 {
      let begin = Double(5 + 20 * period)
      let left = all.filter { $0.step == .goOffline && (begin..<begin + 20).contains(seconds($0)) }
      #expect(Set(left.map(\.phone)).count == 10)
      #expect(Set(left.map(\.phone)) == Set(all.map(\.phone)))
      for moment in left {
        let back = all.first { $0.step == .comeBack && $0.phone == moment.phone && $0.at > moment.at }
        #expect(back?.at == moment.at.adding(nanoseconds: 2 * Self.second))
      }
    }
  }

  @Test("moments come in order of time, and each phone leaves and comes back in turn")
  func order() {
    let all = moments(plan(offline: 100, uninstall: 50), seconds: 200)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.at <= $1.at })
    for phone in 0..<50 {
      let steps = all.filter { $0.phone == phone && $0.step != .uninstall }.map(\.step)
      #expect(steps.first == .switchOn)
      #expect(
        steps.dropFirst().enumerated().allSatisfy { $1 == ($0.isMultiple(of: 2) ? .goOffline : .comeBack) })
      #expect(steps.count > 10)
    }
  }

  @Test("apps are removed once, within the first period")
  func uninstalls() {
    let removed = moments(plan(uninstall: 30), seconds: 3600).filter { $0.step == .uninstall }
    #expect(removed.count == 15 && Set(removed.map(\.phone)).count == 15)
    #expect(removed.allSatisfy { (5...25).contains(seconds($0)) })
  }

  @Test("the seed decides all of it")
  func seeds() {
    let first = moments(plan(offline: 20, uninstall: 20), seconds: 60)
    #expect(first == moments(plan(offline: 20, uninstall: 20), seconds: 60))
    #expect(first != moments(plan(offline: 20, uninstall: 20, seed: 2), seconds: 60))
  }
}
