import Basics

/// What a fleet of phones is to go through, in figures. The seed says which phones, and when.
package struct FleetPlan: Equatable, Sendable {
  /// Phones, as a count.
  package var phones: Int
  /// Phones that are switched on in a second.
  package var rate: Int
  /// Phones of a hundred that go offline once in every period, and come back.
  package var offlinePercent = 0
  /// How long they stay offline, in nanoseconds: less than the period.
  package var offlineNanoseconds: Int64 = 10_000_000_000
  package var periodNanoseconds: Int64 = 60_000_000_000
  /// Phones of a hundred whose apps are removed within the first period.
  package var uninstallPercent = 0
  package var seed: UInt64

  package init(phones: Int, rate: Int, seed: UInt64) {
    (self.phones, self.rate, self.seed) = (phones, max(1, rate), seed)
  }

  /// When the phone is switched on, in nanoseconds from the beginning.
  func start(of phone: Int) -> Int64 {
    Int64(Double(phone) / Double(rate) * 1_000_000_000)
  }

  /// From when on all are switched on, in nanoseconds from the beginning: the first period begins.
  package var settledAfter: Int64 { start(of: phones) }

  /// Of what is chance at one phone: those of neighbours have nothing in common.
  package func seed(of phone: Int) -> UInt64 {
    var random = SeededChoices(seed: seed &+ UInt64(phone))
    return random.next()
  }

  /// So many of a hundred phones, by chance. The name tells one choice from another.
  func share(_ percent: Int, _ name: String) -> [Int] {
    var random = SeededChoices(seed: seed, name: name)
    return Array((0..<phones).shuffled(using: &random).prefix(phones * percent / 100)).sorted()
  }
}

/// Something that happens to a phone of a fleet.
package struct FleetMoment: Equatable, Sendable {
  package enum Step: Equatable, Sendable {
    case switchOn, goOffline, comeBack, uninstall
  }

  package var at: Instant
  /// From 0; phones are switched on in the order of their numbers.
  package var phone: Int
  package var step: Step
}

/// The moments of a plan, one after the other, without end if phones come and go.
package struct FleetSchedule {
  private let plan: FleetPlan
  private let begin: Instant
  private let roaming: [Int]
  private let uninstalling: [Int]
  private var random: SeededChoices
  private var nextStart = 0
  /// Moments of the present period that are still to come, the next one last.
  private var rest: [FleetMoment] = []
  private var period: Int64 = 0

  package init(_ plan: FleetPlan, begin: Instant) {
    (self.plan, self.begin) = (plan, begin)
    roaming = plan.share(plan.offlinePercent, "offline")
    uninstalling = plan.share(plan.uninstallPercent, "uninstall")
    random = SeededChoices(seed: plan.seed, name: "moments")
  }

  /// When the next moment is; nil if there will be none.
  package var nextAt: Instant? {
    guard nextStart == plan.phones else { return begin.adding(nanoseconds: plan.start(of: nextStart)) }
    return rest.last?.at ?? (hasMore ? periodBegin : nil)
  }

  /// The next moment, if it has come. To be asked until there is none.
  package mutating func next(at now: Instant) -> FleetMoment? {
    if nextStart == plan.phones, rest.isEmpty, hasMore, now >= periodBegin { drawPeriod() }
    guard let at = nextAt, now >= at else { return nil }
    guard nextStart == plan.phones else {
      nextStart += 1
      return FleetMoment(at: at, phone: nextStart - 1, step: .switchOn)
    }
    return rest.popLast()
  }

  private var hasMore: Bool { !roaming.isEmpty || (period == 0 && !uninstalling.isEmpty) }

  private var periodBegin: Instant {
    begin.adding(nanoseconds: plan.settledAfter).adding(nanoseconds: period * plan.periodNanoseconds)
  }

  private mutating func drawPeriod() {
    let begin = periodBegin
    for phone in roaming {
      let left = random.whole(upTo: plan.periodNanoseconds - plan.offlineNanoseconds)
      let at = begin.adding(nanoseconds: left)
      rest.append(FleetMoment(at: at, phone: phone, step: .goOffline))
      rest.append(
        FleetMoment(at: at.adding(nanoseconds: plan.offlineNanoseconds), phone: phone, step: .comeBack))
    }
    for phone in period == 0 ? uninstalling : [] {
      let at = begin.adding(nanoseconds: random.whole(upTo: plan.periodNanoseconds))
      rest.append(FleetMoment(at: at, phone: phone, step: .uninstall))
    }
    rest.sort { ($0.at, $0.phone) > ($1.at, $1.phone) }
    period += 1
  }
}
