import Basics
import PushModel

/// The scheduled summary that a user has switched on (iOS 15).
package struct SummarySetting: Sendable, Equatable {
  /// When it comes, in minutes of the day, in UTC.
  package var times: [Int] = [8 * 60, 18 * 60]
  /// Those whose notifications wait for it.
  package var apps: Set<Topic> = []

  /// Most times a day (Apple: Settings).
  private static let mostTimes = 12

  package init() {}

  /// When it comes next; nil at the end of time.
  func moment(after now: Timestamp) -> Timestamp? {
    times.compactMap { LocalRequest.moment(after: now, minuteOfDay: Int64($0), nil) }.min()
  }
}

extension SummarySetting: JSONDocument {
  package static let form = JSONForm<SummarySetting>([
    JSONField("times", .timesOfDay(upTo: mostTimes), \.times),
    JSONField(
      "apps", .list(of: .topic, "bundle ids"),
      get: { $0.apps.sorted { $0.name < $1.name } }, set: { $0.apps = Set($1) }),
  ])
}

extension JSONKind<[Int]> {
  /// As `08:00`, in UTC.
  fileprivate static func timesOfDay(upTo most: Int) -> JSONKind {
    let time = JSONKind<Int>.spelled(
      "a time of day as 08:00", ["type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"],
      minute, text)
    return .list(of: time, "times of day").narrowed("1 to \(most) times of day, each once") {
      (1...most).contains($0.count) && Set($0).count == $0.count
    }.described(
      as: [
        "type": "array", "items": time.schema, "minItems": 1, "maxItems": .integer(Int64(most)),
        "uniqueItems": true,
      ])
  }

  private static func minute(_ text: String) -> Int? {
    let digits = text.utf8.map { Int($0) - 0x30 }
    guard digits.count == 5, text.utf8.dropFirst(2).first == UInt8(ascii: ":") else { return nil }
    let numbers = [digits[0], digits[1], digits[3], digits[4]]
    guard numbers.allSatisfy((0...9).contains) else { return nil }
    let (hour, minute) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }

  private static func text(_ minutes: Int) -> String {
    [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }
}
