import PushModel

/// What a person does to notifications and apps.
extension SimulatedPhone {
  // MARK: Apps

  /// What waits for the app to be opened is delivered then.
  mutating func bringForward(_ topic: Topic, _ rule: PhoneRule, for push: PhonePush? = nil) {
    guard let app = apps[topic] else { return }
    unlock()
    board.expand(nil)
    sendOthersBack(topic)
    let what: PhoneEvent.What = app.state.isRunning ? .opened : .launched
    tell(topic, what, rule, push.map { launchArguments($0, isLaunch: what == .launched) } ?? "", of: push)
    apps[topic]?.state = .foreground
    apps[topic]?.lastUsed = now
    if app.state == .neverLaunched { register(topic) }
    guard let held = app.held else { return }
    apps[topic]?.held = nil
    if has(.fetch, topic) {
      callFetch(held, .silentReleased)
    } else {
      tell(held, .dropped, .silentNobody)
    }
  }

  mutating func move(_ topic: Topic, to state: AppState) {
    if state == .foreground { bringForward(topic, .iconCallsNobody) } else { leave(topic, as: state) }
  }

  private mutating func leave(_ topic: Topic, as state: AppState) {
    if state.isRunning { apps[topic]?.state = state } else { end(topic, as: state) }
  }

  // MARK: The phone

  /// Puts the app that is in the foreground away.
  mutating func lock() {
    settings.isLocked = true
    board.lock()
    sendOthersBack(nil)
  }

  /// The first one after a start gives apps back to the system that the user had ended.
  mutating func unlock() {
    guard settings.isLocked else { return }
    settings.isLocked = false
    board.unlock()
    guard isFreshlyStarted else { return }
    isFreshlyStarted = false
    for app in sortedApps where app.state == .forceQuit {
      apps[app.topic]?.state = .terminated
      tell(app.topic, .terminated, .restarted)
    }
  }

  /// Switches it off and on again; it is locked then.
  mutating func restart() {
    lock()
    (isFreshlyStarted, call, prompt) = (true, nil, nil)
    for app in sortedApps {
      end(app.topic, as: app.state.isRunning ? .terminated : app.state)
    }
  }

  // MARK: Notifications

  mutating func tap(_ push: PhonePush) {
    let isLaunch = apps[push.topic]?.state.isRunning == false
    bringForward(push.topic, .tapOpens, for: push)
    guard let app = apps[push.topic] else { return }
    if has(.response, push.topic) {
      guard !isLaunch || app.build.setsDelegateInTime else {
        return tell(push, .noCallback, .delegateTooLate)
      }
      tell(push, .callback(.response), .tapResponse, ActionName.open)
    } else if push.isLocal {
      tapLocal(push, isLaunch: isLaunch)
    } else if has(.fetch, push.topic) {
      callFetch(push, push.content.isContentAvailable ? .tapFetchAgain : .tapFetch)
    } else if has(.receive, push.topic) {
      tell(
        push, isLaunch ? .noCallback : .callback(.receive), isLaunch ? .tapLaunchWithoutReceive : .tapReceive)
    } else {
      tell(push, .noCallback, .tapNobody)
    }
  }

  private mutating func tapLocal(_ push: PhonePush, isLaunch: Bool) {
    guard !isLaunch || version.hasDelegate else { return tell(push, .noCallback, .localLaunch) }
    guard has(.receiveLocal, push.topic) else { return tell(push, .noCallback, .tapNobody) }
    tell(push, .callback(.receiveLocal), .localReceive)
  }

  mutating func dismiss(_ push: PhonePush) {
    guard let app = apps[push.topic], category(of: push)?.customDismiss == true, has(.response, push.topic)
    else { return tell(push, .noCallback, .removed) }
    launch(push, app, .dismissResponse)
    tell(push, .callback(.response), .dismissResponse, ActionName.dismiss)
  }

  // MARK: Actions

  func category(of push: PhonePush) -> NotificationCategory? {
    push.content.category.flatMap { apps[push.topic]?.build.categories[$0] }
  }

  /// A button below a notification; `text` is what was typed into a text input.
  mutating func choose(_ action: NotificationAction, _ text: String?, of push: PhonePush) {
    if action.authentication, settings.isLocked {
      unlock()
      tell(push, .unlocked, .actionUnlocks)
    }
    guard !contentTakes(action, text, of: push) else { return }
    _ = board.remove(push.id)
    give(action, text, of: push)
  }

  /// To the app.
  private mutating func give(_ action: NotificationAction, _ text: String?, of push: PhonePush) {
    guard let app = apps[push.topic] else { return }
    if action.foreground {
      bringForward(push.topic, .actionForeground, for: push)
    } else {
      launch(push, app, .actionResponse)
    }
    let argument = ActionName.arguments(action, text)
    guard version.hasDelegate else {
      let method: AppMethod =
        push.isLocal
        ? .handleLocalAction : version >= IOSVersion(9) && text != nil ? .handleActionWithText : .handleAction
      return tell(push, .called(method), .actionOld, argument)
    }
    guard has(.response, push.topic) else { return tell(push, .noCallback, .actionNobody, argument) }
    tell(push, .callback(.response), .actionResponse, argument)
  }

  // MARK: The content extension

  /// What the app shows an expanded notification with; nil for the default.
  func customContent(of push: PhonePush) -> ContentExtension? {
    guard version.hasDelegate, let own = apps[push.topic]?.build.contentExtension,
      let category = push.content.category, own.categories.contains(category)
    else { return nil }
    return own
  }

  mutating func expand(_ push: PhonePush) {
    board.expand(push.id)
    guard let content = customContent(of: push) else { return }
    tell(push, .called(.contentReceived), .contentShown, content.name)
  }

  /// One that is open hears of what comes after it.
  mutating func contentHears(of push: PhonePush) {
    guard let open = board.expandedId.flatMap({ board[$0] }), open.id != push.id,
      open.push.topic == push.topic, open.push.content.category == push.content.category,
      open.push.content.threadId == push.content.threadId, let content = customContent(of: push)
    else { return }
    tell(push, .called(.contentReceived), .contentAgain, content.name)
  }

  /// Whether the content extension took the action, and kept it.
  private mutating func contentTakes(_ action: NotificationAction, _ text: String?, of push: PhonePush)
    -> Bool
  {
    guard board.expandedId == push.id, let content = customContent(of: push), let answer = content.answer
    else { return false }
    let arguments = ActionName.arguments(action, text)
    guard content.answerSeconds == 0 || agenda.isFull else {
      tell(push, .called(.contentResponse), .contentWaits, arguments)
      let moment = now.adding(nanoseconds: Int64(content.answerSeconds * 1e9))
      agenda.add(.contentAnswers(push, action, text), at: moment)
      return true
    }
    tell(push, .called(.contentResponse), answer.rule(action), arguments)
    if answer.removes(action) { _ = board.remove(push.id) }
    return answer != .forward
  }

  /// The content extension that had an action answers at last, unless the notification has gone meanwhile.
  mutating func endContentAnswer(_ push: PhonePush, _ action: NotificationAction, _ text: String?) {
    guard board[push.id] != nil, let answer = customContent(of: push)?.answer else { return }
    tell(push, .extensionEnded, answer.rule(action), action.id)
    if answer == .forward || answer.removes(action) { _ = board.remove(push.id) }
    if answer == .forward { give(action, text, of: push) }
  }
}

extension ContentExtension.Answer {
  fileprivate func rule(_ action: NotificationAction) -> PhoneRule {
    switch self {
    case .keep: .contentKeeps
    case .dismiss: action.foreground ? .contentStays : .contentDismisses
    case .forward: .contentForwards
    }
  }

  /// Whether the notification goes, and nobody else hears of it.
  fileprivate func removes(_ action: NotificationAction) -> Bool { self == .dismiss && !action.foreground }
}

/// Identifiers of actions, as an app is told them.
enum ActionName {
  static let open = "com.apple.UNNotificationDefaultActionIdentifier"
  static let dismiss = "com.apple.UNNotificationDismissActionIdentifier"

  static func arguments(_ action: NotificationAction, _ text: String?) -> String {
    action.id + (text.map { ", userText \"\($0)\"" } ?? "")
  }
}

extension SimulatedPhone {
  /// What a launch, or the scene that is brought forward, is told besides.
  private func launchArguments(_ push: PhonePush, isLaunch: Bool) -> String {
    let scene = push.content.targetContentId.flatMap { version >= IOSVersion(13) ? "scene \($0)" : nil }
    let image = push.content.launchImage.map { "launch image \($0)" }
    let parts = isLaunch ? [launchOption(push), image, scene] : [scene]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }

  private func launchOption(_ push: PhonePush) -> String {
    if version >= IOSVersion(13), apps[push.topic]?.build.hasScenes == true { return "connectionOptions" }
    return push.isLocal ? "launchOptions[localNotification]" : "launchOptions[remoteNotification]"
  }
}
