import CourierWire
import Phone
import Platform
import PushModel
import Transport

/// Tells the emulator what happens on a phone: at once, but no more often than every 50 ms, and in answer to each order.
final class PhoneReporter {
  /// Of texts in a description that would be too long, in characters.
  private static let shortText = 160

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
    line.tell(.phoneReported(news.takeReport(document, at: SystemClock.now())))
  }

  /// An order was carried out, and this is what happened.
  func answer(_ number: UInt32?, _ told: [DevicePhone.Told]) {
    send(PhoneNews.report(told.map(\.entry.encoded), document), number)
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

  /// Texts are cut where they would be too long to be told.
  private var document: [UInt8] {
    let document = joined.phone.document
    let whole = document.encoded
    guard whole.count > CourierLimits.phoneByteCount else { return whole }
    return document.shortened(to: Self.shortText).encoded
  }
}

extension DevicePhone.Told {
  /// As the phone's log has it (`Documentation/console-api.md#the-phone`).
  fileprivate var entry: JSONValue { PhoneEvent.logged.write(event) }

  /// As `device --json` writes it (`Documentation/explain.md#on-a-phone`).
  public var jsonLine: String {
    let place: [(String, JSONValue)] = [
      ("topic", .string(event.topic.name)), ("apnsId", .optional(apnsId)),
    ]
    return JSONValue.object(event.members.prefix(1) + place + event.members.dropFirst()).text
  }

  /// For people, below the line of the notification.
  public var textLine: String {
    let name = event.what.name
    let detail = event.detail.isEmpty ? event.rule.sentence : event.detail
    return name + String(repeating: " ", count: max(1, 14 - name.count))
      + "\(event.topic)  \(detail.visible)  (\(event.rule.rawValue): \(event.evidence))"
  }
}

extension JSONValue {
  /// The same with texts of at most so many characters.
  fileprivate func shortened(to count: Int) -> JSONValue {
    switch self {
    case .string(let text) where text.utf8.count > count: .string(text.prefix(count) + "…")
    case .array(let values): .array(values.map { $0.shortened(to: count) })
    case .object(let members): .object(members.map { ($0.0, $0.1.shortened(to: count)) })
    default: self
    }
  }
}
