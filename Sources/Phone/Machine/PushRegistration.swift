import PushModel

/// A question that the user has before him.
struct PermissionPrompt: Sendable {
  let topic: Topic
  let options: [AuthorizationOption]
}

/// What an app may ask to be allowed.
enum AuthorizationOption: String, Sendable, CaseIterable {
  case alert, badge, sound, carPlay, criticalAlert, provisional, providesAppNotificationSettings
  case announcement, timeSensitive

  /// Those that know it; before iOS 10 there were types instead, of which alert, badge and sound are the same.
  var versions: ClosedRange<IOSVersion> {
    let last = IOSVersion.supported.upperBound
    switch self {
    case .alert, .badge, .sound: return IOSVersion.first...last
    case .carPlay: return IOSVersion(10)...last
    case .criticalAlert, .provisional, .providesAppNotificationSettings: return IOSVersion(12)...last
    case .announcement: return IOSVersion(13)...IOSVersion(14, 99)
    case .timeSensitive: return IOSVersion(15)...last
    }
  }
}

extension Permission {
  /// What was not asked for is not allowed.
  fileprivate mutating func limit(to options: [AuthorizationOption], on version: IOSVersion) {
    (alert, sound, badge) = (
      options.contains(.alert), options.contains(.sound), options.contains(.badge)
    )
    (critical, carPlay) = (options.contains(.criticalAlert), options.contains(.carPlay))
    // Later ones do not ask any more.
    announcement = options.contains(.announcement) || version >= IOSVersion(15)
  }
}

/// Tokens and permission (`Documentation/device-behaviour.md#registration-and-permission`).
extension SimulatedPhone {
  /// The app asks for a token.
  mutating func register(_ topic: Topic) {
    guard let app = apps[topic] else { return }
    guard app.build.entitlement != .none else {
      return tell(topic, .called(.didFailToRegister), .noEntitlement, "error 3000")
    }
    guard !settings.isSimulator else {
      return tell(topic, .called(.didFailToRegister), .simulator, "error 3010")
    }
    guard version >= IOSVersion(8) || app.permission.status != .notDetermined else {
      apps[topic]?.isRegistering = true
      return ask(topic, [])
    }
    guard version >= IOSVersion(8) || app.permission.isGiven else {
      return tell(topic, .noCallback, .registrationAsks)
    }
    guard tokenObstacle(app) != .otherEnvironment else {
      return tell(topic, .noCallback, .otherEnvironment, app.build.entitlement.rawValue)
    }
    guard settings.hasNetwork else {
      apps[topic]?.isRegistering = true
      return tell(topic, .noCallback, .registrationWaits)
    }
    tell(topic, .called(.didRegister), version >= IOSVersion(8) ? .registered : .registrationAsks)
  }

  /// The service has given a token. Answers by which rule that is worth telling; nil for the first one of a topic, for the same
  /// again, and for what is not wanted any more.
  mutating func remember(_ token: DeviceToken, as name: TokenNeed) -> PhoneRule? {
    guard name.context == nil || wantedTokens.contains(name) else { return nil }
    let old = tokens.take(token, as: name)
    guard let app = apps[name.topic.app.topic] else { return nil }
    if app.state == .neverLaunched { return .restoredUnlaunched }
    guard let old else { return name.context?.rule }
    guard old != token else { return nil }
    if case .activity? = name.context { return .activityTokenChanged }
    return .tokenChanged
  }

  mutating func tell(_ token: DeviceToken, of name: TokenNeed, _ rule: PhoneRule) {
    let (app, type) = name.topic.app
    let what: PhoneEvent.What = rule == .restoredUnlaunched ? .noCallback : .token(token)
    let use = name.context?.words ?? type.map { "for \($0.name)" } ?? ""
    tell(app, what, rule, use, for: name.context)
  }

  /// The way to the courier is there again.
  mutating func registerWhoWaits() {
    for app in sortedApps where app.isRegistering {
      apps[app.topic]?.isRegistering = false
      register(app.topic)
    }
  }

  /// The app asks to be allowed notifications.
  mutating func authorize(_ topic: Topic, _ options: [AuthorizationOption]) {
    guard let app = apps[topic] else { return }
    // Asking and registering are one.
    guard version >= IOSVersion(8) else { return register(topic) }
    guard app.permission.status == .notDetermined else {
      tell(topic, .permission(app.permission.status), .promptAgain)
      return tellSettings(topic, .promptAgain)
    }
    let options = options.filter { $0.versions.contains(version) }
    if options.contains(.provisional) {
      let version = version
      apps[topic]?.permission.status = .provisional
      // In the list it shows whatever the app has asked for (our choice).
      apps[topic]?.permission.limit(to: options + [.alert], on: version)
      return tell(topic, .permission(.provisional), .provisionalAsksNobody)
    }
    ask(topic, options)
  }

  private mutating func ask(_ topic: Topic, _ options: [AuthorizationOption]) {
    prompt = PermissionPrompt(topic: topic, options: options)
    tell(topic, .prompted, .promptOnce)
  }

  /// The user answers the question.
  mutating func answer(_ topic: Topic, allows: Bool) {
    let options = prompt?.options ?? []
    prompt = nil
    let status: Permission.Status = allows ? .authorized : .denied
    apps[topic]?.permission.status = status
    let version = version
    if !options.isEmpty { apps[topic]?.permission.limit(to: options, on: version) }
    if options.contains(.providesAppNotificationSettings) { apps[topic]?.build.providesSettings = true }
    tell(topic, .permission(status), .promptAnswered)
    if version < IOSVersion(8) { registerWhoWaits() } else { tellSettings(topic, .promptAnswered) }
  }

  /// iOS 8 and 9 have a method for the answer.
  private mutating func tellSettings(_ topic: Topic, _ rule: PhoneRule) {
    guard version >= IOSVersion(8), !version.hasDelegate else { return }
    tell(topic, .called(.didRegisterSettings), rule)
  }

  /// The button for the app's own settings: on its page in Settings, or below a notification.
  mutating func openSettings(_ topic: Topic, from push: PhonePush?) {
    let rule: PhoneRule =
      apps[topic]?.build.providesSettings == true && version >= IOSVersion(12)
      ? .settingsButton : .settingsButtonMissing
    guard rule == .settingsButton else { return tell(topic, .noCallback, rule) }
    guard has(.openSettings, topic) else { return tell(topic, .noCallback, .settingsNobody) }
    bringForward(topic, rule)
    tell(topic, .callback(.openSettings), rule, of: push)
  }
}

extension TokenContext {
  /// By which the first token comes.
  fileprivate var rule: PhoneRule {
    switch self {
    case .start: .activityStartToken
    case .activity: .activityToken
    }
  }

  /// For people.
  fileprivate var words: String {
    switch self {
    case .start(let type): "to start \(type)"
    case .activity(let id): "for \(id)"
    }
  }
}
