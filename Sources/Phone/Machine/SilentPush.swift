import PushModel

/// Nothing to see or hear: who is woken for it, and when.
extension PhoneState {
  /// Most time that a handler has, in seconds, and how long an app may lie unused before its budget is halved.
  private static let patience = 30.0
  private static let unused: Int64 = 14 * 86400 * 1_000_000_000

  mutating func receiveSilent(_ push: PhonePush) {
    guard !isInForeground(push.topic) else { return receiveUnseen(push) }
    guard has(.fetch, push.topic) else { return tell(push, .dropped, .silentNobody) }
    guard version < IOSVersion(13) || push.type == .background && push.priority != .immediate else {
      return tell(push, .dropped, .silentType)
    }
    wake(for: push, .silentFetch, forceQuit: .silentForceQuit)
  }

  /// The app is in the foreground.
  private mutating func receiveUnseen(_ push: PhonePush) {
    if has(.fetch, push.topic) {
      callFetch(push, .silentFetch)
    } else if has(.receive, push.topic) {
      tell(push, .callback(.receive), .silentReceive)
    } else {
      tell(push, .noCallback, .silentNobody)
    }
  }

  mutating func receiveNothing(_ push: PhonePush) {
    let callback: AppCallback? = has(.fetch, push.topic) ? .fetch : has(.receive, push.topic) ? .receive : nil
    guard isInForeground(push.topic), let callback else { return tell(push, .dropped, .nothingInIt) }
    tell(push, .callback(callback), .nothingInIt)
  }

  /// Wakes or launches the app for `fetch`, if it may be woken. What is not silent is not held for another time.
  mutating func wake(for push: PhonePush, _ rule: PhoneRule, forceQuit: PhoneRule) {
    guard var app = apps[push.topic], has(.fetch, push.topic) else {
      return tell(push, .noCallback, .silentNobody)
    }
    let isSilent = push.content.kind == .silent
    let lost: PhoneEvent.What = isSilent ? .dropped : .noCallback
    guard app.build.hasBackgroundMode else { return tell(push, lost, .silentMode) }
    guard app.state != .forceQuit else { return tell(push, lost, forceQuit) }
    guard app.state != .neverLaunched else { return tell(push, lost, .neverLaunched) }
    let before = app.budget.left
    guard app.budget.take(at: now, isHalved: isHalved(app)) else {
      return isSilent ? hold(push) : tell(push, .noCallback, .silentBudget)
    }
    apps[push.topic] = app
    start(push, app)
    tell(push, .silentDelivered(budgetBefore: before, budgetAfter: app.budget.left), .silentBudget)
    callFetch(push, rule)
  }

  mutating func callFetch(_ push: PhonePush, _ rule: PhoneRule) {
    tell(push, .callback(.fetch), rule)
    guard let seconds = apps[push.topic]?.build.fetchSeconds, seconds > Self.patience, !agenda.isFull else {
      return
    }
    agenda.add(.fetchOvertime(push), at: now.adding(nanoseconds: Int64(Self.patience * 1e9)))
  }

  mutating func endFetch(_ push: PhonePush) {
    guard var app = apps[push.topic], app.state.isRunning else { return }
    app.state = .terminated
    agenda.forgetHandlers(of: push.topic)
    app.budget.shrink(at: now, isHalved: isHalved(app))
    apps[push.topic] = app
    tell(push, .terminated, .fetchOvertime)
  }

  private func isHalved(_ app: PhoneApp) -> Bool {
    settings.isInLowPowerMode
      || app.lastUsed.map { now.nanoseconds - $0.nanoseconds > Self.unused } ?? false
  }

  /// Makes a process of the app run in the background.
  mutating func start(_ push: PhonePush, _ app: PhoneApp, _ rule: PhoneRule = .silentFetch) {
    guard app.state != .foreground, app.state != .background else { return }
    tell(push, app.state.isRunning ? .woken : .launched, rule)
    // It is suspended again once its handler has ended.
    apps[push.topic]?.state = .suspended
  }

  private mutating func hold(_ push: PhonePush) {
    if let older = apps[push.topic]?.held { tell(older, .merged, .silentMerged) }
    apps[push.topic]?.held = push
    tell(push, .held, .silentHeld)
  }

  mutating func releaseHeld() {
    for var app in sortedApps {
      app.lastUsed = app.lastUsed ?? now
      app.budget.refill(until: now, isHalved: isHalved(app))
      app.refillBudgets(until: now)
      let held = app.budget.left > 0 ? app.held : nil
      if held != nil { app.held = nil }
      apps[app.topic] = app
      guard let held else { continue }
      wake(for: held, .silentReleased, forceQuit: .silentForceQuit)
    }
  }
}
