import PushModel

/// What a person does to notifications and apps.
extension PhoneState {
  // MARK: Apps

  /// What waits for the app to be opened is delivered then.
  mutating func bringForward(_ topic: Topic, _ rule: PhoneRule, for push: PhonePush? = nil) {
    guard let app = apps[topic] else { return }
    unlock()
    if let other = apps.values.first(where: { $0.state == .foreground && $0.topic != topic }) {
      apps[other.topic]?.state = .background
    }
    let what: PhoneEvent.What = app.state.isRunning ? .opened : .launched
    let argument = push.flatMap(\.launchArgument) ?? ""
    if let push { tell(push, what, rule, argument) } else { tell(topic, what, rule) }
    apps[topic]?.state = .foreground
    apps[topic]?.lastUsed = now
    if app.state == .neverLaunched { register(topic) }
    guard let held = app.held else { return }
    apps[topic]?.held = nil
    if has(.fetch, topic) { callFetch(held, .silentReleased) }
  }

  mutating func leave(_ topic: Topic, as state: AppState) {
    apps[topic]?.state = state
    guard state == .forceQuit, let held = apps[topic]?.held else { return }
    apps[topic]?.held = nil
    tell(held, .dropped, .silentDiscarded)
  }

  mutating func unlock() {
    guard settings.isLocked else { return }
    settings.isLocked = false
    board.unlock()
  }

  /// Switches it off and on again; it is locked then.
  mutating func restart() {
    settings.isLocked = true
    for topic in apps.keys.sorted(by: { $0.name < $1.name }) {
      if apps[topic]?.state == .forceQuit { tell(topic, .terminated, .restarted) }
      if apps[topic]?.state != .neverLaunched { apps[topic]?.state = .terminated }
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
    start(push, app, .dismissResponse)
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
      start(push, app, .actionResponse)
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

  private func contentExtension(of push: PhonePush) -> ContentExtension? {
    guard version.hasDelegate, let own = apps[push.topic]?.build.contentExtension,
      let category = push.content.category, own.categories.contains(category)
    else { return nil }
    return own
  }

  mutating func expand(_ push: PhonePush) {
    board.expand(push.id)
    guard let content = contentExtension(of: push) else { return }
    tell(push, .called(.contentReceived), .contentShown, content.name)
  }

  /// One that is open hears of what comes after it.
  mutating func contentHears(of push: PhonePush) {
    guard let open = board.expandedId.flatMap({ board[$0] }), open.id != push.id,
      open.push.topic == push.topic, open.push.content.category == push.content.category,
      open.push.content.threadId == push.content.threadId, let content = contentExtension(of: push)
    else { return }
    tell(push, .called(.contentReceived), .contentAgain, content.name)
  }

  /// Whether the content extension took the action, and kept it.
  private mutating func contentTakes(_ action: NotificationAction, _ text: String?, of push: PhonePush)
    -> Bool
  {
    guard board.expandedId == push.id, let answer = contentExtension(of: push)?.answer else { return false }
    let rule: PhoneRule =
      switch answer {
      case .keep: .contentKeeps
      case .dismiss: action.foreground ? .contentStays : .contentDismisses
      case .forward: .contentForwards
      }
    tell(push, .called(.contentResponse), rule, ActionName.arguments(action, text))
    if answer == .dismiss, !action.foreground { _ = board.remove(push.id) }
    return answer != .forward
  }

  /// What the app shows an expanded notification with; nil for the default.
  func customContent(of push: PhonePush) -> String? { contentExtension(of: push)?.name }
}

/// Identifiers of actions, as an app is told them.
enum ActionName {
  static let open = "com.apple.UNNotificationDefaultActionIdentifier"
  static let dismiss = "com.apple.UNNotificationDismissActionIdentifier"

  static func arguments(_ action: NotificationAction, _ text: String?) -> String {
    action.id + (text.map { ", userText \"\($0)\"" } ?? "")
  }
}

extension PhonePush {
  /// What a launch, or the scene that is brought forward, is told besides.
  fileprivate var launchArgument: String? {
    let parts = [
      content.launchImage.map { "launch image \($0)" }, content.targetContentId.map { "scene \($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
