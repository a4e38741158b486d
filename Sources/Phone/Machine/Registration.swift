import PushModel

/// A question that the user has before him.
struct PermissionPrompt: Sendable {
  let topic: Topic
  let options: [String]
}

/// Tokens and permission (`Documentation/device-behaviour.md#registration-and-permission`).
extension PhoneState {
  /// The app asks for a token.
  mutating func register(_ topic: Topic) {
    guard let app = apps[topic] else { return }
    guard app.build.entitlement != .none else {
      return tell(topic, .called(.didFailToRegister), .noEntitlement, "error 3000")
    }
    guard settings.hasNetwork else {
      apps[topic]?.isRegistering = true
      return tell(topic, .noCallback, .registrationWaits)
    }
    guard version >= IOSVersion(8) || app.permission.status != .notDetermined else {
      apps[topic]?.isRegistering = true
      return ask(topic, [])
    }
    guard version >= IOSVersion(8) || app.permission.isGiven else {
      return tell(topic, .noCallback, .registrationAsks)
    }
    tell(topic, .called(.didRegister), version >= IOSVersion(8) ? .registered : .registrationAsks)
  }

  /// The way to the courier is there again.
  mutating func registerWhoWaits() {
    for topic in apps.keys.sorted(by: { $0.name < $1.name }) where apps[topic]?.isRegistering == true {
      apps[topic]?.isRegistering = false
      register(topic)
    }
  }

  /// The app asks to be allowed notifications.
  mutating func authorize(_ topic: Topic, _ options: [String]) {
    guard let app = apps[topic] else { return }
    guard app.permission.status == .notDetermined else {
      return tell(topic, .permission(app.permission.status), .promptAgain)
    }
    if options.contains("provisional"), version >= IOSVersion(12) {
      apps[topic]?.permission.status = .provisional
      return tell(topic, .permission(.provisional), .provisionalAsksNobody)
    }
    ask(topic, options)
  }

  private mutating func ask(_ topic: Topic, _ options: [String]) {
    prompt = PermissionPrompt(topic: topic, options: options)
    tell(topic, .prompted, .promptOnce)
  }

  /// The user answers the question.
  mutating func answer(_ topic: Topic, allows: Bool) {
    prompt = nil
    let status: Permission.Status = allows ? .authorized : .denied
    apps[topic]?.permission.status = status
    tell(topic, .permission(status), .promptAnswered)
    if version < IOSVersion(8) {
      registerWhoWaits()
    } else if !version.hasDelegate {
      tell(topic, .called(.didRegisterSettings), .promptAnswered)
    }
  }

  /// The button for the app's own settings: on its page in Settings, or below a notification.
  mutating func openSettings(_ topic: Topic, from push: PhonePush?) {
    let rule: PhoneRule =
      apps[topic]?.build.providesSettings == true && version >= IOSVersion(12)
      ? .settingsButton : .settingsButtonMissing
    guard rule == .settingsButton, has(.openSettings, topic) else { return tell(topic, .noCallback, rule) }
    bringForward(topic, rule)
    if let push {
      tell(push, .callback(.openSettings), rule)
    } else {
      tell(topic, .callback(.openSettings), rule)
    }
  }
}
