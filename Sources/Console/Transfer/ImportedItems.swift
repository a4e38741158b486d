import Broker
import Faults
import PushModel

/// Single entries of a saved state, put where they belong. Doing it twice is the same as once.
struct ImportedItems {
  private let context: ConsoleContext
  private let now: Timestamp
  private var broker: Broker { context.broker }
  private var registry: Registry { context.broker.registry }

  /// `now` is meant by entries that do not say when they came.
  init(_ context: ConsoleContext, _ now: Timestamp) { (self.context, self.now) = (context, now) }

  func importDevice(_ device: SavedDevice) throws -> DeviceID {
    guard let id = broker.rows.admit(device.told, now: now) else {
      throw ConsoleError.full("devices", limit: Registry.rowLimit)
    }
    return id
  }

  func importRow(_ row: SavedRow, _ token: DeviceToken, of device: DeviceID) throws -> RegistrationID {
    guard let topic = registry.topic(row.topic) else {
      throw ConsoleError.full("topics", limit: Registry.topicLimit)
    }
    var told = row.told
    told.token = token
    guard let index = broker.rows.admit(told, of: device, topic, because: .imported, now: now) else {
      guard told.custom == nil || registry.customCount < broker.registry.customLimit else {
        throw ConsoleError.full("custom device tokens", limit: broker.registry.customLimit)
      }
      throw ConsoleError.full("tokens", limit: Registry.rowLimit)
    }
    return index
  }

  func importNotification(_ message: SavedNotification, _ row: RegistrationID) {
    // The app may have gone since its row was imported.
    guard registry[row].isActive else { return }
    if let kept = broker.deliveries.stored(row), message.isSame(as: SavedNotification(kept)) { return }
    let registration = registry[row]
    let receivedAt = message.receivedAt ?? now
    let latest = receivedAt.adding(nanoseconds: Limits.defaultStorageSeconds * 1_000_000_000)
    let asked = message.expiration.map { Timestamp(seconds: Int64($0)) } ?? latest
    registry.bytes(of: row).withUnsafeBytes { token in
      message.payload.withUnsafeBytes { payload in
        var submission = Submission(
          interface: .console, topic: registration.topic, environment: registration.environment, token: token,
          payload: payload)
        (submission.priority, submission.pushType) = (message.priority ?? .immediate, message.pushType)
        submission.saysPriority = message.priority != nil
        (submission.apnsID, submission.expiration) = (message.apnsId, message.expiration)
        submission.detail = NotificationDetail(explanation: "kept in a saved state that was imported")
        Array((message.collapseId ?? "").utf8).withUnsafeBytes { collapseId in
          submission.collapseId = collapseId
          broker.deliveries.importNotification(
            submission, row: row, receivedAt: receivedAt, expiresAt: message.expiresAt ?? min(asked, latest),
            now: now)
        }
      }
    }
  }

  func importFault(_ rule: FaultRule) {
    guard context.faults?[rule.name]?.document.text != rule.document.text else { return }
    context.faults?.set(rule)
  }

  /// The channel, made or changed to be as told; nil when there are too many topics.
  func importChannel(_ channel: SavedChannel) -> ChannelTable.Key? {
    guard let topic = registry.topic(named: channel.topic) else { return nil }
    let key = ChannelTable.Key(topic: topic, environment: channel.environment, id: channel.id)
    if broker.channels.storesNewest(key) != channel.storesNewest {
      _ = broker.channels.delete(key)
      broker.channels.create(key, storesNewest: channel.storesNewest)
    }
    return key
  }

  /// Of several nodes each takes its own.
  func importSubscriber(_ subscriber: SavedSubscriber, _ key: ChannelTable.Key) throws {
    guard broker.zones.leads(subscriber.udid) else { return }
    guard let device = registry.device(subscriber.udid, now: now) else {
      throw ConsoleError.full("devices", limit: Registry.rowLimit)
    }
    let seenUntil = subscriber.seenUntil ?? Timestamp(nanoseconds: .min)
    guard broker.broadcasts.importSubscription(device, key, seenUntil: seenUntil, now: now) else {
      throw ConsoleError.conflict("there are too many channels or subscriptions")
    }
  }

  /// How long a broadcast is kept at most, in seconds (`Documentation/provider-api.md#channel-management`).
  private static let broadcastSeconds: Int64 = 8 * 3600

  func importBroadcast(_ message: SavedNotification, _ key: ChannelTable.Key) {
    guard broker.zones.leads(channel: key.id) else { return }
    if let kept = broker.channels.newest(key).map(SavedNotification.init) {
      // One that is kept always has an expiration, a person's document need not.
      var told = message
      told.expiration = message.expiration ?? kept.expiration
      if told.isSame(as: kept) { return }
    }
    let sentAt = message.receivedAt ?? now
    let latest = sentAt.adding(nanoseconds: Self.broadcastSeconds * 1_000_000_000)
    let asked = message.expiration.map { Timestamp(seconds: Int64($0)) } ?? latest
    message.payload.withUnsafeBytes { payload in
      var submission = Submission(
        interface: .console, topic: key.topic, environment: key.environment,
        token: .init(start: nil, count: 0), payload: payload)
      (submission.priority, submission.pushType) = (message.priority ?? .immediate, .liveactivity)
      submission.expiration = message.expiration ?? UInt32(clamping: latest.seconds)
      submission.detail = NotificationDetail(explanation: "kept in a saved state that was imported")
      broker.broadcasts.importBroadcast(
        submission, to: key, sentAt: sentAt, expiresAt: message.expiresAt ?? min(asked, latest), now: now)
    }
  }
}

extension SavedNotification {
  /// Times in a document have milliseconds, those in the broker nanoseconds.
  fileprivate func isSame(as other: SavedNotification) -> Bool {
    payload == other.payload && (priority ?? .immediate) == (other.priority ?? .immediate)
      && pushType == other.pushType
      && expiration == other.expiration && apnsId == other.apnsId
      && (receivedAt == nil || receivedAt?.milliseconds == other.receivedAt?.milliseconds)
      && (expiresAt == nil || expiresAt?.milliseconds == other.expiresAt?.milliseconds)
  }
}
