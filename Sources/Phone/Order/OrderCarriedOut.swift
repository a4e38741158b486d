import PushModel

/// Carrying out orders: what each names is looked for first, so that nothing happens by halves.
extension PhoneState {
  mutating func perform(_ order: PhoneOrder) throws(PhoneOrderError) {
    switch order {
    case .open, .leave, .register, .authorize, .answer, .trial, .appSettings, .activity:
      try performForApp(order)
    case .tap, .flick, .dismiss, .action, .reply, .expand: try performForNote(order)
    case .removeActivity(let id): takeAway(try activity(id), .activityRemoved)
    case .renewToken(let id):
      guard renewToken(of: try activity(id)) else {
        throw PhoneOrderError(.absent, "\(id) has no token of its own")
      }
    case .clear(let topic):
      if let topic { try need(topic) }
      clear(topic)
    case .close: board.expand(nil)
    case .call(let answers):
      guard let call, call.state == .ringing || !answers else {
        throw PhoneOrderError(.absent, "nobody is calling")
      }
      answerCall(call, takes: answers)
    case .settings(let change): try applySettings(change)
    case .local(let request):
      try need(request.topic)
      schedule(request)
    case .unschedule(let topic, let identifiers):
      try need(topic)
      unschedule(topic, identifiers)
    case .region(let region, let entering): cross(region, entering: entering)
    case .restart: restart()
    }
  }

  // MARK: Apps

  private func need(_ topic: Topic) throws(PhoneOrderError) {
    guard apps[topic] == nil else { return }
    throw PhoneOrderError(.absent, "\(topic) is not installed on the phone")
  }

  private mutating func performForApp(_ order: PhoneOrder) throws(PhoneOrderError) {
    switch order {
    case .open(let topic):
      try need(topic)
      bringForward(topic, .iconCallsNobody)
    case .leave(let topic, let state):
      try need(topic)
      move(topic, to: state)
    case .register(let topic):
      try need(topic)
      register(topic)
    case .authorize(let topic, let options):
      try need(topic)
      authorize(topic, options)
    case .answer(let topic, let allows):
      guard prompt?.topic == topic else { throw PhoneOrderError(.absent, "\(topic) has not asked anything") }
      answer(topic, allows: allows)
    case .trial(let topic, let choice):
      try need(topic)
      try checkTrial(topic, choice)
      endTrial(topic, choice)
    case .appSettings(let topic, let id):
      try need(topic)
      openSettings(topic, from: try id.map { id throws(PhoneOrderError) in try note(id).push })
    case .activity(let topic, let type, let attributes, let state, let byIntent):
      try need(topic)
      startActivity(topic, type, attributes, state, byIntent: byIntent)
    default: break
    }
  }

  private func checkTrial(_ topic: Topic, _ choice: TrialChoice) throws(PhoneOrderError) {
    let choices = trialChoices(topic)
    guard !choices.isEmpty else {
      throw PhoneOrderError(
        .absent, "the permission of \(topic) is not provisional: there is nothing to keep")
    }
    guard choices.contains(choice) else {
      let names = choices.map(\.rawValue).joined(separator: ", ")
      throw PhoneOrderError(
        .invalid, "choice: expected one of \(names) on iOS \(version), got \"\(choice.rawValue)\"")
    }
  }

  private func activity(_ id: String) throws(PhoneOrderError) -> LiveActivity {
    guard let activity = activities[id] else {
      let all = activities.ids.isEmpty ? "none" : activities.ids.joined(separator: ", ")
      throw PhoneOrderError(
        .absent, "there is no Live Activity \(DocumentError.quoted(id)) on the phone; there is \(all)")
    }
    return activity
  }

  // MARK: Notifications

  private func note(_ id: UInt64) throws(PhoneOrderError) -> PhoneNote {
    guard let note = board[id] else {
      throw PhoneOrderError(.absent, "there is no notification \(id) on the phone")
    }
    return note
  }

  private mutating func performForNote(_ order: PhoneOrder) throws(PhoneOrderError) {
    switch order {
    case .tap(let id):
      let push = try note(id).push
      _ = board.remove(id)
      tap(push)
    case .flick(let id):
      let push = try note(id).push
      guard board.banner(at: now)?.id == id else {
        throw PhoneOrderError(.absent, "notification \(id) is no banner now")
      }
      board.flick()
      tell(push, .noCallback, .flicked)
    case .dismiss(let id):
      let push = try note(id).push
      _ = board.remove(id)
      dismiss(push)
    case .action(let id, let name, let text):
      let push = try note(id).push
      try checked(action(name, of: push), text, of: push)
    case .reply(let id, let text):
      let push = try note(id).push
      guard let action = actions(of: push).first(where: { $0.kind == .text }) else {
        throw PhoneOrderError(.absent, "notification \(id) has no action that takes text")
      }
      choose(action, text, of: push)
    case .expand(let id): expand(try note(id).push)
    default: break
    }
  }

  private mutating func clear(_ topic: Topic?) {
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

  private func action(_ name: String, of push: PhonePush) throws(PhoneOrderError) -> NotificationAction {
    let all = actions(of: push)
    guard let action = all.first(where: { $0.id == name }) else {
      let names = all.isEmpty ? "it has none" : "it has \(all.map(\.id).joined(separator: ", "))"
      throw PhoneOrderError(
        .absent, "there is no action \(DocumentError.quoted(name)) on the notification: \(names)")
    }
    return action
  }

  private mutating func checked(
    _ action: NotificationAction, _ text: String?, of push: PhonePush
  ) throws(PhoneOrderError) {
    guard action.kind == .plain || text != nil else {
      throw PhoneOrderError(
        .invalid, "text: expected what was typed, as \(action.id) is a text input, got nothing")
    }
    choose(action, action.kind == .text ? text : nil, of: push)
  }

  // MARK: Settings

  private mutating func applySettings(_ change: SettingsChange) throws(PhoneOrderError) {
    for (topic, _) in change.apps { try need(topic) }
    do {
      try applyOwnSettings(change.phone)
      for (topic, members) in change.apps { try applyAppSettings(members, topic) }
    } catch {
      // What is read here was read once already, before anything changed.
      throw PhoneOrderError(.invalid, "\(error)")
    }
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
