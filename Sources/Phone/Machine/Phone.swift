import PushModel

/// What iOS does with a push, and with what a person does then (`Documentation/device-behaviour.md`).
///
///     var phone = Phone(.standard)
///     phone.install(PhoneApp(topic))
///     for event in phone.receive(push, at: now) { print(event.what.name, event.rule.sentence) }
///
/// It has no clock of its own: every call says what time it is, and what is due until then happens first. Events come in the
/// order in which a person would see them.
public struct Phone: Sendable {
  /// Something that was delivered and not been taken away.
  public struct Note: Sendable {
    public let push: PhonePush
    public let shown: Presentation

    public var id: UInt64 { push.id }
  }

  public let version: IOSVersion
  public var isLocked = true
  public var isInLowPowerMode = false
  /// Topics that come through a Focus that is on; nil while none is.
  public var focus: Set<Topic>?
  private var apps: [Topic: PhoneApp] = [:]
  /// Delivered ones, oldest first.
  public private(set) var notes: [Note] = []
  private var events: [PhoneEvent] = []
  private var now = Timestamp(seconds: 0)

  /// Most notes that are kept, as a count; the oldest goes (our choice: a push may come for ever).
  public static let noteLimit = 1000

  public init(_ version: IOSVersion = .standard) { self.version = version }

  /// An app by its topic; setting it is what a person or a developer does outside of any push.
  public subscript(topic: Topic) -> PhoneApp? {
    get { apps[topic] }
    set { apps[topic] = newValue }
  }

  /// Puts an app on the phone; one that is there already gives way with everything of it.
  public mutating func install(_ app: PhoneApp) {
    remove(app.topic)
    apps[app.topic] = app
  }

  /// Takes an app off the phone, with all that it showed.
  public mutating func remove(_ topic: Topic) {
    apps[topic] = nil
    notes.removeAll { $0.push.topic == topic }
  }

  public mutating func erase() { (apps, notes) = ([:], []) }

  // MARK: Pushes and time

  /// A push has come.
  public mutating func receive(_ push: PhonePush, at now: Timestamp) -> [PhoneEvent] {
    recording(at: now) { phone in
      guard phone.apps[push.topic] != nil else { return phone.tell(push, .dropped, .notInstalled) }
      if let own = push.type?.ownRule { return phone.handOver(push, own) }
      switch push.content.kind {
      case .visible: phone.receiveVisible(push)
      case .silent: phone.receiveSilent(push)
      case .nothing: phone.receiveNothing(push)
      }
    }
  }

  /// What time alone brings: held pushes that there is budget for.
  public mutating func advance(to now: Timestamp) -> [PhoneEvent] { recording(at: now) { _ in } }

  /// When time brings something next; nil if never.
  public var nextMoment: Timestamp? {
    apps.values.filter { $0.held != nil }.compactMap(\.budget.nextMoment).min()
  }

  // MARK: A person

  /// Opens an app by its icon.
  public mutating func open(_ topic: Topic, at now: Timestamp) -> [PhoneEvent] {
    recording(at: now) { phone in
      guard phone.apps[topic] != nil else { return }
      phone.bringForward(topic, .iconCallsNobody)
    }
  }

  /// Taps a notification; nothing happens if it is not there any more.
  public mutating func tap(_ id: UInt64, at now: Timestamp) -> [PhoneEvent] {
    recording(at: now) { phone in
      guard let index = phone.notes.firstIndex(where: { $0.id == id }) else { return }
      let push = phone.notes.remove(at: index).push
      phone.tapped(push)
    }
  }

  /// Takes a notification away without opening anything.
  public mutating func dismiss(_ id: UInt64, at now: Timestamp) -> [PhoneEvent] {
    recording(at: now) { phone in
      guard let index = phone.notes.firstIndex(where: { $0.id == id }) else { return }
      let push = phone.notes.remove(at: index).push
      phone.tell(push, .noCallback, .removed)
    }
  }

  /// Leaves an app, or ends it by hand.
  public mutating func leave(_ topic: Topic, as state: AppState, at now: Timestamp) -> [PhoneEvent] {
    recording(at: now) { phone in
      phone.apps[topic]?.state = state
      guard state == .forceQuit, let held = phone.apps[topic]?.held else { return }
      phone.apps[topic]?.held = nil
      phone.tell(held, .dropped, .silentDiscarded)
    }
  }

  // MARK: Telling

  private mutating func recording(at now: Timestamp, _ body: (inout Phone) -> Void) -> [PhoneEvent] {
    self.now = max(self.now, now)
    releaseHeld()
    body(&self)
    defer { events = [] }
    return events
  }

  private mutating func tell(_ push: PhonePush, _ what: PhoneEvent.What, _ rule: PhoneRule) {
    events.append(PhoneEvent(at: now, topic: push.topic, push: push.id, what: what, rule: rule))
  }

  private func has(_ callback: AppCallback, _ topic: Topic) -> Bool {
    apps[topic]?.implements(callback, on: version) ?? false
  }

  private func isInForeground(_ topic: Topic) -> Bool { apps[topic]?.state == .foreground }
}

// MARK: - Push types with an API of their own

extension Phone {
  private mutating func handOver(_ push: PhonePush, _ own: (rule: PhoneRule, since: IOSVersion)) {
    guard version >= own.since, let type = push.type else { return tell(push, .dropped, .tooOld) }
    tell(push, .handedOver(type), own.rule)
  }
}

extension PushType {
  /// What a push of this type is for, and the first iOS that has it, where that is known; nil for notifications of an app.
  fileprivate var ownRule: (rule: PhoneRule, since: IOSVersion)? {
    switch self {
    case .alert, .background: nil
    case .voip: (.voip, IOSVersion.first)
    case .complication: (.complication, IOSVersion.first)
    case .fileprovider: (.fileProvider, IOSVersion.first)
    case .location: (.location, IOSVersion.first)
    case .pushtotalk: (.pushToTalk, IOSVersion(16))
    case .liveactivity: (.liveActivity, IOSVersion(16, 1))
    case .mdm: (.management, IOSVersion.first)
    case .controls: (.controls, IOSVersion(18))
    case .widgets: (.widgets, IOSVersion(26))
    }
  }
}

// MARK: - Something to see or hear

extension Phone {
  private mutating func receiveVisible(_ push: PhonePush) {
    guard isInForeground(push.topic) else { return receiveInBackground(push) }
    guard has(.willPresent, push.topic) else { return receiveHidden(push) }
    tell(push, .callback(.willPresent), .foregroundAsks)
    if let options = apps[push.topic]?.build.options {
      present(push, as: options)
    } else {
      tell(push, .notPresented, .foregroundLate)
    }
    if push.content.isContentAvailable, has(.fetch, push.topic) {
      tell(push, .callback(.fetch), .foregroundBoth)
    }
  }

  /// The app is in the foreground and can't be asked.
  private mutating func receiveHidden(_ push: PhonePush) {
    tell(push, .notPresented, .foregroundHidden)
    if has(.fetch, push.topic) {
      tell(push, .callback(.fetch), .foregroundFetch)
    } else if has(.receive, push.topic) {
      tell(push, .callback(.receive), .foregroundReceive)
    } else {
      tell(push, .noCallback, .foregroundNobody)
    }
  }

  private mutating func receiveInBackground(_ push: PhonePush) {
    extend(push)
    presentBySystem(push)
    guard push.content.isContentAvailable, has(.fetch, push.topic) else {
      return tell(push, .noCallback, .systemCallsNobody)
    }
    wake(for: push, .alertWakes, forceQuit: .alertForceQuit)
  }

  private mutating func extend(_ push: PhonePush) {
    guard let app = apps[push.topic], app.build.hasServiceExtension, version.hasDelegate,
      push.content.isMutable
    else { return }
    if !push.content.hasText {
      tell(push, .extensionSkipped, .extensionNoText)
    } else if !app.permission.isGiven || !app.permission.alert {
      tell(push, .extensionSkipped, .extensionDenied)
    } else {
      tell(push, .extensionRan, .extensionRuns)
    }
  }

  /// As the app in the foreground wants it, as far as it may.
  private mutating func present(_ push: PhonePush, as options: PresentationOptions) {
    guard let app = apps[push.topic], isAllowed(push, app) else { return }
    var places: Presentation = []
    if push.content.hasText, app.permission.alert {
      // Before iOS 14 there was one word for both.
      let isBoth = version < IOSVersion(14) && !options.isDisjoint(with: .alert)
      if isBoth || options.contains(.banner), app.permission.banner { places.insert(.banner) }
      if isBoth || options.contains(.list), app.permission.list { places.insert(.list) }
    }
    show(push, in: places, by: .foregroundAsks)
    if options.contains(.sound) { sound(push, app) }
    if options.contains(.badge) { setBadge(push, app) }
  }

  private mutating func presentBySystem(_ push: PhonePush) {
    guard let app = apps[push.topic], isAllowed(push, app) else { return }
    let quiet = quietly(push, app)
    var places: Presentation = []
    if push.content.hasText, app.permission.alert {
      if app.permission.list { places.insert(.list) }
      if quiet == nil {
        if isLocked, app.permission.lockScreen { places.insert(.lockScreen) }
        if !isLocked, app.permission.banner { places.insert(.banner) }
      }
    }
    show(push, in: places, by: quiet ?? (comesThroughFocus(push, app) ? .throughFocus : .systemShows))
    if quiet == nil || isCritical(push, app) { sound(push, app) }
    setBadge(push, app)
  }

  private mutating func isAllowed(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    if app.permission.isGiven { return true }
    tell(push, .notPresented, app.permission.status == .denied ? .denied : .notAsked)
    return false
  }

  /// Why it goes to the list only, and silently.
  private func quietly(_ push: PhonePush, _ app: PhoneApp) -> PhoneRule? {
    if app.permission.isQuiet { return .provisional }
    if level(of: push) == .passive { return .passive }
    if let focus, !focus.contains(push.topic), !isUrgent(push, app) { return .focus }
    return nil
  }

  private func comesThroughFocus(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    focus.map { !$0.contains(push.topic) && isUrgent(push, app) } ?? false
  }

  private func level(of push: PhonePush) -> PushContent.InterruptionLevel {
    version >= IOSVersion(15) ? push.content.interruptionLevel : .active
  }

  private func isUrgent(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    isCritical(push, app)
      || level(of: push) == .timeSensitive && app.build.mayBeTimeSensitive && app.permission.timeSensitive
  }

  private func isCritical(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    guard app.build.mayBeCritical, version >= IOSVersion(12) else { return false }
    if case .critical? = push.content.sound { return true }
    return level(of: push) == .critical
  }

  /// In no place at all it is told too, where there would have been something to show.
  private mutating func show(_ push: PhonePush, in places: Presentation, by rule: PhoneRule) {
    guard push.content.hasText else { return }
    guard !places.isEmpty else { return tell(push, .notPresented, rule) }
    let old = push.collapseId.flatMap { id in
      notes.firstIndex { $0.push.collapseId == id && $0.push.topic == push.topic }
    }
    let replaced = old.map { notes.remove(at: $0).id }
    notes.append(Note(push: push, shown: places))
    if notes.count > Self.noteLimit { notes.removeFirst() }
    tell(push, .presented(places, replaces: replaced), replaced == nil ? rule : .collapse)
  }

  private mutating func sound(_ push: PhonePush, _ app: PhoneApp) {
    guard var sound = push.content.sound ?? (isCritical(push, app) ? .critical(nil, volume: 1) : nil) else {
      return
    }
    guard !isCritical(push, app) else { return tell(push, .sound(sound), .criticalSound) }
    guard app.permission.sound else { return tell(push, .noSound, .soundOff) }
    if case .critical(let name, _) = sound { sound = name.map { .file($0) } ?? .standard }
    tell(push, .sound(sound), .sound)
  }

  private mutating func setBadge(_ push: PhonePush, _ app: PhoneApp) {
    guard let number = push.content.badge else { return }
    guard app.permission.badge else { return tell(push, .noBadge, .badgeOff) }
    apps[push.topic]?.badge = max(0, number)
    tell(push, .badge(max(0, number)), .badge)
  }
}

// MARK: - Nothing to see or hear

extension Phone {
  private mutating func receiveSilent(_ push: PhonePush) {
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
      tell(push, .callback(.fetch), .silentFetch)
    } else if has(.receive, push.topic) {
      tell(push, .callback(.receive), .silentReceive)
    } else {
      tell(push, .noCallback, .silentNobody)
    }
  }

  private mutating func receiveNothing(_ push: PhonePush) {
    let callback: AppCallback? = has(.fetch, push.topic) ? .fetch : has(.receive, push.topic) ? .receive : nil
    guard isInForeground(push.topic), let callback else { return tell(push, .dropped, .nothingInIt) }
    tell(push, .callback(callback), .nothingInIt)
  }

  /// Wakes or launches the app for `fetch`, if it may be woken. What is not silent is not held for another time.
  private mutating func wake(for push: PhonePush, _ rule: PhoneRule, forceQuit: PhoneRule) {
    guard var app = apps[push.topic], has(.fetch, push.topic) else {
      return tell(push, .noCallback, .silentNobody)
    }
    let isSilent = push.content.kind == .silent
    let lost: PhoneEvent.What = isSilent ? .dropped : .noCallback
    guard app.build.hasBackgroundMode else { return tell(push, lost, .silentMode) }
    guard app.state != .forceQuit else { return tell(push, lost, forceQuit) }
    let before = app.budget.left
    guard app.budget.take(at: now, isHalved: isInLowPowerMode) else {
      return isSilent ? hold(push) : tell(push, .noCallback, .silentBudget)
    }
    apps[push.topic] = app
    start(push, app)
    tell(push, .silentDelivered(budgetBefore: before, budgetAfter: app.budget.left), .silentBudget)
    tell(push, .callback(.fetch), rule)
  }

  private mutating func start(_ push: PhonePush, _ app: PhoneApp) {
    switch app.state {
    case .foreground, .background: return
    case .suspended: tell(push, .woken, .silentFetch)
    case .terminated, .forceQuit:
      tell(push, .launched, .silentFetch)
      // It is suspended again once its handler has ended.
      apps[push.topic]?.state = .suspended
    }
  }

  private mutating func hold(_ push: PhonePush) {
    if let older = apps[push.topic]?.held { tell(older, .merged, .silentMerged) }
    apps[push.topic]?.held = push
    tell(push, .held, .silentHeld)
  }

  private mutating func releaseHeld() {
    for topic in apps.keys.sorted(by: { $0.name < $1.name }) {
      apps[topic]?.budget.refill(until: now, isHalved: isInLowPowerMode)
      guard let app = apps[topic], let held = app.held, app.budget.left > 0 else { continue }
      apps[topic]?.held = nil
      wake(for: held, .silentReleased, forceQuit: .silentForceQuit)
    }
  }
}

// MARK: - A tap

extension Phone {
  private mutating func tapped(_ push: PhonePush) {
    let isLaunch = apps[push.topic]?.state.isRunning == false
    bringForward(push.topic, .tapOpens, for: push)
    guard let app = apps[push.topic] else { return }
    if has(.response, push.topic) {
      guard !isLaunch || app.build.setsDelegateInTime else {
        return tell(push, .noCallback, .delegateTooLate)
      }
      tell(push, .callback(.response), .tapResponse)
    } else if has(.fetch, push.topic) {
      tell(push, .callback(.fetch), push.content.isContentAvailable ? .tapFetchAgain : .tapFetch)
    } else if has(.receive, push.topic) {
      tell(
        push, isLaunch ? .noCallback : .callback(.receive), isLaunch ? .tapLaunchWithoutReceive : .tapReceive)
    } else {
      tell(push, .noCallback, .tapNobody)
    }
  }

  /// What waits for the app to be opened is delivered then.
  private mutating func bringForward(_ topic: Topic, _ rule: PhoneRule, for push: PhonePush? = nil) {
    guard let app = apps[topic] else { return }
    isLocked = false
    let what: PhoneEvent.What = app.state.isRunning ? .opened : .launched
    events.append(PhoneEvent(at: now, topic: topic, push: push?.id, what: what, rule: rule))
    apps[topic]?.state = .foreground
    guard let held = app.held else { return }
    apps[topic]?.held = nil
    if has(.fetch, topic) { tell(held, .callback(.fetch), .silentReleased) }
  }
}
