import PushModel

/// All that is to be seen of a phone, as the console answers it.
extension Phone {
  public var document: JSONValue { state.document }
}

extension PhoneState {
  fileprivate var document: JSONValue {
    [
      "iosVersion": .string(version.description), "settings": settings.document, "screen": screen,
      "apps": .object(sortedApps.map { ($0.topic.name, appDocument($0)) }),
    ]
  }

  private var sortedApps: [PhoneApp] { apps.values.sorted { $0.topic.name < $1.topic.name } }

  // MARK: The screen

  /// Most notes that a document shows, the newest of all.
  private static let noteLimit = 100

  private var screen: JSONValue {
    let notes = Array(board.notes.suffix(Self.noteLimit))
    let lockScreen = settings.isLocked ? notes.reversed().filter { $0.shown.contains(.lockScreen) } : []
    let badges = sortedApps.filter { $0.badge > 0 }.map {
      ($0.topic.name, JSONValue.integer(Int64($0.badge)))
    }
    return [
      "locked": .bool(settings.isLocked), "badge": .object(badges),
      "lockScreen": .array(lockScreen.map(document)),
      "banner": board.banner(at: now).map(document) ?? .null,
      "list": .array(groups(notes.filter { $0.shown.contains(.list) })),
      "foreground": .optional(apps.values.first { $0.state == .foreground }?.topic.name),
      "expanded": .optional(board.expandedId), "prompt": prompt?.document ?? .null,
      "call": call?.document ?? .null, "activities": .array(activities.activities.map(\.document)),
    ]
  }

  /// Newest first, those of a thread together.
  private func groups(_ notes: [PhoneNote]) -> [JSONValue] {
    var groups: [(first: PhoneNote, notes: [PhoneNote])] = []
    for note in notes.reversed() {
      let index = groups.firstIndex { group in
        note.thread != nil && group.first.thread == note.thread && group.first.push.topic == note.push.topic
      }
      if let index { groups[index].notes.append(note) } else { groups.append((note, [note])) }
    }
    return groups.map { group in
      [
        "topic": .string(group.first.push.topic.name), "thread": .optional(group.first.thread),
        "notes": .array(group.notes.map(document)),
      ]
    }
  }

  private func document(_ note: PhoneNote) -> JSONValue {
    let (push, content) = (note.push, note.push.content)
    return [
      "id": .integer(Int64(clamping: push.id)), "topic": .string(push.topic.name),
      "title": .optional(content.title), "subtitle": .optional(content.subtitle),
      "body": .optional(content.body),
      "image": .optional(content.attachment?.name), "thread": .optional(content.threadId),
      "category": .optional(content.category), "level": .string(level(of: push).rawValue),
      "at": .string(note.at.rfc3339), "actions": .array(actions(of: push).map(\.document)),
      "notificationId": .optional(push.notificationId), "isLocal": .bool(push.isLocal),
      "custom": .optional(customContent(of: push)),
    ]
  }

  // MARK: Apps

  private func appDocument(_ app: PhoneApp) -> JSONValue {
    .object(
      app.members + [
        ("badge", .integer(Int64(app.badge))), ("silentBudget", app.budgetDocument),
        ("pending", .array(local.requests.filter { $0.topic == app.topic }.map(\.document))),
      ])
  }
}

extension PhoneApp {
  fileprivate var members: [(String, JSONValue)] { Self.form.members(self) }

  fileprivate var budgetDocument: JSONValue {
    [
      "left": .integer(Int64(budget.left)), "of": .integer(Int64(SilentBudget.most)),
      "next": .optional(budget.nextMoment), "held": .bool(held != nil),
    ]
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
    ["topic": .string(topic.name), "options": .array(options.map(JSONValue.string))]
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
  fileprivate var document: JSONValue {
    [
      "id": .string(id), "topic": .string(topic.name), "attributesType": .string(attributesType),
      "attributes": attributes, "contentState": contentState, "state": .string(state.rawValue),
      "alert": alert.map { ["title": .optional($0.title), "body": .optional($0.body)] } ?? .null,
      "updatedAt": .string(updatedAt.rfc3339), "staleDate": .optional(staleDate),
      "dismissalDate": .optional(dismissalDate),
    ]
  }
}
