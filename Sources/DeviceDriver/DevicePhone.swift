import CourierWire
import Phone
import Platform
import PushModel
import SimulatedDevice
import Transport

/// The phone of a device: what iOS does with what the wire brings, and with what a person does at the console.
///
/// It lives on the emulator's clock, which it is told when it connects and at each change, and reports what happens: at once,
/// but no more often than every 50 ms, and in answer to each order.
public final class DevicePhone {
  /// An event, and the `apns-id` of the push that it is about.
  public struct Told: Sendable {
    public let event: PhoneEvent
    public let apnsId: String?
  }

  /// Takes what happens, in order.
  var onTold: ([Told]) -> Void = { _ in }
  /// Takes what the phone wants of the service, when that changes: what it is settled with the first line.
  var onWish: (DeviceInput) -> Void = { _ in }

  /// A connection of the phone's device to one environment. What an app is and which tokens it wants is settled with the first
  /// line alone; pushes come by each.
  final class Line {
    /// Takes a report for the emulator.
    var onReport: (PhoneReport) -> Void = { _ in }
    /// Takes whether the phone has a network, when that changes.
    var onNetwork: (Bool) -> Void = { _ in }
    fileprivate let environment: Environment
    fileprivate var isConnected = false

    init(_ environment: Environment) { self.environment = environment }
  }

  let joined: ConnectedPhone
  private var phone: Phone { joined.phone }
  private var clock = PhoneClock()
  private var news = PhoneNews()
  /// The line that connected last is the last.
  private var lines: [Line] = []
  private var isConnected: Bool { lines.contains(where: \.isConnected) }
  private var timer: LoopEvent?
  private var reportTimer: LoopEvent?
  private var isReportDue = false

  /// A phone without apps; those that come are in `state`, and have Live Activities with attributes of these types.
  public init(
    _ settings: PhoneSettings = PhoneSettings(), _ state: AppState = .suspended,
    activityTypes: [String] = [], loop: EventLoop
  ) {
    joined = ConnectedPhone(settings, state, activityTypes: activityTypes)
    timer = LoopEvent(timerOn: loop) { [unowned self] in tick() }
    reportTimer = LoopEvent(timerOn: loop) { [unowned self] in
      isReportDue = false
      report()
    }
  }

  // MARK: What comes

  /// One more connection of the device; answers whether it is the first.
  func add(_ line: Line) -> Bool {
    lines.append(line)
    joined.connect(to: line.environment)
    return lines.count == 1
  }

  /// Something has happened to the device at one of its connections.
  func hear(of event: DeviceEvent, on line: Line, isFirst: Bool) {
    switch event {
    case .connected: connected(line)
    case .disconnected: line.isConnected = false
    case .notification, .token: happened(joined.hear(of: event, from: line.environment, at: now))
    default: if isFirst { hear(ofDevice: event, from: line.environment) }
    }
  }

  private func connected(_ line: Line) {
    line.isConnected = true
    lines.removeAll { $0 === line }
    lines.append(line)
    news.noteChange()
    reportSoon()
  }

  private func onReport(_ report: PhoneReport) { lines.last(where: \.isConnected)?.onReport(report) }

  private func hear(ofDevice event: DeviceEvent, from environment: Environment) {
    happened(joined.hear(of: event, from: environment, at: now))
    if event.changesApps { noteChange() }
  }

  /// Puts an app on the phone; one that is there already gives way with everything of it but how it was built.
  func install(_ topic: Topic) {
    joined.install(topic)
    tellWishes()
    noteChange()
  }

  private func noteChange() {
    news.noteChange()
    reportSoon()
  }

  /// The emulator tells the time, or passes on what a person does.
  func take(_ command: PhoneOrderCommand) {
    if let clock = command.clock {
      self.clock.set(clock, at: SystemClock.now())
      tick()
    }
    if !command.order.isEmpty { carryOut(command) }
  }

  private func carryOut(_ command: PhoneOrderCommand) {
    // What happened before is no answer.
    report()
    var answer = PhoneReport()
    do throws(PhoneOrderError) {
      let value = JSONReader.read(command.order, maximumDepth: JSONText.maximumDepth) ?? .null
      let events = told(try joined.perform(PhoneOrder(value), at: now))
      // Before the answer: who has it can rely on it.
      tellWishes()
      answer = PhoneNews.report(events.map(\.entry.encoded), document)
      answer.number = command.number
      onReport(answer)
      tell(events)
    } catch {
      (answer.number, answer.problem) = (command.number, "\(error)")
      onReport(answer)
    }
    startTimer()
  }

  /// What the phone wants of the service follows from what is on it.
  private func tellWishes() {
    for wish in joined.takeWishes() {
      // Each line has a filter of its own.
      if case .listens(let hasNetwork) = wish {
        for line in lines { line.onNetwork(hasNetwork) }
      } else {
        onWish(wish)
      }
    }
  }

  // MARK: Time

  /// By the emulator's clock, or the world's as long as nobody has told it that.
  var now: Timestamp {
    clock.now(
      at: SystemClock.now(), world: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
  }

  /// Also where nothing happens, there may be less to see.
  private func tick() {
    news.noteChange()
    happened(joined.advance(to: now))
    reportSoon()
  }

  private func startTimer() {
    guard !clock.isFrozen, let next = phone.nextMoment else { return timer?.cancel() ?? () }
    timer?.start(afterNanoseconds: max(1_000_000, next.nanoseconds - now.nanoseconds))
  }

  // MARK: What goes

  private func happened(_ events: [PhoneEvent]) {
    startTimer()
    tellWishes()
    guard !events.isEmpty else { return }
    let told = told(events)
    for each in told { news.add(each.entry.encoded) }
    reportSoon()
    tell(told)
  }

  private func told(_ events: [PhoneEvent]) -> [Told] {
    events.map { Told(event: $0, apnsId: $0.push.flatMap(joined.name(ofPush:))) }
  }

  private func tell(_ told: [Told]) { if !told.isEmpty { onTold(told) } }

  private func reportSoon() {
    guard isConnected, !isReportDue, !news.isEmpty else { return }
    let wait = news.wait(at: SystemClock.now())
    guard wait > 0 else { return report() }
    isReportDue = true
    reportTimer?.start(afterNanoseconds: wait)
  }

  /// Reports what has not been reported; before the device is switched off, so that nothing is lost.
  func report() {
    guard isConnected, !news.isEmpty else { return }
    onReport(news.takeReport(document, at: SystemClock.now()))
  }

  /// Texts are cut where they would be too long to be told.
  private var document: [UInt8] {
    let document = phone.document
    let whole = document.encoded
    guard whole.count > CourierLimits.phoneByteCount else { return whole }
    return document.shortened(to: Self.shortText).encoded
  }

  /// Of texts in a description that would be too long, in characters.
  private static let shortText = 160
}

extension DevicePhone.Told {
  /// As the phone's log has it (`Documentation/console-api.md#the-phone`).
  var entry: JSONValue {
    .object(
      [
        ("at", .string(event.at.rfc3339)), ("event", .string(event.what.name)),
        ("topic", .string(event.topic.name)),
      ] + event.members.dropFirst()
        + [
          ("notificationId", .optional(event.notificationId)), ("phoneNote", .optional(event.push)),
        ])
  }

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
  func shortened(to count: Int) -> JSONValue {
    switch self {
    case .string(let text) where text.utf8.count > count: .string(text.prefix(count) + "…")
    case .array(let values): .array(values.map { $0.shortened(to: count) })
    case .object(let members): .object(members.map { ($0.0, $0.1.shortened(to: count)) })
    default: self
    }
  }
}
