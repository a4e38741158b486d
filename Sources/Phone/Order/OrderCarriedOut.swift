import Basics
import PushModel

/// What orders name, or why there is no such thing, and what they do.
extension SimulatedPhone {
  mutating func perform(_ order: PhoneOrder) throws(PhoneOrderError) {
    do {
      try order.carryOut(&self)
    } catch {
      throw error as? PhoneOrderError ?? PhoneOrderError(.invalid, "\(error)")
    }
  }

  // MARK: Apps

  /// One that is installed.
  func app(_ topic: Topic?) throws(PhoneOrderError) -> Topic {
    guard let topic else { throw .invalid("topic: expected a bundle id, got nothing") }
    guard apps[topic] != nil else { throw .absent("\(topic) is not installed on the phone") }
    return topic
  }

  /// The app whose question the user has before him.
  func prompting(_ topic: Topic?) throws(PhoneOrderError) -> Topic {
    guard let topic, prompt?.topic == topic else {
      throw .absent("\(topic?.name ?? "no app") has not asked for permission")
    }
    return topic
  }

  mutating func choose(_ choice: TrialChoice, inTrialOf topic: Topic) throws(PhoneOrderError) {
    let choices = trialChoices(topic)
    guard !choices.isEmpty else {
      throw .absent("the permission of \(topic) is not provisional: there is nothing to keep")
    }
    guard choices.contains(choice) else {
      let names = choices.map(\.rawValue).joined(separator: ", ")
      throw .invalid("choice: expected one of \(names) on iOS \(version), got \"\(choice.rawValue)\"")
    }
    endTrial(topic, choice)
  }

  func activity(_ id: String) throws(PhoneOrderError) -> LiveActivity {
    guard let activity = activities[id] else {
      let all = activities.ids.isEmpty ? "none" : activities.ids.joined(separator: ", ")
      throw .absent("there is no Live Activity \(DocumentError.quoted(id)) on the phone; there is \(all)")
    }
    return activity
  }

  // MARK: Notifications

  /// Of a notification that is there.
  func push(_ id: UInt64?) throws(PhoneOrderError) -> PhonePush {
    guard let id else { throw .invalid("id: expected the number of a notification, got nothing") }
    guard let note = board[id] else { throw .absent("there is no notification \(id) on the phone") }
    return note.push
  }

  /// The same, and it is there no more.
  mutating func takePush(_ id: UInt64?) throws(PhoneOrderError) -> PhonePush {
    let push = try push(id)
    _ = board.remove(push.id)
    return push
  }

  mutating func flick(_ push: PhonePush) throws(PhoneOrderError) {
    guard board.banner(at: now)?.id == push.id else {
      throw .absent("notification \(push.id) is no banner now")
    }
    board.flick()
    tell(push, .noCallback, .flicked)
  }

  mutating func reply(_ text: String, to push: PhonePush) throws(PhoneOrderError) {
    guard let action = actions(of: push).first(where: { $0.kind == .text }) else {
      throw .absent("notification \(push.id) has no action that takes text")
    }
    choose(action, text, of: push)
  }

  mutating func takeCall(answers: Bool) throws(PhoneOrderError) {
    guard let call, call.state == .ringing || !answers else {
      throw .absent("there is no call to answer or decline")
    }
    answerCall(call, takes: answers)
  }

  mutating func clear(_ topic: Topic?) {
    for note in board.notes where topic == nil || note.push.topic == topic {
      _ = board.remove(note.id)
      dismiss(note.push)
    }
  }

  /// As many as show.
  func actions(of push: PhonePush) -> [NotificationAction] {
    guard version >= IOSVersion(8) else { return [] }
    var all = category(of: push)?.actions ?? []
    if version < IOSVersion(15) { for index in all.indices { all[index].icon = nil } }
    // Text inputs came a year later.
    return Array(
      all.filter { $0.kind == .plain || version >= IOSVersion(9) }.prefix(NotificationCategory.actionLimit))
  }

  /// The action of that name; `text` is what was typed.
  mutating func choose(_ name: String, _ text: String?, of push: PhonePush) throws(PhoneOrderError) {
    let all = actions(of: push)
    guard let action = all.first(where: { $0.id == name }) else {
      let names = all.isEmpty ? "it has none" : "it has \(all.map(\.id).joined(separator: ", "))"
      throw .absent("there is no action \(DocumentError.quoted(name)) on the notification: \(names)")
    }
    guard action.kind == .plain || text != nil else {
      throw .invalid("text: expected what was typed, as \(action.id) is a text input, got nothing")
    }
    choose(action, action.kind == .text ? text : nil, of: push)
  }

  // MARK: Settings

  /// What is read here was read once already, before anything changed.
  mutating func applySettings(_ change: SettingsChange) throws {
    for (topic, _) in change.apps { _ = try app(topic) }
    try applyOwnSettings(change.phone)
    for (topic, members) in change.apps { try applyAppSettings(members, topic) }
  }

  /// The phone's own settings.
  private mutating func applyOwnSettings(_ members: JSONObject) throws {
    var wanted = settings
    try PhoneSettings.form.read(members, into: &wanted)
    let (isLocked, hadNetwork) = (settings.isLocked, settings.hasNetwork)
    settings = wanted
    settings.isLocked = isLocked
    if wanted.isLocked, !isLocked { lock() }
    if !wanted.isLocked { unlock() }
    if !hadNetwork, wanted.hasNetwork { registerWhoWaits() }
    reviewSummary()
    releaseHeld()
  }

  private mutating func applyAppSettings(_ members: JSONObject, _ topic: Topic) throws {
    guard var app = apps[topic] else { return }
    let before = app
    try PhoneApp.form.read(members, into: &app)
    let state = app.state
    app.state = before.state
    apps[topic] = app
    if before.permission != app.permission {
      tell(topic, .permission(app.permission.status), .settingsChanged)
    }
    if before.permission.liveActivities, !app.permission.liveActivities { takeActivitiesAway(of: topic) }
    if state != before.state { move(topic, to: state) }
    releaseHeld()
  }
}
