import PushModel

/// All that is to be seen of a phone, as the console answers it.
extension Phone {
  /// Most bytes of a document: so many go into a frame of the wire (our choice).
  public static let documentLimit = 256 * 1024

  /// Of the newest 100 notes. Where that would be more than `documentLimit` bytes, it shows fewer of them, then fewer Live
  /// Activities and pending requests, and at last of apps only what the user sees.
  public var document: JSONValue {
    let all = DocumentExtent.all.lazy.map { state.document($0) }
    return all.first { $0.encoded.count < Self.documentLimit } ?? state.document(.least)
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

extension PhoneState {
  fileprivate func document(_ extent: DocumentExtent) -> JSONValue {
    let apps = extent.hasWholeApps ? sortedApps : Array(sortedApps.prefix(DocumentExtent.apps))
    let remark = version.remark.map { [("remark", JSONValue.string($0))] } ?? []
    return .object(
      [("iosVersion", .string(version.description))] + remark + [
        ("settings", settings.document), ("screen", screen(extent)),
        ("apps", .object(apps.map { ($0.topic.name, document($0, extent)) })),
      ])
  }

  // MARK: The screen

  private func screen(_ extent: DocumentExtent) -> JSONValue {
    let notes = Array(board.notes.suffix(extent.notes))
    let lockScreen = settings.isLocked ? notes.reversed().filter { $0.shown.contains(.lockScreen) } : []
    let badges = sortedApps.filter { $0.badge > 0 }.map {
      ($0.topic.name, JSONValue.integer(Int64($0.badge)))
    }
    let banner = extent.notes > 0 ? board.banner(at: now) : nil
    let shown = activities.inOrder.prefix(activities.activities.count / extent.part)
    return [
      "locked": .bool(settings.isLocked), "badge": .object(badges),
      "lockScreen": .array(lockScreen.map { document($0) }),
      "banner": banner.map { document($0, actions: NotificationCategory.bannerActions) } ?? .null,
      "list": .array(groups(notes.filter { $0.shown.contains(.list) })),
      "foreground": .optional(sortedApps.first { $0.state == .foreground }?.topic.name),
      "expanded": .optional(board.expandedId), "prompt": prompt?.document ?? .null,
      "summary": summaryDocument, "call": call?.document ?? .null,
      "activities": .array(shown.map { $0.document(token(of: $0)) }),
      "island": .optional(activities.inIsland?.id),
    ]
  }

  /// nil while it is off.
  private var summaryDocument: JSONValue {
    guard version >= IOSVersion(15), let summary = settings.summary else { return .null }
    return ["next": .optional(summary.moment(after: now)), "waiting": .integer(Int64(waiting.count))]
  }

  private func token(of activity: LiveActivity) -> DeviceToken? { need(of: activity).flatMap { tokens[$0] } }

  /// Newest first, those of a thread together.
  private func groups(_ notes: [PhoneNote]) -> [JSONValue] {
    var groups: [[PhoneNote]] = []
    for note in notes.reversed() {
      let index = groups.firstIndex { group in
        note.thread != nil && group[0].thread == note.thread && group[0].push.topic == note.push.topic
      }
      if let index { groups[index].append(note) } else { groups.append([note]) }
    }
    return groups.map { group in
      [
        "topic": .string(group[0].push.topic.name), "thread": .optional(group[0].thread),
        "summary": summary(group), "notes": .array(group.map { document($0) }),
      ]
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

  private func document(_ note: PhoneNote, actions most: Int = .max) -> JSONValue {
    let (push, app) = (note.push, apps[note.push.topic])
    let content = visibleContent(of: push)
    let button =
      version.hasDelegate ? nil : content.actionKey.map { app?.text($0, in: settings.language) ?? $0 }
    return [
      "id": .integer(Int64(clamping: push.id)), "topic": .string(push.topic.name),
      "title": .optional(content.title), "subtitle": .optional(content.subtitle),
      "body": .optional(content.body),
      "image": .optional(content.attachment?.name),
      "attachment": content.attachment?.document ?? .null, "thread": .optional(content.threadId),
      "category": .optional(content.category),
      "level": .string((app.map { level(of: push, $0) } ?? .active).rawValue),
      "relevance": version >= IOSVersion(15) ? content.relevance.map { .number($0) } ?? .null : .null,
      "at": .string(note.at.rfc3339), "button": .optional(button),
      "actions": .array(actions(of: push).prefix(most).map(\.document)),
      "notificationId": .optional(push.notificationId), "isLocal": .bool(push.isLocal),
      "isInCar": .bool(note.shown.contains(.carPlay)), "isPreviewHidden": .bool(hidesPreview(of: push)),
      "custom": .optional(customContent(of: push)?.name),
      "customView": customContent(of: push)?.view(on: version) ?? .null,
      "trial": .array(trialChoices(push.topic).map { .string($0.rawValue) }),
    ]
  }

  // MARK: Apps

  private func document(_ app: PhoneApp, _ extent: DocumentExtent) -> JSONValue {
    let woken = app.silentPushes.count(at: now)
    let pending = local.requests.filter { $0.topic == app.topic }
    let tokens = isEntitled(app) ? tokens.family(of: app.topic) : []
    let members = extent.hasWholeApps ? app.members : app.members.filter { PhoneApp.seen.contains($0.0) }
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

  fileprivate var members: [(String, JSONValue)] { Self.form.members(self) }

  /// With what is left of the day's wake-ups, after so many.
  fileprivate func budgetDocument(_ woken: Int) -> JSONValue {
    [
      "left": .integer(Int64(budget.left)), "of": .integer(Int64(budget.use.most)),
      "next": .optional(budget.nextMoment), "held": .bool(held != nil),
      "leftToday": .integer(Int64(max(0, PhoneState.wakesADay - woken))),
      "ofToday": .integer(Int64(PhoneState.wakesADay)),
    ]
  }
}

extension PhoneApp {
  /// Those that are not full, by push type.
  fileprivate var otherBudgets: JSONValue {
    let used = budgets.values.filter { $0.nextMoment != nil }.map { budget -> (String, JSONValue) in
      (
        budget.use.name,
        [
          "left": .integer(Int64(budget.left)), "of": .integer(Int64(budget.use.most)),
          "next": .optional(budget.nextMoment),
        ]
      )
    }
    return .object(used.sorted { $0.0 < $1.0 })
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

extension PermissionPrompt {
  fileprivate var document: JSONValue {
    ["topic": .string(topic.name), "options": .array(options.map { .string($0.rawValue) })]
  }
}

extension IncomingCall {
  fileprivate var document: JSONValue {
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
