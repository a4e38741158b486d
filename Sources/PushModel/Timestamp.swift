/// A moment on the emulator's clock: nanoseconds since 1970-01-01T00:00:00Z.
@frozen
public struct Timestamp: Hashable, Comparable, Sendable {
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
    var buffer = TextBuffer()
    write(to: &buffer)
    return buffer.text
  }

  /// Writes it as RFC 3339.
  public func write(to buffer: inout TextBuffer) {
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
  var year, month, day, hour, minute, second: Int

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

  func write(to buffer: inout TextBuffer) {
    buffer.append(Int64(year), width: 4)
    Self.write("-", month, to: &buffer)
    Self.write("-", day, to: &buffer)
    Self.write("T", hour, to: &buffer)
    Self.write(":", minute, to: &buffer)
    Self.write(":", second, to: &buffer)
  }

  private static func write(_ separator: Unicode.Scalar, _ value: Int, to buffer: inout TextBuffer) {
    buffer.append(UInt8(ascii: separator))
    buffer.append(Int64(value), width: 2)
  }
}
