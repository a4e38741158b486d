import Basics

/// Something to see or hear: the service extension first, then the app in the foreground or the system.
extension SimulatedPhone {
  mutating func receiveVisible(_ push: PhonePush) {
    if !extensionTakes(push) { show(push) }
  }

  private mutating func show(_ push: PhonePush) {
    if isInForeground(push.topic) { askApp(push) } else { showInBackground(push) }
  }

  // MARK: The service extension

  /// Whether the service extension has it first; it comes back by `endExtension`.
  private mutating func extensionTakes(_ push: PhonePush) -> Bool {
    guard let app = apps[push.topic], let script = app.build.serviceExtension, version.hasDelegate,
      push.content.isMutable, !push.isLocal
    else { return false }
    guard push.content.hasText else {
      tell(push, .extensionSkipped, .extensionNoText)
      return false
    }
    guard app.permission.isGiven, app.permission.alert else {
      tell(push, .extensionSkipped, .extensionDenied)
      return false
    }
    tell(push, .extensionRan, .extensionRuns)
    // Whoever pushes faster than extensions end has them end at once.
    let seconds = agenda.isFull ? 0 : min(script.duration(push), ServiceExtension.timeout)
    guard seconds > 0 else {
      endExtension(push)
      return true
    }
    agenda.add(.extensionEnds(push), at: now.adding(nanoseconds: Int64(seconds * 1e9)))
    return true
  }

  mutating func endExtension(_ push: PhonePush) {
    guard let app = apps[push.topic], let script = app.build.serviceExtension else { return show(push) }
    let mayFilter = app.build.mayFilter && version >= IOSVersion(13, 3)
    let (content, rule) = script.run(on: push, mayFilter: mayFilter)
    tellDownload(push, script)
    if let attachment = script.attachment(push), !attachment.isValid {
      tell(push, .extensionEnded, .attachmentDropped, attachment.name)
    }
    if rule != .extensionChanged || script.changes != nil || script.attachment(push) != nil {
      tell(push, .extensionEnded, rule)
    }
    guard let content else { return tell(push, .notPresented, rule) }
    var push = push
    push.content = content
    show(push)
  }

  /// What has become of what the extension fetches, unless it had no time to say.
  private mutating func tellDownload(_ push: PhonePush, _ script: ServiceExtension) {
    guard let download = script.download, !script.crashes, script.duration(push) <= ServiceExtension.timeout
    else { return }
    let isThere = push.addresses[download.from] != nil
    let rule: PhoneRule =
      !isThere ? .downloadMissing : download.fails ? .downloadFailed : .downloaded
    tell(push, .extensionEnded, rule, push.addresses[download.from] ?? download.from)
  }

  // MARK: In the foreground

  private mutating func askApp(_ push: PhonePush) {
    guard has(.willPresent, push.topic) else { return receiveHidden(push) }
    tell(push, .callback(.willPresent), .foregroundAsks)
    if let options = apps[push.topic]?.build.options {
      present(push, as: options)
    } else {
      tell(push, .notPresented, .foregroundLate)
    }
    if push.content.isContentAvailable, !push.isLocal, has(.fetch, push.topic) {
      callFetch(push, .foregroundBoth)
    }
  }

  /// The app is in the foreground and can't be asked.
  private mutating func receiveHidden(_ push: PhonePush) {
    tell(push, .notPresented, .foregroundHidden)
    if push.isLocal {
      guard has(.receiveLocal, push.topic) else { return tell(push, .noCallback, .foregroundNobody) }
      tell(push, .callback(.receiveLocal), .localReceive)
    } else if has(.fetch, push.topic) {
      callFetch(push, .foregroundFetch)
    } else if has(.receive, push.topic) {
      tell(push, .callback(.receive), .foregroundReceive)
    } else {
      tell(push, .noCallback, .foregroundNobody)
    }
  }

  /// As the app in the foreground wants it, as far as it may.
  private mutating func present(_ push: PhonePush, as options: PresentationOptions) {
    guard let app = apps[push.topic], isAllowed(push, app) else { return }
    // Before iOS 14 there was one word for both.
    let isBoth = version < IOSVersion(14) && !options.isDisjoint(with: .alert)
    let quiet: PhoneRule? = app.permission.isQuiet ? .provisional : nil
    var wanted: Presentation = []
    if isBoth || options.contains(.banner), quiet == nil { wanted.insert(.banner) }
    if isBoth || options.contains(.list) { wanted.insert(.list) }
    put(push, wanted, app, by: quiet ?? .foregroundAsks)
    sound(push, app, silencedBy: quiet ?? (options.contains(.sound) ? nil : .foregroundAsks))
    setBadge(push, app, silencedBy: quiet ?? (options.contains(.badge) ? nil : .foregroundAsks))
  }

  // MARK: Elsewhere

  private mutating func showInBackground(_ push: PhonePush) {
    presentBySystem(push)
    guard push.content.isContentAvailable, !push.isLocal, has(.fetch, push.topic) else {
      return tell(push, .noCallback, .systemCallsNobody)
    }
    wake(for: push, .alertWakes, forceQuit: .alertForceQuit)
  }

  private mutating func presentBySystem(_ push: PhonePush) {
    guard let app = apps[push.topic], isAllowed(push, app) else { return }
    if waitsForSummary(push, app) { return wait(for: push, app) }
    let quiet = quietly(push, app)
    let aloud: Presentation = settings.isLocked ? [.lockScreen, .list] : [.banner, .list]
    let shown: PhoneRule = push.isLocal ? .localDelivered : .systemShows
    put(
      push, quiet == nil ? aloud : .list, app,
      by: quiet ?? whyThrough(push, app) ?? shown)
    sound(push, app, silencedBy: isCritical(push, app) ? nil : quiet)
    setBadge(push, app, silencedBy: app.permission.isQuiet ? quiet : nil)
  }

  // MARK: Whether, and how loudly

  private mutating func isAllowed(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    if app.permission.isGiven { return true }
    tell(push, .notPresented, app.permission.status == .denied ? .denied : .notAsked)
    return false
  }

  /// Why it goes to the list only, and silently.
  private func quietly(_ push: PhonePush, _ app: PhoneApp) -> PhoneRule? {
    if app.permission.isQuiet { return .provisional }
    if level(of: push, app) == .passive { return .passive }
    guard let focus = settings.focus, !isUrgent(push, app) else { return nil }
    if version >= IOSVersion(16), let criteria = push.content.filterCriteria,
      let filter = focus.filters[push.topic]
    {
      return filter.contains(criteria) ? nil : .focusFilter
    }
    return focus.allows.contains(push.topic) ? nil : .focus
  }

  /// Of something urgent that others of the app would not be let through for.
  private func whyThrough(_ push: PhonePush, _ app: PhoneApp) -> PhoneRule? {
    guard isUrgent(push, app) else { return nil }
    if let focus = settings.focus, !focus.allows.contains(push.topic) { return .throughFocus }
    return isInSummary(push.topic) ? .throughSummary : nil
  }

  /// As far as this iOS knows it and the app may.
  func level(of push: PhonePush, _ app: PhoneApp) -> PushContent.InterruptionLevel {
    guard version >= IOSVersion(15) else { return .active }
    switch push.content.interruptionLevel {
    case .timeSensitive where !app.build.mayBeTimeSensitive || !app.permission.timeSensitive: return .active
    case .critical where !app.mayBeCritical: return .active
    case let level: return level
    }
  }

  func isUrgent(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    isCritical(push, app) || level(of: push, app) == .timeSensitive
  }

  private func isCritical(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    guard app.mayBeCritical, version >= IOSVersion(12) else { return false }
    if case .critical? = push.content.sound { return true }
    return level(of: push, app) == .critical
  }

  // MARK: Showing it

  /// In the places that the user allows; in no place at all it is told too, where there would have been something to show.
  private mutating func put(_ push: PhonePush, _ wanted: Presentation, _ app: PhoneApp, by rule: PhoneRule) {
    guard push.content.hasText else { return }
    let places = withCar(wanted, push, app).intersection(app.permission.places)
    guard !places.isEmpty else { return tell(push, .notPresented, wanted.isEmpty ? rule : .alertOff) }
    let thread = version >= IOSVersion(12) ? push.content.threadId : nil
    let note = PhoneNote(push: push, shown: places, at: now, thread: thread)
    forgetWaiting(for: note)
    let (replaced, group) = board.show(note)
    tellShown(push, places, replaces: replaced, group: group, rule)
    tellCar(push, app, wanted)
    announce(push, app, wanted)
  }

  mutating func tellShown(
    _ push: PhonePush, _ places: Presentation, replaces old: UInt64?, group: Int = 0, _ rule: PhoneRule
  ) {
    tell(
      push, .presented(places, replaces: old),
      old == nil ? rule : push.isLocal ? .localReplaced : .collapse)
    if hidesPreview(of: push) { tell(push, .noPreview, .previewsHidden) }
    if group > 0 { tell(push, .grouped(group + 1), .grouped) }
    contentHears(of: push)
  }

  mutating func sound(_ push: PhonePush, _ app: PhoneApp, silencedBy rule: PhoneRule?) {
    let isCritical = isCritical(push, app)
    guard var sound = push.content.sound ?? (isCritical ? .critical(nil, volume: 1) : nil) else { return }
    if let rule { return tell(push, .noSound, rule) }
    guard isCritical || app.permission.sound else { return tell(push, .noSound, .soundOff) }
    guard isCritical || !settings.isMuted else { return tell(push, .noSound, .muted) }
    if !isCritical { sound = sound.ordinary }
    guard let name = sound.fileName, let files = app.build.sounds, files[name] ?? .infinity > 30 else {
      return tell(push, .sound(sound), isCritical ? .criticalSound : .sound)
    }
    tell(push, .sound(sound.withoutFile), .soundMissing, "instead of \(name)")
  }

  mutating func setBadge(_ push: PhonePush, _ app: PhoneApp, silencedBy rule: PhoneRule? = nil) {
    guard let number = push.content.badge else { return }
    if let rule { return tell(push, .noBadge, rule) }
    guard app.permission.badge else { return tell(push, .noBadge, .badgeOff) }
    apps[push.topic]?.badge = max(0, number)
    tell(push, .badge(max(0, number)), .badge)
  }
}
