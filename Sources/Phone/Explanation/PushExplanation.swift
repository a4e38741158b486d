import PushModel

/// What is wrong with a push, and what a phone with one app does with it; nothing is sent.
///
///     let explanation = PushExplanation(payload: bytes, type: .alert)
///     for finding in explanation.lint.findings { print(finding.sentence) }
///
/// The app implements what an app of today does, has a service extension and the background mode, and may notify; the phone
/// is locked.
public struct PushExplanation: Sendable {
  /// A notification as it shows.
  public struct Note: Sendable {
    public let content: PushContent
    public let places: Presentation
  }

  public let lint: PayloadLint
  public let state: AppState
  public let version: IOSVersion
  /// In the order in which a person would see them; none where the payload is not JSON.
  public let onArrival: [PhoneEvent]
  /// What a tap on the notification brings; none where there is none.
  public let onTap: [PhoneEvent]
  /// What shows; nil for nothing.
  public let note: Note?
  /// The screen then, as `Phone.document` has it.
  private let screen: JSONValue

  /// - Parameters:
  ///   - type: nil where the provider says none; likewise `priority`.
  ///   - isStrict: whether the phone takes a push without a type for an alert of priority 10.
  public init(
    payload: [UInt8], type: PushType? = nil, priority: Priority? = nil, state: AppState = .suspended,
    version: IOSVersion = .standard, isStrict: Bool = false
  ) {
    lint = PayloadLint(payload: payload, type: type, priority: priority)
    (self.state, self.version) = (state, version)
    guard let topic = Topic("com.example.app"),
      JSONReader.read(payload, maximumDepth: JSONText.maximumDepth) != nil
    else {
      (onArrival, onTap, note, screen) = ([], [], nil, [:])
      return
    }
    var phone = Phone(version)
    phone.settings.isPushTypeStrict = isStrict
    var app = PhoneApp(topic, state: state)
    app.build.hasServiceExtension = true
    phone.install(app)
    let push = PhonePush(id: 1, topic: topic, payload: payload, type: type, priority: priority)
    let start = Timestamp(seconds: 0)
    onArrival = phone.receive(push, at: start)
    note = phone.notes.last.map { Note(content: $0.push.content, places: $0.shown) }
    screen = phone.document.member("screen") ?? [:]
    onTap = phone.tap(push.id, at: start)
  }
}

// MARK: - As a document

extension PushExplanation {
  /// As `explain --json` and the console write it (`Documentation/explain.md#as-json`).
  public var json: JSONValue {
    .object([
      ("findings", .array(lint.findings.map(\.json))),
      ("phone", phone),
      ("onArrival", .array(onArrival.map { .object($0.members) })),
      ("onTap", .array(onTap.map { .object($0.members) })),
      ("note", note?.json ?? .null), ("call", screen.member("call") ?? .null),
      ("activities", screen.member("activities") ?? []),
    ])
  }

  private var phone: JSONValue {
    let remark = version.remark.map { [("remark", JSONValue.string($0))] } ?? []
    return .object(
      [("ios", .string(version.description)), ("appState", .string(state.rawValue))] + remark)
  }
}

extension PushExplanation.Note {
  fileprivate var json: JSONValue {
    .object([
      ("title", .optional(content.title)), ("subtitle", .optional(content.subtitle)),
      ("body", .optional(content.body)), ("thread", .optional(content.threadId)),
      ("category", .optional(content.category)), ("level", .string(content.interruptionLevel.rawValue)),
      ("places", .array(places.words.map { .string($0) })),
    ])
  }
}

extension LintFinding {
  fileprivate var json: JSONValue {
    .object([
      ("rule", .string(rule.rawValue)), ("severity", .string(rule.severity.rawValue)),
      ("evidence", .string(rule.evidence.rawValue)), ("place", .string(place)), ("reason", .string(sentence)),
    ])
  }
}
