import Basics

/// How much a simulated device may tell of its phone without being asked: twice of what ours does, so that nobody keeps the
/// emulator busy with reading. What counts is the work: bytes, and values, each of which costs as much as many bytes.
public struct PhoneReportAllowance {
  /// From one report to the next, for each `unit` that it takes, in nanoseconds.
  public static let interval: Int64 = 50_000_000
  /// Bytes of a report that count as another one.
  public static let unit = 64 * 1024
  /// Values in the events of a report that count as another one: ours have some ten for each event.
  public static let valueUnit = 1024
  /// Most that is saved up, in reports.
  private static let burst: Int64 = 200

  /// Time that may still be used up, in nanoseconds.
  private var left = burst * interval
  private var countedUntil: Instant?

  public init() {}

  /// How many small ones a report counts as. Its values are counted by what parts them, which is quick and never too few.
  public static func weight(_ report: PhoneReport) -> Int64 {
    let marks: [Bool] = (0..<256).map { ",[{".utf8.contains(UInt8($0)) }
    let values = report.events.count { marks[Int($0)] }
    return 1 + Int64((report.events.count + report.document.count) / unit) + Int64(values / valueUnit)
  }

  /// A report of this weight has come; false if that is one too many.
  public mutating func takes(_ weight: Int64, at now: Instant) -> Bool {
    let earned = countedUntil.map { now.nanoseconds(since: $0) } ?? 0
    countedUntil = now
    left = min(left + 2 * max(0, earned), Self.burst * Self.interval)
    left -= weight * Self.interval
    return left >= 0
  }

  /// An order goes there, before whose answer the device tells what had happened before.
  public mutating func expectOne() { left = min(left + Self.interval, Self.burst * Self.interval) }
}
