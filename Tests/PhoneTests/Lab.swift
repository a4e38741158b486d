import Basics
import Phone
import PushModel
import Testing

/// A phone with one app on it, and a word for what it does.
struct Lab {
  static let topic = Topic("com.example.app") ?? { preconditionFailure("a bundle id") }()
  static let start = Timestamp(seconds: 1_600_000_000)

  var phone: SimulatedPhone
  private var next: UInt64 = 1
  private(set) var now = start

  init(
    _ version: IOSVersion = .standard, state: AppState = .suspended,
    _ change: (inout PhoneApp) -> Void = { _ in }
  ) {
    phone = SimulatedPhone(version)
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

  /// A push of a type of its own, with all of its payload.
  mutating func receive(
    payload: String, _ type: PushType, to token: TokenUse = .app, topic: Topic = Self.topic,
    priority: Priority = .immediate
  ) -> [PhoneEvent] {
    defer { next += 1 }
    var push = PhonePush(id: next, topic: topic, payload: Array(payload.utf8), type: type, priority: priority)
    push.token = token
    return phone.receive(push, at: now)
  }

  /// Carries out an order; what can't be is an issue.
  mutating func order(_ text: String, _ location: SourceLocation = #_sourceLocation) -> [PhoneEvent] {
    do {
      return try phone.perform(Self.read(text), at: now)
    } catch {
      Issue.record("\(text): \(error)", sourceLocation: location)
      return []
    }
  }

  /// Why an order is not carried out; empty if it is.
  mutating func refusal(_ text: String) -> String {
    do {
      _ = try phone.perform(Self.read(text), at: now)
      return ""
    } catch {
      return "\(error.code.rawValue): \(error)"
    }
  }

  private static func read(_ text: String) throws(PhoneOrderError) -> PhoneOrder {
    guard let value = JSONReader.read(Array(text.utf8), maximumDepth: JSONObject.bodyDepth) else {
      throw PhoneOrderError(.invalid, "not JSON")
    }
    return try PhoneOrder(value)
  }

  /// What stands at a place of the phone's document, as JSON; `nothing` where there is no such place.
  func document(_ place: String) -> String {
    var value = phone.document
    for name in place.split(separator: "/").map(String.init) {
      var next = value.member(name)
      if case .array(let values) = value, let index = Int(name), values.indices.contains(index) {
        next = values[index]
      }
      guard let next else { return "nothing" }
      value = next
    }
    return value.text
  }

  /// Changes settings of the app.
  mutating func set(_ members: String) -> [PhoneEvent] {
    order(#"{"do":"settings","apps":{"com.example.app":\#(members)}}"#)
  }

  mutating func tapNewest() -> [PhoneEvent] {
    phone.notes.last.map { order(#"{"do":"tap","id":\#($0.id)}"#) } ?? []
  }

  /// Opens the app by its icon.
  mutating func open() -> [PhoneEvent] { order(#"{"do":"open","topic":"com.example.app"}"#) }

  /// Leaves the app, or ends it by hand.
  mutating func leave(as state: AppState) -> [PhoneEvent] {
    order(#"{"do":"leave","topic":"com.example.app","state":"\#(state.rawValue)"}"#)
  }

  mutating func wait(minutes: Int64) -> [PhoneEvent] {
    now = now.adding(nanoseconds: minutes * 60_000_000_000)
    return phone.advance(to: now)
  }

  mutating func wait(seconds: Int64) -> [PhoneEvent] {
    now = now.adding(nanoseconds: seconds * 1_000_000_000)
    return phone.advance(to: now)
  }

  var app: PhoneApp { phone[Self.topic] ?? PhoneApp(Self.topic) }
}

extension [PhoneEvent] {
  var callbacks: [AppCallback] {
    compactMap { if case .callback(let callback) = $0.what { callback } else { nil } }
  }

  /// What happens, in order, with the rule of each: `called registered`.
  var story: [String] { map { "\($0.what.name) \($0.rule.name)" } }

  /// Other methods of the app, by Apple's names, with their arguments.
  var methods: [String] {
    compactMap { event in
      guard case .called(let method) = event.what else { return nil }
      return method.rawValue + (event.argument.isEmpty ? "" : " \(event.argument)")
    }
  }

  /// As the documentation counts them: `M4 M3`, or `none`.
  var calls: String { callbacks.isEmpty ? "none" : callbacks.map(\.number).joined(separator: " ") }

  var shown: Presentation? {
    compactMap { if case .presented(let places, _) = $0.what { places } else { nil } }.first
  }

  func has(_ what: PhoneEvent.What, _ rule: PhoneRule) -> Bool {
    contains { $0.what == what && $0.rule == rule }
  }

  /// How it is known what shows and who is called: what is known from measuring alone counts as ours, as it was measured in
  /// four cases.
  var letter: Evidence {
    filter { $0.what.name != "silent" }.allSatisfy { $0.rule.evidence.contains(.documented) && !$0.isOurs }
      ? .documented : .ours
  }

  /// Whether each was measured, or is documented.
  var isMeasured: Bool { allSatisfy { !$0.isOurs } && contains { $0.rule.evidence.contains(.measured) } }
}

extension PhoneEvent {
  fileprivate var isOurs: Bool { rule.evidence.contains(.ours) }
}
