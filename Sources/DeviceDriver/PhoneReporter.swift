import Basics
import CourierWire
import Phone
import Platform
import Transport

/// Tells the emulator what happens on a phone: at once, but no more often than every 50 ms, and in answer to each order.
final class PhoneReporter {
  private let joined: ConnectedPhone
  private let line: () -> DeviceDriver?
  private var news = PhoneNews()
  private var timer: LoopEvent?
  private var isDue = false

  /// `line` answers the connection that reports go by; nil while there is none.
  init(on loop: EventLoop, _ joined: ConnectedPhone, line: @escaping () -> DeviceDriver?) {
    (self.joined, self.line) = (joined, line)
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      isDue = false
      report()
    }
  }

  /// Something has happened.
  func add(_ told: [DevicePhone.Told]) {
    for each in told { news.add(each.entry.encoded) }
    reportSoon()
  }

  /// The phone is another one, although nothing happened.
  func noteChange() {
    news.noteChange()
    reportSoon()
  }

  private func reportSoon() {
    guard line() != nil, !isDue, !news.isEmpty else { return }
    let wait = news.wait(at: SystemClock.now())
    guard wait > 0 else { return report() }
    isDue = true
    timer?.start(afterNanoseconds: wait)
  }

  /// Reports what has not been reported; before the device is switched off, so that nothing is lost.
  func report() {
    guard let line = line(), !news.isEmpty else { return }
    line.tell(.phoneReported(news.takeReport(joined.phone.document.encoded, at: SystemClock.now())))
  }

  /// An order was carried out, and this is what happened.
  func answer(_ number: UInt32?, _ told: [DevicePhone.Told]) {
    send(PhoneNews.report(told.map(\.entry.encoded), joined.phone.document.encoded), number)
  }

  /// An order can't be carried out.
  func refuse(_ number: UInt32?, _ problem: String) {
    var report = PhoneReport()
    report.problem = problem
    send(report, number)
  }

  private func send(_ report: PhoneReport, _ number: UInt32?) {
    var report = report
    report.number = number
    line()?.tell(.phoneReported(report))
  }
}

extension DevicePhone.Told {
  /// As the phone's log has it (`Documentation/console-api.md#the-phone`).
  fileprivate var entry: JSONValue { PhoneEvent.logged.write(event) }

  /// As `device --json` writes it (`Documentation/explain.md#on-a-phone`).
  package var jsonLine: String {
    let place: [(String, JSONValue)] = [
      ("topic", .string(event.topic.name)), ("apnsId", .optional(apnsId)),
    ]
    return JSONValue.object(event.members.prefix(1) + place + event.members.dropFirst()).text
  }

  /// For people, below the line of the notification.
  package var textLine: String {
    let name = event.what.name
    let detail = event.detail.isEmpty ? event.rule.sentence : event.detail
    return name + String(repeating: " ", count: max(1, 14 - name.count))
      + "\(event.topic)  \(detail.visible)  (\(event.rule.name): \(event.evidence))"
  }
}

/// What has happened on a phone and not been reported: at most so much that one report holds it, and of more the newest.
package struct PhoneNews {
  /// Most events that wait, as a count.
  static let limit = 200

  private var events: [[UInt8]] = []
  private var byteCount = 0
  private var lost: UInt32 = 0
  /// Whether the phone is another one than was reported, even if nothing happened.
  private var isChanged = false
  /// What happens until then goes together.
  private var nextReport: Instant?

  package init() {}

  package var isEmpty: Bool { events.isEmpty && lost == 0 && !isChanged }

  package mutating func noteChange() { isChanged = true }

  /// Takes an event, one JSON object.
  package mutating func add(_ event: [UInt8]) {
    events.append(event)
    byteCount += event.count + 1
    while events.count > Self.limit || byteCount > CourierLimits.phoneEventsByteCount - 2 {
      byteCount -= events.removeFirst().count + 1
      lost += 1
    }
  }

  /// How long the next report that nobody asked for has to wait, in nanoseconds; 0 for not at all.
  package func wait(at now: Instant) -> Int64 {
    nextReport.map { max(0, $0.nanoseconds(since: now)) } ?? 0
  }

  /// All that waits, in a report, beside what the phone is like now.
  package mutating func takeReport(_ document: [UInt8], at now: Instant) -> PhoneReport {
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
        "the phone's description has \(document.count) bytes, more than the \(CourierLimits.phoneByteCount) that can be sent"
      return report
    }
    report.document = document
    return report
  }
}
