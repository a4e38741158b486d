import Basics
import PushModel

/// What iOS does with a push, and with what a person does then (`Documentation/device-behaviour.md`).
///
///     var phone = SimulatedPhone(.standard)
///     phone.install(PhoneApp(topic))
///     for event in phone.receive(push, at: now) { print(event.what.name, event.rule.sentence) }
///
/// It has no clock of its own: every call says what time it is, and what is due until then happens first. Events come in the
/// order in which a person would see them.
///
/// What happens on it is told in chapters, one a file; each calls `tell` for whatever a person or a developer would want to know.
package struct SimulatedPhone: Sendable {
  package var settings: PhoneSettings
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
  /// Apple's environments that the phone has a connection to; while none is named it has those that its apps ask for.
  package var environments: Set<Environment> = []
  /// Tokens of Live Activities that are to be other ones, until the service is asked.
  var renewals: Set<TokenNeed> = []
  /// Whether it was switched on and not unlocked since.
  var isFreshlyStarted = false
  private(set) var now = Timestamp(seconds: 0)
  private var lastId: UInt64 = 0
  private var events: [PhoneEvent] = []

  /// Most notes that are kept, as a count; the oldest goes (our choice: a push may come for ever).
  package static let noteLimit = 1000

  package init(_ version: IOSVersion = .standard) { settings = PhoneSettings(version) }

  var version: IOSVersion { settings.version }

  /// Delivered and not taken away, oldest first.
  package var notes: [PhoneNote] { board.notes }

  /// An app by its topic; setting it is what a person or a developer does outside of any push.
  package subscript(topic: Topic) -> PhoneApp? {
    get { apps[topic] }
    set { apps[topic] = newValue }
  }

  /// A number for a push that is to come: it names nothing on the phone yet.
  package mutating func makeId() -> UInt64 {
    // After the last number there is, it begins again.
    repeat { lastId &+= 1 } while lastId == 0 || board[lastId] != nil || waiting.contains { $0.id == lastId }
    return lastId
  }

  /// A push has come.
  package mutating func receive(_ push: PhonePush, at now: Timestamp) -> [PhoneEvent] {
    recording(at: now) { phone in
      phone.lastId = max(phone.lastId, push.id)
      phone.receive(phone.localized(push.addressed(on: phone)))
    }
  }

  /// The service has given a token for a topic, which may have the suffix of a push type, and there for a context that is among
  /// `wantedTokens`. Nothing happens where it is the first of a topic, or the same again. It may come before the phone knows what
  /// time it is, which is why none passes then. From another `environment` than the app's `aps-environment` asks for, it is not
  /// the app's.
  package mutating func take(
    _ token: DeviceToken, of topic: Topic, context: TokenContext? = nil, from environment: Environment? = nil,
    at now: Timestamp
  ) -> [PhoneEvent] {
    let name = TokenNeed(topic, context)
    if let environment, let app = apps[topic.app.topic] {
      guard app.build.entitlement.environment == environment else { return [] }
    }
    guard let rule = remember(token, as: name) else { return [] }
    return telling(at: now) { $0.tell(token, of: name, rule) }
  }

  /// Whether the phone has a valid token for it.
  package func hasToken(for need: TokenNeed) -> Bool { tokens[need] != nil }

  /// Those among them that the system wants again, each told once: the one that there is ends, and another comes.
  package mutating func takeRenewals() -> Set<TokenNeed> {
    defer { renewals = [] }
    return renewals
  }

  /// Whether an app has the tokens that the service gives for it: its `aps-environment` names an environment that the phone has a
  /// connection to.
  package func isEntitled(_ topic: Topic) -> Bool { apps[topic].map(isEntitled) ?? true }

  /// What time alone brings.
  package mutating func advance(to now: Timestamp) -> [PhoneEvent] { recording(at: now) { _ in } }

  // MARK: A person

  /// Does what it is told.
  ///
  /// - Throws: `PhoneOrderError` if there is no such app, notification or action.
  package mutating func perform(
    _ order: PhoneOrder, at now: Timestamp
  ) throws(PhoneOrderError) -> [PhoneEvent] {
    try recording(at: now) { phone throws(PhoneOrderError) in try phone.perform(order) }
  }

  // MARK: Time and telling

  /// Runs `body` at `moment`, after all that is due until then, and answers what was told. If it throws, what was due is told
  /// the next time.
  private mutating func recording<Failure>(
    at moment: Timestamp, _ body: (inout SimulatedPhone) throws(Failure) -> Void
  ) throws(Failure) -> [PhoneEvent] {
    catchUp(until: max(now, moment))
    defer { endUnwantedTokens() }
    try body(&self)
    defer { events = [] }
    return events
  }

  /// As `recording`, but on a phone that has not been told yet what time it is none passes.
  private mutating func telling(at moment: Timestamp, _ body: (inout SimulatedPhone) -> Void) -> [PhoneEvent]
  {
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
    case .activity(.stale, let id): markStale(id)
    case .activity(.dismissed, let id): removeActivity(id)
    case .activity(.expired, let id): expireActivity(id)
    case .summary: showSummary()
    }
  }

  /// When there is budget for a held push.
  private var nextBudget: Timestamp? {
    apps.values.filter { $0.held != nil && $0.mayRefresh && settings.hasBackgroundRefresh }
      .compactMap(releaseMoment).min()
  }

  /// When time brings something to see or hear next; nil if never.
  package var nextMoment: Timestamp? {
    [agenda.nextMoment, local.nextMoment, nextBudget, board.nextMoment(after: now)].compactMap { $0 }.min()
  }

  mutating func tell(_ push: PhonePush, _ what: PhoneEvent.What, _ rule: PhoneRule, _ argument: String = "") {
    tell(push.topic, what, rule, argument, of: push)
  }

  /// Of a push it is told of the push's app.
  mutating func tell(
    _ topic: Topic, _ what: PhoneEvent.What, _ rule: PhoneRule, _ argument: String = "",
    of push: PhonePush? = nil, for context: TokenContext? = nil
  ) {
    events.append(
      PhoneEvent(
        at: now, topic: push?.topic ?? topic, push: push?.id, notificationId: push?.notificationId,
        what: what, rule: rule, argument: argument, context: context))
  }

  // MARK: Apps

  /// In an order that is the same in each run.
  var sortedApps: [PhoneApp] { apps.values.sorted { $0.topic.name < $1.topic.name } }

  func has(_ callback: AppCallback, _ topic: Topic) -> Bool {
    apps[topic]?.implements(callback, on: version) ?? false
  }

  func isInForeground(_ topic: Topic) -> Bool { apps[topic]?.state == .foreground }

  /// Puts an app on the phone; one that is there already is replaced with everything of it.
  package mutating func install(_ app: PhoneApp) {
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

  /// Takes an app off the phone, with all that it showed.
  package mutating func remove(_ topic: Topic) {
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

  /// Makes it another phone with the same apps and settings, as from a backup: none has been opened, and nothing is shown.
  package mutating func restore() {
    let (old, settings) = (apps, settings)
    erase()
    self.settings = settings
    for (topic, app) in old {
      var copy = PhoneApp(topic, state: .neverLaunched)
      (copy.build, copy.permission, copy.mayRefresh) = (app.build, app.permission, app.mayRefresh)
      apps[topic] = copy
    }
  }

  package mutating func erase() {
    for topic in apps.keys { remove(topic) }
    (board, waiting, agenda, local) = (NoteBoard(), [], Agenda(), LocalRequests())
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

extension PhonePush {
  /// A topic with the suffix of a type is for the app without it.
  fileprivate func addressed(on phone: SimulatedPhone) -> PhonePush {
    let (app, type) = topic.app
    guard phone.apps[topic] == nil, phone.apps[app] != nil else { return self }
    var push = self
    (push.topic, push.type) = (app, push.type ?? type)
    return push
  }
}

extension SimulatedPhone {
  fileprivate mutating func receive(_ push: PhonePush) {
    guard apps[push.topic] != nil || push.type == .mdm else {
      return tell(push, .dropped, .notInstalled)
    }
    if let type = push.type, let own = type.ownRule { return handOver(push, type, own) }
    switch push.content.kind {
    case .visible: receiveVisible(push)
    case .silent: receiveSilent(push)
    case .nothing: receiveNothing(push)
    }
  }
}
