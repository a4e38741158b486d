import Basics
import Broker
import CourierWire
import PushModel

/// The devices on one connection, and what each asks the broker for: which topics it wants, tokens, channels.
///
///     accepted ⟲ filter, token, channels ─ the connection ends, or the device is accepted once more ─→ forgotten
struct DeviceIdentities {
  private struct Identity {
    var baseToken: DeviceToken
    var session: DeviceSession
  }

  private let broker: Broker
  private var all: [Identity] = []

  init(_ broker: Broker) { self.broker = broker }

  var udids: [UDID] {
    // A reset may have forgotten the devices of a connection that is ending.
    all.map(\.session.device).filter(broker.registry.contains).map { broker.registry[$0].udid }
  }

  mutating func add(_ connected: Devices.Connected) {
    all.removeAll { $0.session.device == connected.session.device }
    all.append(Identity(baseToken: connected.baseToken, session: connected.session))
  }

  mutating func disconnect(now: Timestamp) {
    let gone = all
    all = []
    for identity in gone { broker.devices.sessionEnded(identity.session, now: now) }
  }

  private func session(_ token: DeviceToken) -> DeviceSession? {
    all.first { $0.baseToken == token }?.session
  }

  /// Answers what the device is told of it unasked, if anything.
  func replaceFilter(_ update: FilterUpdate, of token: DeviceToken, now: Timestamp) -> NoStorage? {
    guard let session = session(token) else { return nil }
    let count = broker.devices.setFilter(session, enabled: update.enabled, now: now)
    return count == 0 ? NoStorage(baseToken: token) : nil
  }

  /// A token, for the topic or for the context of it that the request names; or the end of the latter's.
  func answer(_ request: AppTokenRequest, of token: DeviceToken, now: Timestamp) -> AppTokenResponse? {
    guard let session = session(token) else { return nil }
    let removed = AppTokenResponse(answering: request, with: nil, refusal: AppTokenResponse.statusRemoved)
    if let held = request.heldToken, broker.apps.wasRemoved(held, from: session) { return removed }
    // What there is a token of can be shown by its name.
    defer { if let name = request.topicName { broker.registry.learn(name) } }
    var context: TokenContext?
    switch request.context {
    case .absent: break
    case .named(let name): context = name
    case .unreadable: return AppTokenResponse(answering: request, with: nil)
    }
    if let context, request.isOver {
      broker.apps.endToken(session, topic: request.topic, context, now: now)
      return removed
    }
    let token = broker.apps.appToken(session, topic: request.topic, context, now: now)
    return AppTokenResponse(answering: request, with: token)
  }

  /// Joins and leaves channels; one refusal refuses the whole answer, what could be done stays done.
  func answer(_ subscription: ChannelSubscription, now: Timestamp) -> ChannelConfirmation? {
    guard let session = session(subscription.baseToken) else { return nil }
    if subscription.replaces { broker.broadcasts.leaveAll(session) }
    var isDone = true
    for entry in subscription.entries {
      guard let topic = Topic(entry.topic).flatMap({ broker.registry.knownTopic(named: $0) }) else {
        isDone = false
        continue
      }
      let key = { ChannelTable.Key(topic: topic, environment: session.environment, id: $0) }
      for channel in entry.leave { broker.broadcasts.leave(session, key(channel.id)) }
      for channel in entry.join {
        let seen = channel.lastMessageTime.map { Timestamp(nanoseconds: Int64(clamping: $0)) }
        isDone = broker.broadcasts.join(session, key(channel.id), seenUntil: seen, now: now) && isDone
      }
    }
    return ChannelConfirmation(
      index: subscription.index, baseToken: subscription.baseToken,
      status: isDone ? 0 : ChannelConfirmation.statusRefused)
  }
}
