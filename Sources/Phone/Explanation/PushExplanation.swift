import Basics
import PushModel

/// What is wrong with a push, and what a phone with one app does with it; nothing is sent.
///
///     let explanation = PushExplanation(payload: bytes, type: .alert)
///     for finding in explanation.lint.findings { print(finding.sentence) }
///
/// The app implements what an app of today does, has a service extension and the background mode, and may notify; the phone
/// is locked.
package struct PushExplanation: Sendable {
  /// A notification as it shows.
  package struct Note: Sendable {
    package let content: PushContent
    package let places: Presentation
  }

  package let lint: PayloadLint
  package let state: AppState
  package let version: IOSVersion
  /// In the order in which a person would see them; none where the payload is not JSON.
  package let onArrival: [PhoneEvent]
  /// What a tap on the notification brings; none where there is none.
  package let onTap: [PhoneEvent]
  /// What shows; nil for nothing.
  package let note: Note?
  /// The screen then, as `SimulatedPhone.document` has it.
  private let screen: JSONValue

  /// - Parameters:
  ///   - type: nil where the provider says none; likewise `priority`.
  ///   - isStrict: whether the phone takes a push without a type for an alert of priority 10.
  package init(
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
    var phone = SimulatedPhone(version)
    phone.settings.isPushTypeStrict = isStrict
    var app = PhoneApp(topic, state: state)
    app.build.serviceExtension = ServiceExtension()
    phone.install(app)
    let push = PhonePush(id: 1, topic: topic, payload: payload, type: type, priority: priority)
    let start = Timestamp(seconds: 0)
    onArrival = phone.receive(push, at: start)
    note = phone.notes.last.map { Note(content: $0.push.content, places: $0.shown) }
    screen = phone.document.member("screen") ?? [:]
    onTap = (try? phone.perform(PhoneOrder { $0.tap(try $0.takePush(push.id)) }, at: start)) ?? []
  }
}

// MARK: - As a document

extension PushExplanation: JSONAnswer {
  /// As `explain --json` and the console write it (`Documentation/explain.md#as-json`).
  package static let shape = JSONShape<PushExplanation>([
    "findings": .show { $0.lint.findings }, "phone": .show(as: phone) { $0 },
    "onArrival": .list(of: PhoneEvent.shape) { $0.onArrival },
    "onTap": .list(of: PhoneEvent.shape) { $0.onTap }, "note": .show { $0.note },
    "call": .show(.null, as: call) { $0.screen.member("call") ?? .null },
    "activities": .show([], as: activities) { $0.screen.member("activities") ?? [] },
  ]).named("Explanation")

  private static let call = JSONKind<JSONValue>.any.described(as: ["type": ["object", "null"]])
  private static let activities = JSONKind<JSONValue>.any.described(
    as: ["type": "array", "items": ["type": "object"]])

  /// With a remark where the rules of that iOS are not known.
  private static let phone: JSONShape<PushExplanation> = [
    "ios": .show { $0.version.description }, "appState": .show { $0.state.rawValue },
    "remark": .maybe { $0.version.remark },
  ]
}

extension PushExplanation.Note: JSONAnswer {
  package static let shape: JSONShape<PushExplanation.Note> = [
    "title": .show { $0.content.title }, "subtitle": .show { $0.content.subtitle },
    "body": .show { $0.content.body }, "thread": .show { $0.content.threadId },
    "category": .show { $0.content.category }, "level": .show { $0.content.interruptionLevel.rawValue },
    "places": .show { $0.places.words },
  ]
}

extension LintFinding: JSONAnswer {
  package static let shape: JSONShape<LintFinding> = [
    "rule": .show { $0.rule }, "severity": .show { $0.rule.severity },
    "evidence": .show { $0.rule.evidence.rawValue }, "place": .show { $0.place },
    "reason": .show { $0.sentence },
  ]
}

extension LintRule: JSONWord {}
extension LintRule.Severity: JSONWord {}
