import Phone
import PushModel
import SimulatedDevice

/// A phone and what joins it to its device: what the device hears of happens on the phone, and what the phone wants of the service is
/// what the device has to be told.
///
/// `device` and scenarios have the same one, so that a story is the same in both. It has neither connection nor clock of its own.
public final class ConnectedPhone {
  public private(set) var phone: Phone
  private let state: AppState
  private let activityTypes: [String]
  /// By topic: an app has the one of the environment that its entitlement names.
  private var tokens: [Topic: [Environment: DeviceToken]] = [:]
  /// What an app is and which tokens it wants is settled there alone; pushes and tokens come from each.
  private var first: Environment?
  /// What the device was told last.
  private var told = Wishes()
  /// Tokens that are to end before they are asked for again.
  private var renewing: Set<TokenNeed> = []
  /// Of pushes that may still be heard of, by the phone's number; those that came first go first.
  private var names: [UInt64: String] = [:]
  private var named: [UInt64] = []

  /// What a phone wants of the service; at first what a device takes for granted.
  private struct Wishes {
    var hasNetwork = true
    /// nil until they were told: of an earlier run the device may remember others.
    var tokens: [TokenNeed]?
    var channels: [ChannelNeed] = []
  }

  /// A phone without apps; those that come are in `state`, and have Live Activities with attributes of these types.
  public init(_ settings: PhoneSettings, _ state: AppState = .suspended, activityTypes: [String] = []) {
    phone = Phone(settings.version)
    phone.settings = settings
    (self.state, self.activityTypes) = (state, activityTypes)
  }

  // MARK: What comes

  /// The device is in one more environment from now on.
  public func connect(to environment: Environment) {
    first = first ?? environment
    phone.environments.insert(environment)
  }

  /// Something has happened to the device at its connection to an environment.
  public func hear(of event: DeviceEvent, from environment: Environment, at now: Timestamp) -> [PhoneEvent] {
    switch event {
    case .token(let topic, let token):
      if environment == first, phone[topic.app.topic] == nil { install(topic.app.topic) }
      tokens[topic, default: [:]][environment] = token
      return phone.take(token, of: topic, from: environment, at: now)
    case .contextToken(let need, let token):
      return phone.take(token, of: need.topic, context: need.context, at: now)
    case .notification(let notification): return receive(notification, at: now)
    // Tokens of other kinds come and go with their app's.
    case .app(let topic, _) where topic.app.type != nil: break
    case .app(let topic, .removed):
      tokens = tokens.filter { $0.key.app.topic != topic }
      phone.remove(topic)
    case .app(let topic, .installed), .app(let topic, .reinstalled): install(topic)
    case .erased:
      tokens = [:]
      phone.erase()
    case .restored: phone.restore()
    case .contextEnded(let need): renewing.remove(need)
    case .activated, .connected, .disconnected, .tokenRefused, .app, .contextRefused: break
    }
    return []
  }

  /// Puts an app on the phone; one that is there already gives way with everything of it but how it was built.
  public func install(_ topic: Topic) {
    var app = PhoneApp(topic, state: state)
    if let build = phone[topic]?.build {
      app.build = build
    } else {
      app.build.hasServiceExtension = true
      app.build.activityTypes = activityTypes
      if phone.environments == [.production] { app.build.entitlement = .production }
    }
    phone.install(app)
  }

  private func receive(_ notification: DeviceNotification, at now: Timestamp) -> [PhoneEvent] {
    if phone[notification.topic.app.topic] == nil { install(notification.topic.app.topic) }
    let push = PhonePush(notification, id: phone.makeId())
    if let name = notification.apnsId { remember(name, of: push.id) }
    return phone.receive(push, at: now)
  }

  private func remember(_ name: String, of id: UInt64) {
    names[id] = name
    named.append(id)
    if named.count > Phone.noteLimit { names[named.removeFirst()] = nil }
  }

  /// The `apns-id` of a push, if it has one and is not long ago.
  public func name(ofPush id: UInt64) -> String? { names[id] }

  /// A person or an app does something.
  public func perform(_ order: PhoneOrder, at now: Timestamp) throws(PhoneOrderError) -> [PhoneEvent] {
    try phone.perform(order, at: now) + takeTokens(at: now)
  }

  /// An app whose entitlement is another one now has another token.
  private func takeTokens(at now: Timestamp) -> [PhoneEvent] {
    let all = tokens.sorted { $0.key.name < $1.key.name }
    return all.flatMap { topic, tokens in
      tokens.flatMap { phone.take($0.value, of: topic, from: $0.key, at: now) }
    }
  }

  /// Lets everything happen that is due.
  public func advance(to now: Timestamp) -> [PhoneEvent] { phone.advance(to: now) }

  // MARK: What goes

  /// What the device has to be told, as the phone wants something else than before.
  public func takeWishes() -> [DeviceInput] {
    renewing.formUnion(phone.takeRenewals())
    let tokens = phone.wantedTokens
    renewing.formIntersection(tokens)
    let now = Wishes(
      hasNetwork: phone.settings.hasNetwork, tokens: tokens.filter { !renewing.contains($0) },
      channels: phone.wantedChannels)
    defer { told = now }
    return [
      now.hasNetwork == told.hasNetwork ? nil : DeviceInput.listens(now.hasNetwork),
      now.tokens == told.tokens ? nil : .wants(now.tokens ?? []),
      now.channels == told.channels ? nil : .listensTo(now.channels),
    ].compactMap { $0 }
  }

  /// Whether a token is on its way to be another one.
  public var isRenewing: Bool { !renewing.isEmpty }

  /// Its device is another one, which has not been told anything.
  public func forgetWishes() { told = Wishes() }
}

extension DeviceEvent {
  /// Whether the phone is another one then, although nothing happens on it.
  var changesApps: Bool {
    switch self {
    case .app(let topic, let change): topic.app.type == nil && change != .updated
    case .erased, .restored: true
    default: false
    }
  }
}

extension PhonePush {
  /// What the wire has brought.
  package init(_ notification: DeviceNotification, id: UInt64) {
    let priority = notification.priority.flatMap(Priority.init(rawValue:)) ?? .immediate
    self.init(
      id: id, topic: notification.topic, payload: notification.payload, type: notification.pushType,
      priority: notification.saysPriority ? priority : nil, collapseId: notification.collapseId)
    notificationId = notification.notificationId
    if let channel = notification.channel {
      token = .channel(Base64.encode(channel))
    } else if let context = notification.context {
      token = .context(context)
    }
  }
}
