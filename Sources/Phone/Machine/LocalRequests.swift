import Basics
import PushModel

/// A local notification that an app has asked for.
package struct LocalRequest: Sendable {
  package let topic: Topic
  package let identifier: String
  let content: PushContent
  private(set) var trigger: LocalTrigger
  /// When it is due; nil where a place decides.
  package internal(set) var next: Timestamp?

  /// Whether it comes again, after it has come.
  package var repeats: Bool { trigger.repeats }

  /// When it is due after `moment`; nil for never, or where a place decides.
  func moment(after moment: Timestamp) -> Timestamp? {
    if let after = trigger.after { return Self.later(moment.adding(nanoseconds: after), moment) }
    if let date = trigger.at { return Self.later(date, moment) }
    if let hour = trigger.hour {
      let minute = Int64(hour * 60 + (trigger.minute ?? 0))
      return Self.moment(after: moment, minuteOfDay: minute, trigger.weekday)
    }
    return trigger.isAtPlace ? nil : moment
  }

  /// The least interval that may repeat since iOS 10, and the shortest unit that may before, in nanoseconds.
  static let minute: Int64 = 60 * 1_000_000_000
  /// What `repeatInterval` of a `UILocalNotification` may be, in nanoseconds: minute, hour, day, week.
  private static let units = [minute, 60 * minute, 24 * 60 * minute, 7 * 24 * 60 * minute]

  /// A repeating interval has the length of a calendar unit before iOS 10: the next longer one, or a week (our choice).
  /// Answers whether that changes it.
  mutating func repeatByUnit() -> Bool {
    guard repeats, let after = trigger.after else { return false }
    let unit = Self.units.first { $0 >= after } ?? Self.units[Self.units.count - 1]
    trigger.after = unit
    return unit != after
  }

  /// At the end of time there is no next moment.
  private static func later(_ next: Timestamp, _ moment: Timestamp) -> Timestamp? {
    next > moment ? next : nil
  }

  static func moment(after moment: Timestamp, minuteOfDay: Int64, _ weekday: Int?) -> Timestamp? {
    let day = 86400 as Int64
    let today = moment.seconds / day
    return (0...7 as ClosedRange<Int64>).lazy.map { today + $0 }
      // The first of January 1970 was a Thursday, the fifth day of the week.
      .filter { weekday == nil || ($0 + 4) % 7 + 1 == Int64(weekday ?? 0) }
      .map { Timestamp(seconds: $0 * day + minuteOfDay * 60) }.first { $0 > moment }
  }
}

/// The local notifications that wait, in the order in which they were added.
struct LocalRequests: Sendable {
  private(set) var requests: [LocalRequest] = []

  /// As many may wait for an app (`Documentation/device-behaviour.md#local-notifications`).
  static let limit = 64

  var nextMoment: Timestamp? { requests.compactMap(\.next).min() }

  /// Adds one in the place of one with the same identifier. Answers whether there was one, and what had to go for it: of the last
  /// moment that which was added first (our choice).
  mutating func add(_ request: LocalRequest, keepsSoonest: Bool) -> (replaced: Bool, gone: LocalRequest?) {
    let count = requests.count
    remove(request.topic, [request.identifier])
    let replaced = requests.count < count
    requests.append(request)
    let own = requests.filter { $0.topic == request.topic }
    guard own.count > Self.limit else { return (replaced, nil) }
    let last = own.max { $0.sortKey < $1.sortKey }
    guard let gone = keepsSoonest ? last : own.first else { return (replaced, nil) }
    remove(gone.topic, [gone.identifier])
    return (replaced, gone)
  }

  /// Without identifiers it removes all of an app.
  mutating func remove(_ topic: Topic, _ identifiers: [String]? = nil) {
    requests.removeAll { $0.topic == topic && identifiers?.contains($0.identifier) ?? true }
  }

  /// The next one that is due; it waits again if it repeats.
  mutating func take(until now: Timestamp) -> (at: Timestamp, request: LocalRequest)? {
    let due = requests.indices.filter { requests[$0].next.map { $0 <= now } ?? false }
    guard let index = due.min(by: { requests[$0].sortKey < requests[$1].sortKey }) else { return nil }
    let request = requests[index]
    let moment = request.next ?? now
    if request.repeats {
      requests[index].next = request.moment(after: moment)
    } else {
      requests.remove(at: index)
    }
    return (moment, request)
  }

  /// Most that comes at once of all that repeats, as a count (our choice).
  private static let mostAtOnce = 1000

  /// A clock that is set far ahead does not bring each one of what repeats, but the last ones only.
  mutating func skip(until now: Timestamp) {
    let most = Int64(max(1, Self.mostAtOnce / max(1, requests.count)))
    for index in requests.indices where requests[index].repeats {
      guard let next = requests[index].next, let period = requests[index].period else { continue }
      // After the next one.
      let missed = (now.nanoseconds - next.nanoseconds) / period
      if missed >= most {
        requests[index].next = requests[index].moment(
          after: next.adding(nanoseconds: (missed - most) * period))
      }
    }
  }

  /// The phone has crossed the border of a place.
  mutating func cross(_ region: String, entering: Bool) -> [LocalRequest] {
    let met = requests.filter { (entering ? $0.trigger.enter : $0.trigger.leave) == region }
    for request in met where !request.repeats { remove(request.topic, [request.identifier]) }
    return met
  }
}

extension LocalRequest {
  fileprivate var sortKey: Int64 { next?.nanoseconds ?? .max }

  /// The least time from one to the next, in nanoseconds.
  fileprivate var period: Int64? { trigger.after ?? trigger.hour.map { _ in 86400 * 1_000_000_000 } }
}
