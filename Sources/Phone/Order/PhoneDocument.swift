import Basics
import PushModel

/// All that is to be seen of a phone, as the console answers it.
extension SimulatedPhone {
  /// Most bytes of a document: so many go into a frame of the wire (our choice).
  package static let documentLimit = 256 * 1024

  /// Of the newest 100 notes. Where that would be more than `documentLimit` bytes, it shows fewer of them, then fewer Live
  /// Activities and pending requests, and at last of apps only what the user sees.
  package var document: JSONValue {
    let all = DocumentExtent.all.lazy.map { shown($0) }
    return all.first { $0.encoded.count <= Self.documentLimit } ?? shown(.least)
  }
}

/// How much of a phone a document shows.
private struct DocumentExtent: Sendable {
  /// The newest.
  let notes: Int
  /// One of so many Live Activities, and of pending requests.
  var part = 1
  var hasWholeApps = true

  static let all =
    [100, 50, 25, 12, 6, 3].map { DocumentExtent(notes: $0) }
    + [DocumentExtent(notes: 2, part: 8), DocumentExtent(notes: 1, part: 32)]
  static let least = DocumentExtent(notes: 0, part: .max, hasWholeApps: false)
  /// Most apps of the least document.
  static let apps = 100
}

/// A phone, or as much of it as a document shows.
package struct ShownPhone {
  fileprivate let state: SimulatedPhone
  fileprivate let extent: DocumentExtent

  package static let members: JSONShape<ShownPhone> = [
    "iosVersion": .show("26") { $0.state.version.description }, "remark": .maybe { $0.state.version.remark },
    "settings": .show(settings) { $0.state.settings },
    "screen": .show { ShownScreen($0.state, $0.extent) },
    "apps": .show(["com.example.app": ["state": "suspended", "callbacks": ["M3", "M4", "M5"]]]) { phone in
      JSONMap(phone.apps.map { ($0.topic.name, Untold(phone.state.document($0, phone.extent))) })
    },
  ]

  private static let settings: JSONValue = [
    "locked": true, "lowPower": false, "language": "en", "network": true, "focus": nil,
  ]

  private var apps: [PhoneApp] {
    extent.hasWholeApps ? state.sortedApps : Array(state.sortedApps.prefix(DocumentExtent.apps))
  }
}

/// An object of which the API's description tells no more.
private struct Untold: JSONShown {
  let json: JSONValue

  init(_ json: JSONValue) { self.json = json }
}

extension PhoneSettings: JSONShown {}
extension Attachment: JSONShown {}
extension NotificationAction: JSONShown {}

/// What is on the screen. Phones of others may tell less than ours.
private struct ShownScreen: JSONAnswer {
  let state: SimulatedPhone
  let extent: DocumentExtent
  let notes: [PhoneNote]

  init(_ state: SimulatedPhone, _ extent: DocumentExtent) {
    (self.state, self.extent, notes) = (state, extent, Array(state.board.notes.suffix(extent.notes)))
  }

  static let shape: JSONShape<ShownScreen> = [
    "locked": .show(true) { $0.state.settings.isLocked },
    "badge": .maybe([:]) { screen in
      JSONMap(screen.state.sortedApps.filter { $0.badge > 0 }.map { ($0.topic.name, $0.badge) })
    },
    "lockScreen": .show { $0.lockScreen }, "banner": .maybe(.null) { .some($0.banner) },
    "list": .maybe([]) { screen in
      screen.state.groups(screen.notes.filter { $0.shown.contains(.list) })
    },
    "foreground": .maybe(.null) { screen in
      .some(screen.state.sortedApps.first { $0.state == .foreground }?.topic.name)
    },
    "expanded": .maybe(.null) { .some($0.state.board.expandedId) },
    "prompt": .maybe(.null) { .some($0.state.prompt) },
    "summary": .maybe { .some($0.state.summaryDocument.map(Untold.init)) },
    "call": .maybe(.null) { .some($0.state.call) },
    "activities": .maybe([]) { screen in
      screen.activities.map { Untold($0.document(screen.state.token(of: $0))) }
    }, "island": .maybe(.null) { .some($0.state.activities.inIsland?.id) },
  ]

  private var lockScreen: [ShownNote] {
    guard state.settings.isLocked else { return [] }
    return notes.reversed().filter { $0.shown.contains(.lockScreen) }.map { ShownNote($0, state) }
  }

  private var banner: ShownNote? {
    guard extent.notes > 0 else { return nil }
    return state.board.banner(at: state.now).map {
      ShownNote($0, state, actions: NotificationCategory.bannerActions)
    }
  }

  private var activities: ArraySlice<LiveActivity> {
    state.activities.inOrder.prefix(state.activities.activities.count / extent.part)
  }
}

/// A notification as it shows on a phone. Phones of others may tell less than ours.
package struct ShownNote: JSONAnswer {
  private let state: SimulatedPhone
  private let note: PhoneNote
  private let content: PushContent
  private let mostActions: Int
  private var push: PhonePush { note.push }

  fileprivate init(_ note: PhoneNote, _ state: SimulatedPhone, actions most: Int = .max) {
    (self.note, self.state, mostActions) = (note, state, most)
    content = state.visibleContent(of: note.push)
  }

  package static let shape = (words + circumstances).named("PhoneNote")

  private static let words: JSONShape<ShownNote> = [
    "id": .show(1) { $0.push.id }, "topic": .maybe(JSONExample.topic) { $0.push.topic.name },
    "title": .maybe(.null) { .some($0.content.title) },
    "subtitle": .maybe(.null) { .some($0.content.subtitle) },
    "body": .show("Hello") { $0.content.body }, "image": .maybe(.null) { .some($0.content.attachment?.name) },
    "attachment": .maybe { .some($0.content.attachment) },
    "thread": .maybe(.null) { .some($0.content.threadId) },
    "category": .maybe(.null) { .some($0.content.category) },
    "level": .maybe("active") { shown in
      (shown.app.map { shown.state.level(of: shown.push, $0) } ?? .active).rawValue
    },
    "relevance": .maybe { .some($0.state.version >= IOSVersion(15) ? $0.content.relevance : nil) },
  ]

  private static let circumstances: JSONShape<ShownNote> = [
    "at": .maybe(JSONExample.now) { $0.note.at }, "button": .maybe { .some($0.button) },
    "actions": .maybe([]) { shown in
      Array(shown.state.actions(of: shown.push).prefix(shown.mostActions))
    },
    "notificationId": .maybe(1) { .some($0.push.notificationId) },
    "isLocal": .maybe(false) { $0.push.isLocal },
    "isInCar": .maybe { $0.note.shown.contains(.carPlay) },
    "isPreviewHidden": .maybe { $0.state.hidesPreview(of: $0.push) },
    "custom": .maybe(.null) { .some($0.state.customContent(of: $0.push)?.name) },
    "customView": .maybe { shown in
      .some(shown.state.customContent(of: shown.push).map { Untold($0.view(on: shown.state.version)) })
    }, "trial": .maybe { $0.state.trialChoices($0.push.topic).map(\.rawValue) },
  ]

  private var app: PhoneApp? { state.apps[push.topic] }

  /// Of versions that name it by a key.
  private var button: String? {
    guard !state.version.hasDelegate else { return nil }
    return content.actionKey.map { app?.text($0, in: state.settings.language) ?? $0 }
  }
}

extension SimulatedPhone {
  fileprivate func shown(_ extent: DocumentExtent) -> JSONValue {
    .object(ShownPhone.members.written(ShownPhone(state: self, extent: extent)))
  }

  /// nil while it is off.
  fileprivate var summaryDocument: JSONValue? {
    guard version >= IOSVersion(15), let summary = settings.summary else { return nil }
    return ["next": .optional(summary.moment(after: now)), "waiting": .integer(Int64(waiting.count))]
  }

  fileprivate func token(of activity: LiveActivity) -> DeviceToken? {
    need(of: activity).flatMap { tokens[$0] }
  }

  /// Newest first, those of a thread together.
  fileprivate func groups(_ notes: [PhoneNote]) -> [Untold] {
    var groups: [[PhoneNote]] = []
    for note in notes.reversed() {
      let index = groups.firstIndex { group in
        note.thread != nil && group[0].thread == note.thread && group[0].push.topic == note.push.topic
      }
      if let index { groups[index].append(note) } else { groups.append([note]) }
    }
    return groups.map { group in
      Untold([
        "topic": .string(group[0].push.topic.name), "thread": .optional(group[0].thread),
        "summary": summary(group), "notes": .array(group.map { ShownNote($0, self).json }),
      ])
    }
  }

  /// What a group's last line counts, and of whom; only some versions have it.
  private func summary(_ group: [PhoneNote]) -> JSONValue {
    guard version >= IOSVersion(12), version < IOSVersion(15), group.count > 1 else { return .null }
    let contents = group.dropFirst().map(\.push.content)
    let names = contents.compactMap(\.summaryArgument).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    let count = contents.map(\.summaryCount).reduce(0, +)
    return ["count": .integer(Int64(count)), "arguments": .array(names.map { .string($0) })]
  }

  // MARK: Apps

  fileprivate func document(_ app: PhoneApp, _ extent: DocumentExtent) -> JSONValue {
    let woken = app.silentPushes.count(at: now)
    let pending = local.requests.filter { $0.topic == app.topic }
    let tokens = isEntitled(app) ? tokens.family(of: app.topic) : []
    let members = PhoneApp.form.members(app).filter { extent.hasWholeApps || PhoneApp.seen.contains($0.0) }
    return .object(
      members + [
        ("badge", .integer(Int64(app.badge))), ("silentBudget", app.budgetDocument(woken)),
        ("budgets", app.otherBudgets),
        ("pending", .array(pending.prefix(pending.count / extent.part).map(\.document))),
        (
          "deviceTokens", .array(tokens.prefix(tokens.count / extent.part).map { $0.name.document($0.token) })
        ),
      ])
  }
}

extension PhoneApp {
  /// What the least document has of it.
  fileprivate static let seen = ["state", "permission", "callbacks"]

  /// With what is left of the day's wake-ups, after so many.
  fileprivate func budgetDocument(_ woken: Int) -> JSONValue {
    .object(
      budget.members + [
        ("held", .bool(held != nil)),
        ("leftToday", .integer(Int64(max(0, SimulatedPhone.wakesADay - woken)))),
        ("ofToday", .integer(Int64(SimulatedPhone.wakesADay))),
      ])
  }

  /// Those that are not full, by push type.
  fileprivate var otherBudgets: JSONValue {
    let used = budgets.values.filter { $0.nextMoment != nil }
    return .object(used.map { ($0.use.name, JSONValue.object($0.members)) }.sorted { $0.0 < $1.0 })
  }
}

extension PushBudget {
  fileprivate var members: [(String, JSONValue)] {
    [("left", .integer(Int64(left))), ("of", .integer(Int64(use.most))), ("next", .optional(nextMoment))]
  }
}

extension PushBudget.Use {
  /// The push type; frequent updates have a budget of their own.
  fileprivate var name: String {
    switch self {
    case .silent: PushType.background.name
    case .activities: PushType.liveactivity.name
    case .frequentActivities: "\(PushType.liveactivity.name)-frequent"
    case .controls: PushType.controls.name
    case .widgets: PushType.widgets.name
    }
  }
}

extension TokenNeed {
  fileprivate func document(_ token: DeviceToken) -> JSONValue {
    ["topic": .string(topic.name), "context": .optional(context?.text), "token": .string(token.hex)]
  }
}

extension LocalRequest {
  fileprivate var document: JSONValue {
    [
      "identifier": .string(identifier), "title": .optional(content.title), "body": .optional(content.body),
      "next": .optional(next), "repeats": .bool(repeats),
    ]
  }
}

extension PermissionPrompt: JSONShown {
  package var json: JSONValue {
    ["topic": .string(topic.name), "options": .array(options.map { .string($0.rawValue) })]
  }
}

extension IncomingCall: JSONShown {
  package var json: JSONValue {
    [
      "id": .integer(Int64(clamping: id)), "topic": .string(topic.name), "caller": .string(caller),
      "state": .string(state.rawValue), "notificationId": .optional(notificationId),
    ]
  }
}

extension LiveActivity {
  /// Deepest nesting that a document shows of its data: who reads it has a limit too.
  private static let depth = 16

  fileprivate func document(_ token: DeviceToken?) -> JSONValue {
    [
      "id": .string(id), "topic": .string(topic.name), "attributesType": .string(attributesType),
      "attributes": attributes.flattened(below: Self.depth),
      "contentState": contentState.flattened(below: Self.depth), "state": .string(state.rawValue),
      "alert": alert.map { ["title": .optional($0.title), "body": .optional($0.body)] } ?? .null,
      "updatedAt": .string(updatedAt.rfc3339), "staleDate": .optional(staleDate),
      "dismissalDate": .optional(dismissalDate), "relevance": .number(relevance),
      "token": .optional(token?.hex),
      "channel": .optional(channel),
    ]
  }
}

extension JSONValue {
  /// With the text of what is nested deeper in its place.
  fileprivate func flattened(below depth: Int) -> JSONValue {
    switch self {
    case .array(let values): depth > 0 ? .array(values.map { $0.flattened(below: depth - 1) }) : .string(text)
    case .object(let members):
      depth > 0 ? .object(members.map { ($0.0, $0.1.flattened(below: depth - 1)) }) : .string(text)
    default: self
    }
  }
}
