/// A moment on the emulator's clock: nanoseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Hashable, Comparable, Sendable, BitwiseCopyable {
  public var nanoseconds: Int64

  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Saturates instead of overflowing: `seconds` may come from a peer.
  @inlinable
  public init(seconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
  }

  /// Whole seconds since 1970, rounded down.
  @inlinable public var seconds: Int64 {
    nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
  }
  /// Whole milliseconds since 1970, rounded toward zero.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  @inlinable
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Moves by a number of nanoseconds, saturating.
  @inlinable
  public func adding(nanoseconds delta: Int64) -> Timestamp {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
    return Timestamp(nanoseconds: overflow ? (delta < 0 ? .min : .max) : sum)
  }

  /// RFC 3339 in UTC with milliseconds: `2026-01-02T03:04:05.678Z`.
  public var rfc3339: String {
    var buffer = ByteBuffer(capacity: 256)
    write(to: &buffer)
    return buffer.text
  }

  /// Writes it as RFC 3339.
  public func write(to buffer: inout ByteBuffer) {
    CivilDate(unixSeconds: seconds).write(to: &buffer)
    // Not by subtracting the seconds: at the beginning of time their nanoseconds no longer fit.
    let remainder = nanoseconds % 1_000_000_000
    buffer.append(UInt8(ascii: "."))
    buffer.append((remainder < 0 ? remainder + 1_000_000_000 : remainder) / 1_000_000, width: 3)
    buffer.append(UInt8(ascii: "Z"))
  }
}

/// A calendar date and time of day in UTC, computed without a time zone database.
struct CivilDate {
  private var year, month, day, hour, minute, second: Int

  /// Days are counted from 0000-03-01 so that the leap day ends a year (the proleptic Gregorian calendar).
  init(unixSeconds: Int64) {
    let days = unixSeconds >= 0 ? unixSeconds / 86400 : (unixSeconds - 86399) / 86400
    let time = Int(unixSeconds - days * 86400)
    let shifted = Int(days) + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
  }

  func write(to buffer: inout ByteBuffer) {
    buffer.append(Int64(year), width: 4)
    Self.write("-", month, to: &buffer)
    Self.write("-", day, to: &buffer)
    Self.write("T", hour, to: &buffer)
    Self.write(":", minute, to: &buffer)
    Self.write(":", second, to: &buffer)
  }

  private static func write(_ separator: Unicode.Scalar, _ value: Int, to buffer: inout ByteBuffer) {
    buffer.append(UInt8(ascii: separator))
    buffer.append(Int64(value), width: 2)
  }
}

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

/// Reads durations as people write them: `61m`, `1h30m`, `500ms`, `-2d`.
public enum DurationText {
  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("ms", 1_000_000), ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000),
  ]

  /// Nanoseconds; nil for anything else and for more than 64 bits hold.
  public static func nanoseconds(_ text: String) -> Int64? {
    var rest = text[...]
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest.removeFirst() }
    guard !rest.isEmpty else { return nil }
    var total: Int64 = 0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      guard let count = Int64(digits), let unit = units.first(where: { rest.hasPrefix($0.name) }) else {
        return nil
      }
      rest = rest.dropFirst(unit.name.count)
      let (product, overflows) = count.multipliedReportingOverflow(by: unit.nanoseconds)
      let (sum, overflowsToo) = total.addingReportingOverflow(product)
      guard !overflows, !overflowsToo else { return nil }
      total = sum
    }
    return isNegative ? -total : total
  }
}

/// A moment on a clock that never jumps and that nobody can set: nanoseconds since an arbitrary start.
///
/// For whatever is waited for: timeouts of peers, pauses, idle times, retries. What Apple dates is a `Timestamp`, on the
/// emulator's clock. They are two types so that a wait can't end an hour late because somebody has set a clock:
///
///     let deadline = SystemClock.now().adding(nanoseconds: 30_000_000_000)
public struct Instant: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Before every other.
  @inlinable public static var distantPast: Instant { Instant(nanoseconds: .min) }
  /// After every other: never.
  @inlinable public static var distantFuture: Instant { Instant(nanoseconds: .max) }

  @inlinable
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Moves by a number of nanoseconds, saturating.
  @inlinable
  public func adding(nanoseconds delta: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
    return Instant(nanoseconds: overflow ? (delta < 0 ? .min : .max) : sum)
  }

  /// Nanoseconds from an earlier moment until this one, negative from a later one; saturating.
  @inlinable
  public func nanoseconds(since earlier: Instant) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return overflow ? (earlier.nanoseconds < 0 ? .max : .min) : difference
  }
}
