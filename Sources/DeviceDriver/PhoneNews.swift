import CourierWire
import PushModel

/// What has happened on a phone and not been reported: at most so much that one report holds it, and of more the newest.
struct PhoneNews {
  /// Most events that wait, as a count.
  static let limit = 200

  private var events: [[UInt8]] = []
  private var byteCount = 0
  private var lost: UInt32 = 0
  /// Whether the phone is another one than was reported, even if nothing happened.
  private var isChanged = false
  /// What happens until then goes together.
  private var nextReport: Instant?

  var isEmpty: Bool { events.isEmpty && lost == 0 && !isChanged }

  mutating func noteChange() { isChanged = true }

  /// Takes an event, one JSON object.
  mutating func add(_ event: [UInt8]) {
    events.append(event)
    byteCount += event.count + 1
    while events.count > Self.limit || byteCount > CourierLimits.phoneEventsByteCount - 2 {
      byteCount -= events.removeFirst().count + 1
      lost += 1
    }
  }

  /// How long the next report that nobody asked for has to wait, in nanoseconds; 0 for not at all.
  func wait(at now: Instant) -> Int64 {
    nextReport.map { max(0, $0.nanoseconds(since: now)) } ?? 0
  }

  /// All that waits, in a report, beside what the phone is like now.
  mutating func takeReport(_ document: [UInt8], at now: Instant) -> PhoneReport {
    var report = Self.report(events, document)
    report.lost = lost == 0 ? nil : lost
    let weight = PhoneReportAllowance.weight(report)
    self = PhoneNews()
    nextReport = now.adding(nanoseconds: weight * PhoneReportAllowance.interval)
    return report
  }

  /// Also for what answers an order, which waits for nothing.
  static func report(_ events: [[UInt8]], _ document: [UInt8]) -> PhoneReport {
    var report = PhoneReport()
    report.events = events.isEmpty ? [] : JSONValue.array(events.map(JSONValue.verbatim)).encoded
    guard document.count <= CourierLimits.phoneByteCount else {
      report.problem =
        "the phone's description takes \(document.count) bytes, more than the \(CourierLimits.phoneByteCount) that are told"
      return report
    }
    report.document = document
    return report
  }
}
