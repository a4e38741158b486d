import Basics
import PushModel

/// Nothing to see or hear: who is woken for it, and when.
extension SimulatedPhone {
  /// Most time that a handler has, in seconds, and how long an app may lie unused before its budget is halved.
  private static let timeout = 30.0
  private static let unused: Int64 = 14 * 86400 * 1_000_000_000

  mutating func receiveSilent(_ push: PhonePush) {
    guard !isInForeground(push.topic) else { return receiveUnseen(push) }
    guard has(.fetch, push.topic) else { return tell(push, .dropped, .silentNobody) }
    let (isTaken, rule) = standing(of: push)
    guard isTaken else { return tell(push, .dropped, rule) }
    wake(for: push, rule, forceQuit: .silentForceQuit)
  }

  /// Whether it is taken for a silent one, and by which rule. A push of the binary protocol has no type, and need not have a
  /// priority: its payload says what it is.
  private func standing(of push: PhonePush) -> (isTaken: Bool, PhoneRule) {
    guard version >= IOSVersion(13) else { return (true, .silentFetch) }
    let isUntyped = push.type == nil && !settings.isPushTypeStrict
    guard isUntyped || push.type == .background else { return (false, .silentType) }
    if isUntyped, push.priority == nil { return (true, .silentUntyped) }
    guard !push.isUrgent else { return (false, .silentPriority) }
    return (true, isUntyped ? .silentUntyped : .silentFetch)
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
    guard let app = apps[push.topic], has(.fetch, push.topic) else {
      return tell(push, .noCallback, .silentNobody)
    }
    let isSilent = push.content.kind == .silent
    let lost: PhoneEvent.What = isSilent ? .dropped : .noCallback
    guard app.build.hasBackgroundMode else { return tell(push, lost, .silentMode) }
    guard app.state != .forceQuit else { return tell(push, lost, forceQuit) }
    guard app.state != .neverLaunched else { return tell(push, lost, .neverLaunched) }
    guard settings.hasBackgroundRefresh, app.mayRefresh else { return tell(push, lost, .refreshOff) }
    let before = app.budget.left
    if let rule = wakeObstacle(app) {
      return isSilent ? hold(push, rule) : tell(push, .noCallback, rule == .silentHeld ? .silentBudget : rule)
    }
    spendWake(push.topic)
    launch(push, app)
    tell(
      push, .silentDelivered(budgetBefore: before, budgetAfter: apps[push.topic]?.budget.left ?? before),
      app.build.isFromXcode ? .silentUnlimited : .silentBudget)
    callFetch(push, rule)
  }

  // MARK: The budget

  /// How often silent pushes may wake an app in a day: two an hour (our choice; Apple gives no number).
  static let wakesADay = 48

  /// What is in the way of waking an app now, and passes.
  private func wakeObstacle(_ app: PhoneApp) -> PhoneRule? {
    if settings.isInLowPowerMode, version >= IOSVersion(9) { return .refreshLowPower }
    if app.build.isFromXcode { return nil }
    if app.silentPushes.count(at: now) >= Self.wakesADay { return .silentDay }
    return app.budget.left == 0 ? .silentHeld : nil
  }

  private mutating func spendWake(_ topic: Topic) {
    guard var app = apps[topic], !app.build.isFromXcode else { return }
    _ = app.budget.take(at: now, isHalved: isHalved(app))
    app.silentPushes.add(at: now)
    apps[topic] = app
  }

  /// When time alone lets an app be woken for what is held; nil if it doesn't.
  func releaseMoment(_ app: PhoneApp) -> Timestamp? {
    switch wakeObstacle(app) {
    case .silentDay: DayCount.nextDay(after: now)
    case .silentHeld: app.budget.nextMoment
    default: nil
    }
  }

  mutating func callFetch(_ push: PhonePush, _ rule: PhoneRule) {
    tell(push, .callback(.fetch), rule)
    guard let seconds = apps[push.topic]?.build.fetchSeconds, seconds > Self.timeout, !agenda.isFull else {
      return
    }
    agenda.add(.fetchOvertime(push), at: now.adding(nanoseconds: Int64(Self.timeout * 1e9)))
  }

  mutating func endFetch(_ push: PhonePush) {
    guard var app = apps[push.topic], app.state.isRunning else { return }
    // One less, if there is one.
    if !app.build.isFromXcode { _ = app.budget.take(at: now, isHalved: isHalved(app)) }
    apps[push.topic] = app
    tell(push, .terminated, .fetchOvertime)
    end(push.topic, as: .terminated)
  }

  private func isHalved(_ app: PhoneApp) -> Bool {
    app.lastUsed.map { now.nanoseconds - $0.nanoseconds > Self.unused } ?? false
  }

  /// Makes a process of the app run in the background.
  mutating func launch(_ push: PhonePush, _ app: PhoneApp, _ rule: PhoneRule = .silentFetch) {
    guard app.state != .foreground, app.state != .background else { return }
    tell(push, app.state.isRunning ? .woken : .launched, rule)
    // It is suspended again once its handler has ended.
    apps[push.topic]?.state = .suspended
  }

  private mutating func hold(_ push: PhonePush, _ rule: PhoneRule) {
    if let older = apps[push.topic]?.held { tell(older, .merged, .silentMerged) }
    apps[push.topic]?.held = push
    tell(push, .held, rule)
  }

  /// The app's process ends, or it was none: it owes nothing any more, and what is held for it goes.
  mutating func end(_ topic: Topic, as state: AppState) {
    apps[topic]?.state = state
    agenda.forgetHandlers(of: topic)
    guard let held = apps[topic]?.held else { return }
    apps[topic]?.held = nil
    tell(held, .dropped, .silentDiscarded)
  }

  mutating func releaseHeld() {
    for var app in sortedApps {
      app.lastUsed = app.lastUsed ?? now
      app.budget.refill(until: now, isHalved: isHalved(app))
      app.refillBudgets(until: now)
      let mayWake = settings.hasBackgroundRefresh && app.mayRefresh && wakeObstacle(app) == nil
      let held = mayWake ? app.held : nil
      if held != nil { app.held = nil }
      apps[app.topic] = app
      guard let held else { continue }
      wake(for: held, .silentReleased, forceQuit: .silentForceQuit)
    }
  }
}
