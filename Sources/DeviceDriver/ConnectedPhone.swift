import Basics
import Phone
import PushModel
import SimulatedDevice

/// What a phone is like before anything happens on it.
package struct NewPhone {
  let settings: PhoneSettings
  let appState: AppState
  let activityTypes: [String]

  /// Apps that come are in `appState`, and have Live Activities with attributes of these types.
  package init(
    _ settings: PhoneSettings = PhoneSettings(), _ appState: AppState = .suspended,
    activityTypes: [String] = []
  ) {
    (self.settings, self.appState, self.activityTypes) = (settings, appState, activityTypes)
  }
}

/// A phone and what it makes of its device: what the device hears of happens on the phone, and what the phone wants of the service is
/// what the device has to be told. It has neither connection nor clock of its own.
package final class ConnectedPhone {
  package private(set) var phone: SimulatedPhone
  private let new: NewPhone
  /// What an app is and which tokens it wants is settled there alone; pushes and tokens come from each.
  private let first: Environment?
  /// What the device was told last.
  private var told = Requests()
  /// Tokens that are to end before they are asked for again.
  private var renewing: Set<TokenNeed> = []
  /// Of pushes that may still be heard of, by the phone's number; those that came first go first.
  private var names: [UInt64: String] = [:]
  private var named: [UInt64] = []

  /// What a phone wants of the service; at first what a device takes for granted.
  private struct Requests {
    var hasNetwork = true
    /// Topics of push types that have a token of their own.
    var topics: [Topic] = []
    /// nil until they were told: of an earlier run the device may remember others.
    var tokens: [TokenNeed]?
    var channels: [ChannelNeed] = []
  }

  /// A phone without apps, and with a connection to each of the environments.
  package init(_ new: NewPhone, in environments: [Environment]) {
    self.new = new
    phone = SimulatedPhone(new.settings.version)
    phone.settings = new.settings
    phone.environments = Set(environments)
    first = environments.first
  }

  // MARK: What comes

  /// Something has happened to the device at its connection to an environment.
  package func hear(of event: DeviceEvent, from environment: Environment, at now: Timestamp) -> [PhoneEvent] {
    switch event {
    case .token(let need, let token) where need.context == nil:
      if environment == first { installIfMissing(need.topic.app.topic) }
      return phone.take(token, of: need.topic, from: environment, at: now)
    case .notification(let notification): return receive(notification, at: now)
    default: return environment == first ? hear(of: event, at: now) : []
    }
  }

  private func hear(of event: DeviceEvent, at now: Timestamp) -> [PhoneEvent] {
    switch event {
    case .token(let need, let token):
      return phone.take(token, of: need.topic, context: need.context, at: now)
    // Tokens of other kinds come and go with their app's.
    case .app(let topic, _) where topic.app.type != nil: break
    case .app(let topic, .removed): phone.remove(topic)
    case .app(let topic, .installed), .app(let topic, .reinstalled): install(topic)
    case .erased: phone.erase()
    case .restored: phone.restore()
    case .tokenEnded(let need): renewing.remove(need)
    case .activated, .connected, .disconnected, .tokenRefused, .notification, .app: break
    }
    return []
  }

  func installIfMissing(_ topic: Topic) {
    if phone[topic] == nil { install(topic) }
  }

  /// Puts an app on the phone; one that is there already is replaced with everything of it but how it was built.
  private func install(_ topic: Topic) {
    var app = PhoneApp(topic, state: new.appState)
    if let build = phone[topic]?.build {
      app.build = build
    } else {
      app.build.serviceExtension = ServiceExtension()
      app.build.activityTypes = new.activityTypes
      if phone.environments == [.production] { app.build.entitlement = .production }
    }
    phone.install(app)
  }

  private func receive(_ notification: DeviceNotification, at now: Timestamp) -> [PhoneEvent] {
    installIfMissing(notification.topic.app.topic)
    let push = PhonePush(notification, id: phone.makeId())
    if let name = notification.apnsId { remember(name, of: push.id) }
    return phone.receive(push, at: now)
  }

  private func remember(_ name: String, of id: UInt64) {
    names[id] = name
    named.append(id)
    if named.count > SimulatedPhone.noteLimit { names[named.removeFirst()] = nil }
  }

  /// With the `apns-id` of their pushes, if these have one and are not long ago.
  func told(_ events: [PhoneEvent]) -> [DevicePhone.Told] {
    events.map { DevicePhone.Told(event: $0, apnsId: $0.push.flatMap { names[$0] }) }
  }

  /// A person or an app does something. An app whose entitlement is another one then has another of the tokens that there are, and one
  /// whose token has ended, as its app was installed again in the other environment, has it again.
  package func perform(
    _ order: PhoneOrder, tokens: [(Environment, [TokenNeed: DeviceToken])], at now: Timestamp
  ) throws(PhoneOrderError) -> [PhoneEvent] {
    let before = phone
    return try phone.perform(order, at: now)
      + tokens.flatMap { environment, tokens in
        tokens.filter { $0.key.context == nil && lacksToken($0.key, since: before) }
          .sorted { $0.key.topic.name < $1.key.topic.name }
          .flatMap { phone.take($0.value, of: $0.key.topic, from: environment, at: now) }
      }
  }

  private func lacksToken(_ need: TokenNeed, since before: SimulatedPhone) -> Bool {
    let app = need.topic.app.topic
    return !phone.hasToken(for: need) || phone[app]?.build.entitlement != before[app]?.build.entitlement
  }

  /// Lets everything happen that is due.
  func advance(to now: Timestamp) -> [PhoneEvent] { phone.advance(to: now) }

  // MARK: What goes

  /// What the device has to be told, as the phone wants something else than before.
  func takeRequests() -> [DeviceInput] {
    renewing.formUnion(phone.takeRenewals())
    let tokens = phone.wantedTokens
    renewing.formIntersection(tokens)
    let now = Requests(
      hasNetwork: phone.settings.hasNetwork, topics: phone.wantedTopics,
      tokens: tokens.filter { !renewing.contains($0) }, channels: phone.wantedChannels)
    defer { told = now }
    let inputs = [
      now.hasNetwork == told.hasNetwork ? nil : DeviceInput.listens(now.hasNetwork),
      now.tokens == told.tokens ? nil : .wants(now.tokens ?? []),
      now.channels == told.channels ? nil : .listensTo(now.channels),
    ].compactMap { $0 }
    return inputs + now.topics.filter { !told.topics.contains($0) }.map(DeviceInput.install)
  }

  /// Whether a token is on its way to be another one.
  var isRenewing: Bool { !renewing.isEmpty }

  /// Its device is another one, which has not been told anything.
  func forgetRequests() { told = Requests() }
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
