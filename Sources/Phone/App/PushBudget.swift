import Basics

/// How many pushes of a kind may have the phone do something for an app: a bucket that fills again with time.
struct PushBudget: Sendable {
  /// What one is for. Apple gives no numbers but for silent pushes, "two or three an hour": all of them are our choice.
  enum Use: Sendable, Hashable {
    case silent
    /// Pushes of Live Activities with priority 10; of an app that has frequent updates, more.
    case activities, frequentActivities
    case controls, widgets

    /// In a full bucket, as a count.
    var most: Int {
      switch self {
      case .silent: 3
      case .activities: 30
      case .frequentActivities: 100
      case .controls, .widgets: 40
      }
    }

    /// From one to the next, in nanoseconds.
    fileprivate var interval: Int64 {
      switch self {
      case .silent: 20 * Self.minute
      case .activities: 2 * Self.minute
      case .frequentActivities: 36 * Self.minute / 60
      case .controls, .widgets: 36 * Self.minute
      }
    }

    private static let minute: Int64 = 60 * 1_000_000_000
  }

  let use: Use
  private(set) var left: Int
  /// When there will be one more; nil while it is full.
  private(set) var nextMoment: Timestamp?

  init(_ use: Use) { (self.use, left) = (use, use.most) }

  /// Takes one; false if there is none.
  mutating func take(at now: Timestamp, isHalved: Bool = false) -> Bool {
    guard left > 0 else { return false }
    left -= 1
    if nextMoment == nil { nextMoment = next(after: now, isHalved) }
    return true
  }

  mutating func refill(until now: Timestamp, isHalved: Bool = false) {
    while let moment = nextMoment, moment <= now {
      left += 1
      nextMoment = left < use.most ? next(after: moment, isHalved) : nil
    }
  }

  private func next(after moment: Timestamp, _ isHalved: Bool) -> Timestamp {
    moment.adding(nanoseconds: isHalved ? 2 * use.interval : use.interval)
  }
}

/// How often something has happened since the beginning of a day, in UTC.
struct DayCount: Sendable {
  private var day: Int64 = 0
  private var count = 0

  private static let seconds: Int64 = 86_400

  func count(at now: Timestamp) -> Int { now.seconds / Self.seconds == day ? count : 0 }

  mutating func add(at now: Timestamp) { (count, day) = (count(at: now) + 1, now.seconds / Self.seconds) }

  /// When the day is over; nil at the end of time.
  static func nextDay(after now: Timestamp) -> Timestamp? {
    LocalRequest.moment(after: now, minuteOfDay: 0, nil)
  }
}

extension PhoneApp {
  /// Takes one of a budget that has been refilled until `now`; false if there is none.
  mutating func spend(_ use: PushBudget.Use, at now: Timestamp) -> Bool {
    budgets[use, default: PushBudget(use)].take(at: now)
  }

  /// Those that are full again are not looked at any more.
  mutating func refillBudgets(until now: Timestamp) {
    guard !budgets.isEmpty else { return }
    for use in budgets.keys { budgets[use]?.refill(until: now) }
    budgets = budgets.filter { $0.value.nextMoment != nil }
  }
}
