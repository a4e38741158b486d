import PushModel

/// How often a simulated device may tell of its phone without being asked: twice of what ours does, so that nobody keeps the
/// emulator busy with reading.
public struct PhoneReportAllowance {
  /// From one report to the next, for each `unit` that it takes, in nanoseconds.
  public static let interval: Int64 = 50_000_000
  /// Bytes of a report that count as another one.
  public static let unit = 64 * 1024
  /// Most that is saved up, in reports.
  private static let burst: Int64 = 200

  /// Time that may still be used up, in nanoseconds.
  private var left = burst * interval
  private var countedUntil: Instant?

  public init() {}

  /// How many reports one of so many bytes counts as.
  public static func weight(_ byteCount: Int) -> Int64 { 1 + Int64(byteCount / unit) }

  /// A report of so many bytes has come; false if that is one too many.
  public mutating func takes(_ byteCount: Int, at now: Instant) -> Bool {
    let earned = countedUntil.map { now.nanoseconds(since: $0) } ?? 0
    countedUntil = now
    left = min(left + 2 * max(0, earned), Self.burst * Self.interval)
    left -= Self.weight(byteCount) * Self.interval
    return left >= 0
  }

  /// An order goes there, before whose answer the device tells what had happened before.
  public mutating func expectOne() { left = min(left + Self.interval, Self.burst * Self.interval) }
}
