extension Timestamp {
  /// Reads RFC 3339: `2026-01-02T03:04:05.678Z`, or with an offset; nil for anything else and for days that don't
  /// exist. A leap second counts as the second after it.
  public init?(rfc3339 text: String) {
    var reader = DigitReader(text)
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), reader.take("T") || reader.take("t") || reader.take(" "),
      let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
      let second = reader.number(2), let fraction = reader.fraction(), let offset = reader.offset(),
      reader.isAtEnd
    else { return nil }
    guard (1...12).contains(month), day >= 1, day <= Self.days(of: month, in: year), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    let days = Self.days(since1970: year, month, day)
    let seconds = days * 86400 + Int64(hour * 3600 + minute * 60 + second) - offset
    self = Timestamp(seconds: seconds).adding(nanoseconds: fraction)
  }

  private static func days(of month: Int, in year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Counted in years that begin with March, so that the leap day is the last one.
  private static func days(since1970 year: Int, _ month: Int, _ day: Int) -> Int64 {
    let shifted = month > 2 ? year : year - 1
    let monthIndex = (month + 9) % 12
    let dayOfYear = (153 * monthIndex + 2) / 5 + day - 1
    let leapDays = shifted >= 0 ? shifted / 4 - shifted / 100 + shifted / 400 : -1
    return Int64(shifted * 365 + leapDays + dayOfYear - 719_468)
  }
}

/// Reads fixed-width fields of ASCII digits.
private struct DigitReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ width: Int) -> Int? {
    var value = 0
    for _ in 0..<width {
      guard let digit = rest.first, digit >= 0x30, digit <= 0x39 else { return nil }
      value = value * 10 + Int(digit - 0x30)
      rest.removeFirst()
    }
    return value
  }

  /// Nanoseconds after an optional point.
  mutating func fraction() -> Int64? {
    guard take(".") else { return 0 }
    var (value, unit, count): (Int64, Int64, Int) = (0, 100_000_000, 0)
    while let digit = number(1) {
      value += Int64(digit) * unit
      (unit, count) = (unit / 10, count + 1)
    }
    return count > 0 ? value : nil
  }

  /// Seconds east of UTC.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let isWest = take("-")
    guard isWest || take("+"), let hours = number(2), take(":"), let minutes = number(2), hours < 24,
      minutes < 60
    else { return nil }
    return Int64(hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
  }
}
