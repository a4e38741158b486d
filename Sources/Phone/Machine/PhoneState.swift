import PushModel

/// All that a phone is. What happens on it is told in chapters, one a file; each calls `tell` for whatever a person or a
/// developer would want to know.
struct PhoneState: Sendable {
  var settings: PhoneSettings
  var apps: [Topic: PhoneApp] = [:]
  var board = NoteBoard()
  /// For the summary, oldest first.
  var waiting: [PhoneNote] = []
  var agenda = Agenda()
  var local = LocalRequests()
  var activities = LiveActivities()
  /// Of a VoIP push: who calls.
  var call: IncomingCall?
  /// The app whose question about notifications the user has before him.
  var prompt: PermissionPrompt?
  var tokens = PhoneTokens()
  /// Those that the phone has a connection to; empty where nobody says.
  var environments: Set<Environment> = []
  /// Tokens of Live Activities that are to be other ones, until the service is asked.
  var renewals: Set<TokenNeed> = []
  /// Whether it was switched on and not unlocked since.
  var isFreshlyStarted = false
  private(set) var now = Timestamp(seconds: 0)
  private var lastId: UInt64 = 0
  private var events: [PhoneEvent] = []

  init(_ settings: PhoneSettings) { self.settings = settings }

  var version: IOSVersion { settings.version }

  /// A number that names nothing on the phone yet.
  mutating func makeId() -> UInt64 {
    // After the last number there is, it begins again.
    repeat { lastId &+= 1 } while lastId == 0 || board[lastId] != nil || waiting.contains { $0.id == lastId }
    return lastId
  }

  mutating func remember(_ id: UInt64) { lastId = max(lastId, id) }

  // MARK: Time and telling

  /// Runs `body` at `moment`, after all that is due until then, and answers what was told. If it throws, what was due is told
  /// the next time.
  mutating func recording<Failure>(
    at moment: Timestamp, _ body: (inout PhoneState) throws(Failure) -> Void
  ) throws(Failure) -> [PhoneEvent] {
    catchUp(until: max(now, moment))
    defer { endUnwantedTokens() }
    try body(&self)
    defer { events = [] }
    return events
  }

  /// As `recording`, but on a phone that has not been told yet what time it is none passes.
  mutating func telling(at moment: Timestamp, _ body: (inout PhoneState) -> Void) -> [PhoneEvent] {
    guard now == Timestamp(seconds: 0) else { return recording(at: moment, body) }
    defer { now = Timestamp(seconds: 0) }
    return recording(at: moment, body)
  }

  /// Lets everything happen that is due, each at its own time.
  private mutating func catchUp(until moment: Timestamp) {
    if now == Timestamp(seconds: 0) { now = moment }
    local.skip(until: moment)
    while let next = nextDue(until: moment) {
      now = max(now, next)
      releaseHeld()
      doWhatIsDue()
    }
    now = moment
    releaseHeld()
  }

  private func nextDue(until moment: Timestamp) -> Timestamp? {
    [agenda.nextMoment, local.nextMoment, nextBudget].compactMap { $0 }.min().flatMap {
      $0 <= moment ? $0 : nil
    }
  }

  private mutating func doWhatIsDue() {
    while let due = agenda.take(until: now) { performDue(due.entry) }
    while let due = local.take(until: now) { deliver(due.request) }
  }

  private mutating func performDue(_ entry: Agenda.Entry) {
    switch entry {
    case .extensionEnds(let push): endExtension(push)
    case .fetchOvertime(let push): endFetch(push)
    case .contentAnswers(let push, let action, let text): endContentAnswer(push, action, text)
    case .activityStale(let id): markStale(id)
    case .activityDismissed(let id): removeActivity(id)
    case .activityExpired(let id): expireActivity(id)
    case .summary: showSummary()
    }
  }

  /// When there is budget for a held push.
  private var nextBudget: Timestamp? {
    apps.values.filter { $0.held != nil && $0.mayRefresh && settings.hasBackgroundRefresh }
      .compactMap(releaseMoment).min()
  }

  /// When time brings something to see or hear next; nil if never.
  var nextMoment: Timestamp? {
    [agenda.nextMoment, local.nextMoment, nextBudget, board.nextMoment(after: now)].compactMap { $0 }.min()
  }

  mutating func tell(_ push: PhonePush, _ what: PhoneEvent.What, _ rule: PhoneRule, _ argument: String = "") {
    events.append(
      PhoneEvent(
        at: now, topic: push.topic, push: push.id, notificationId: push.notificationId, what: what,
        rule: rule,
        argument: argument))
  }

  mutating func tell(
    _ topic: Topic, _ what: PhoneEvent.What, _ rule: PhoneRule, _ argument: String = "",
    for context: TokenContext? = nil
  ) {
    events.append(
      PhoneEvent(
        at: now, topic: topic, push: nil, notificationId: nil, what: what, rule: rule, argument: argument,
        context: context))
  }

  // MARK: Apps

  /// In an order that is the same in each run.
  var sortedApps: [PhoneApp] { apps.values.sorted { $0.topic.name < $1.topic.name } }

  func has(_ callback: AppCallback, _ topic: Topic) -> Bool {
    apps[topic]?.implements(callback, on: version) ?? false
  }

  func isInForeground(_ topic: Topic) -> Bool { apps[topic]?.state == .foreground }

  mutating func install(_ app: PhoneApp) {
    remove(app.topic)
    if app.state == .foreground { sendOthersBack(app.topic) }
    apps[app.topic] = app
  }

  /// One app at most is in the foreground.
  mutating func sendOthersBack(_ topic: Topic?) {
    for other in apps.keys where other != topic && apps[other]?.state == .foreground {
      apps[other]?.state = .background
    }
  }

  mutating func remove(_ topic: Topic) {
    apps[topic] = nil
    board.removeAll(of: topic)
    waiting.removeAll { $0.push.topic == topic }
    local.remove(topic)
    tokens.end(topic)
    activities.removeAll(of: topic)
    agenda.forget(topic, activitiesBut: activities.ids)
    if call?.topic == topic { call = nil }
    if prompt?.topic == topic { prompt = nil }
  }

  mutating func restore() {
    let (old, settings) = (apps, settings)
    erase()
    self.settings = settings
    for (topic, app) in old {
      var copy = PhoneApp(topic, state: .neverLaunched)
      (copy.build, copy.permission, copy.mayRefresh) = (app.build, app.permission, app.mayRefresh)
      apps[topic] = copy
    }
  }

  mutating func erase() {
    for topic in apps.keys { remove(topic) }
    (board, waiting, agenda, local) = (NoteBoard(), [], Agenda(), LocalRequests())
    activities.removeAll()
    tokens.endAll()
    (call, prompt, isFreshlyStarted) = (nil, nil, false)
  }

  /// Gives it the texts of its app, and leaves out what this iOS does not know.
  func localized(_ push: PhonePush) -> PhonePush {
    var push = push
    if let app = apps[push.topic] { push.content.localize { app.text($0, in: settings.language) } }
    if version < IOSVersion(10) { push.content.subtitle = nil }
    if version < IOSVersion(8, 2) { push.content.forgetTitleKey() }
    return push
  }
}
