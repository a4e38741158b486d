import Phone
import PushModel
import Testing

/// A phone with one app on it, and a word for what it does.
struct Lab {
  static let topic = Topic("com.example.app") ?? { preconditionFailure("a bundle id") }()
  static let start = Timestamp(seconds: 1_600_000_000)

  var phone: Phone
  private var next: UInt64 = 1
  private(set) var now = start

  init(
    _ version: IOSVersion = .standard, state: AppState = .suspended,
    _ change: (inout PhoneApp) -> Void = { _ in }
  ) {
    phone = Phone(version)
    var app = PhoneApp(Self.topic, state: state)
    change(&app)
    phone.install(app)
  }

  init(_ version: IOSVersion, _ state: AppState, implementing callbacks: Set<AppCallback>) {
    self.init(version, state: state) { $0.build.callbacks = callbacks }
  }

  /// A push with this `aps`; its type is what `aps` asks for unless the test says otherwise.
  mutating func receive(
    _ aps: String, type: PushType? = nil, priority: Priority? = nil, collapseId: String? = nil
  ) -> [PhoneEvent] {
    let payload = Array("{\"aps\":\(aps)}".utf8)
    let own = type ?? (PushContent(payload).kind == .silent ? .background : .alert)
    defer { next += 1 }
    return phone.receive(
      PhonePush(
        id: next, topic: Self.topic, payload: payload, type: own,
        priority: priority ?? (own == .background ? .conserving : .immediate), collapseId: collapseId),
      at: now)
  }

  mutating func tapNewest() -> [PhoneEvent] { phone.notes.last.map { phone.tap($0.id, at: now) } ?? [] }

  mutating func wait(minutes: Int64) -> [PhoneEvent] {
    now = now.adding(nanoseconds: minutes * 60_000_000_000)
    return phone.advance(to: now)
  }

  var app: PhoneApp { phone[Self.topic] ?? PhoneApp(Self.topic) }
}

extension [PhoneEvent] {
  var callbacks: [AppCallback] {
    compactMap { if case .callback(let callback) = $0.what { callback } else { nil } }
  }

  /// As the documentation counts them: `M4 M3`, or `none`.
  var calls: String { callbacks.isEmpty ? "none" : callbacks.map(\.number).joined(separator: " ") }

  var shown: Presentation? {
    compactMap { if case .presented(let places, _) = $0.what { places } else { nil } }.first
  }

  func has(_ what: PhoneEvent.What, _ rule: PhoneRule) -> Bool {
    contains { $0.what == what && $0.rule == rule }
  }

  /// The least certain letter of the rules that say what shows and who is called.
  var letter: Evidence {
    let all = filter { $0.what.name != "silent" }.flatMap(\.rule.evidence)
    return all.contains(.ours) ? .ours : all.contains(.measured) ? .measured : .documented
  }
}
