import PushModel

/// What iOS does with a push, and with what a person does then (`Documentation/device-behaviour.md`).
///
///     var phone = Phone(.standard)
///     phone.install(PhoneApp(topic))
///     for event in phone.receive(push, at: now) { print(event.what.name, event.rule.sentence) }
///
/// It has no clock of its own: every call says what time it is, and what is due until then happens first. Events come in the
/// order in which a person would see them.
public struct SimulatedPhone: Sendable {
  var state: PhoneState

  /// Most notes that are kept, as a count; the oldest goes (our choice: a push may come for ever).
  public static let noteLimit = 1000

  public init(_ version: IOSVersion = .standard) { state = PhoneState(PhoneSettings(version)) }

  public var settings: PhoneSettings {
    get { state.settings }
    set { state.settings = newValue }
  }

  /// Apple's environments that the phone has a connection to; while none is named it has those that its apps ask for.
  public var environments: Set<Environment> {
    get { state.environments }
    set { state.environments = newValue }
  }

  /// Delivered and not taken away, oldest first.
  public var notes: [PhoneNote] { state.board.notes }

  /// An app by its topic; setting it is what a person or a developer does outside of any push.
  public subscript(topic: Topic) -> PhoneApp? {
    get { state.apps[topic] }
    set { state.apps[topic] = newValue }
  }

  /// Puts an app on the phone; one that is there already is replaced with everything of it.
  public mutating func install(_ app: PhoneApp) { state.install(app) }

  /// Takes an app off the phone, with all that it showed.
  public mutating func remove(_ topic: Topic) { state.remove(topic) }

  public mutating func erase() { state.erase() }

  /// Makes it another phone with the same apps and settings, as from a backup: none has been opened, and nothing is shown.
  public mutating func restore() { state.restore() }

  /// A number for a push that is to come.
  public mutating func makeId() -> UInt64 { state.makeId() }

  /// A push has come.
  public mutating func receive(_ push: PhonePush, at now: Timestamp) -> [PhoneEvent] {
    state.recording(at: now) { state in
      state.remember(push.id)
      state.receive(state.localized(push.addressed(on: state)))
    }
  }

  /// The service has given a token for a topic, which may have the suffix of a push type, and there for a context that is among
  /// `wantedTokens`. Nothing happens where it is the first of a topic, or the same again. It may come before the phone knows what
  /// time it is, which is why none passes then. From another `environment` than the app's `aps-environment` asks for, it is not
  /// the app's.
  public mutating func take(
    _ token: DeviceToken, of topic: Topic, context: TokenContext? = nil, from environment: Environment? = nil,
    at now: Timestamp
  ) -> [PhoneEvent] {
    let name = TokenNeed(topic, context)
    if let environment, let app = state.apps[topic.app.topic] {
      guard app.build.entitlement.environment == environment else { return [] }
    }
    guard let rule = state.remember(token, as: name) else { return [] }
    return state.telling(at: now) { $0.tell(token, of: name, rule) }
  }

  /// The tokens that the service is to be asked for besides those of topics, each once; those that are not wanted any more end.
  public var wantedTokens: [TokenNeed] { state.wantedTokens }
  /// Whether the phone has a valid token for it.
  public func hasToken(for need: TokenNeed) -> Bool { state.tokens[need] != nil }

  /// Those among them that the system wants again, each told once: the one that there is ends, and another comes.
  public mutating func takeRenewals() -> Set<TokenNeed> {
    defer { state.renewals = [] }
    return state.renewals
  }

  /// Whether an app has the tokens that the service gives for it: its `aps-environment` names an environment that the phone has a
  /// connection to.
  public func isEntitled(_ topic: Topic) -> Bool { state.apps[topic].map(state.isEntitled) ?? true }

  /// The push types that an app gets tokens for besides that of its topic: of those that it wants, what its iOS has.
  public func tokenTypes(of topic: Topic) -> [PushType] { state.tokenTypes(of: topic) }

  /// The topics of those push types, of all apps.
  public var wantedTopics: [Topic] { state.wantedTopics }

  /// The channels that the phone is to listen to: of Live Activities that have joined one.
  public var wantedChannels: [ChannelNeed] { state.wantedChannels }

  /// What time alone brings.
  public mutating func advance(to now: Timestamp) -> [PhoneEvent] { state.recording(at: now) { _ in } }

  /// When time brings something next; nil if never.
  public var nextMoment: Timestamp? { state.nextMoment }

  // MARK: A person

  /// Opens an app by its icon.
  public mutating func open(_ topic: Topic, at now: Timestamp) -> [PhoneEvent] {
    state.recording(at: now) { $0.bringForward(topic, .iconCallsNobody) }
  }

  /// Taps a notification; nothing happens if it is not there any more.
  public mutating func tap(_ id: UInt64, at now: Timestamp) -> [PhoneEvent] {
    state.recording(at: now) { state in
      if let note = state.board.remove(id) { state.tap(note.push) }
    }
  }

  /// Takes a notification away without opening anything.
  public mutating func dismiss(_ id: UInt64, at now: Timestamp) -> [PhoneEvent] {
    state.recording(at: now) { state in
      if let note = state.board.remove(id) { state.dismiss(note.push) }
    }
  }

  /// Leaves an app, or ends it by hand.
  public mutating func leave(_ topic: Topic, as appState: AppState, at now: Timestamp) -> [PhoneEvent] {
    state.recording(at: now) { $0.move(topic, to: appState) }
  }

  /// Does what it is told.
  ///
  /// - Throws: `PhoneOrderError` if there is no such app, notification or action.
  public mutating func perform(
    _ order: PhoneOrder, at now: Timestamp
  ) throws(PhoneOrderError) -> [PhoneEvent] {
    try state.recording(at: now) { state throws(PhoneOrderError) in try state.perform(order) }
  }
}

extension PhonePush {
  /// A topic with the suffix of a type is for the app without it.
  fileprivate func addressed(on phone: PhoneState) -> PhonePush {
    let (app, type) = topic.app
    guard phone.apps[topic] == nil, phone.apps[app] != nil else { return self }
    var push = self
    (push.topic, push.type) = (app, push.type ?? type)
    return push
  }
}

extension PhoneState {
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
