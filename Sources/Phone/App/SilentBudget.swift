import PushModel

/// How many silent pushes may wake an app: Apple says "two or three an hour", the bucket is our choice.
struct SilentBudget: Sendable {
  static let most = 3
  /// From one to the next, in nanoseconds.
  static let interval: Int64 = 20 * 60 * 1_000_000_000

  private(set) var left = most
  /// When there will be one more; nil while it is full.
  private(set) var nextMoment: Timestamp?

  /// Takes one; false if there is none.
  mutating func take(at now: Timestamp, isHalved: Bool) -> Bool {
    guard left > 0 else { return false }
    left -= 1
    if nextMoment == nil { nextMoment = Self.next(after: now, isHalved) }
    return true
  }

  /// One less, if there is one: a handler took too long.
  mutating func shrink(at now: Timestamp, isHalved: Bool) { _ = take(at: now, isHalved: isHalved) }

  mutating func refill(until now: Timestamp, isHalved: Bool) {
    while let moment = nextMoment, moment <= now {
      left += 1
      nextMoment = left < Self.most ? Self.next(after: moment, isHalved) : nil
    }
  }

  private static func next(after moment: Timestamp, _ isHalved: Bool) -> Timestamp {
    moment.adding(nanoseconds: isHalved ? 2 * interval : interval)
  }
}
