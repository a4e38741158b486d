import Basics
import PushModel

/// Who listens to channels, and what goes out to them. Broadcasts go to those who listen in parts, some each turn (`BroadcastQueue`).
public final class Broadcasts {
  private let registry: Registry
  private let history: History
  private let channels: ChannelTable
  private var queue = BroadcastQueue()

  init(_ registry: Registry, _ history: History, _ channels: ChannelTable) {
    (self.registry, self.history, self.channels) = (registry, history, channels)
  }

  // MARK: Devices

  /// A device joins a channel. A stored broadcast that is newer than what it has seen is sent at once. False when there is
  /// no such channel, or the session has ended or listens to too many.
  public func join(_ session: DeviceSession, _ key: ChannelTable.Key, seenUntil: Timestamp?, now: Timestamp)
    -> Bool
  {
    guard session.isLive, let row = channels.row(key) else { return false }
    let known = session.joined[row]
    if known == nil, session.joined.count >= ChannelTable.channelsPerSession {
      channels.forgetDeparted(session)
      guard session.joined.count < ChannelTable.channelsPerSession else { return false }
    }
    let seenUntil = seenUntil ?? Timestamp(nanoseconds: .min)
    guard channels.subscribe(session.device, row, seenUntil: seenUntil) else { return false }
    if known == nil { listen(session, row, seenUntil) }
    // What the device says counts more than what is remembered, but nothing is sent twice on one connection.
    session.joined[row]?.seenUntil = seenUntil
    sendMissed(row, to: session, now: now)
    return true
  }

  private func listen(_ session: DeviceSession, _ row: Int64, _ seenUntil: Timestamp) {
    session.joined[row] = ChannelMembership(
      place: channels.addListener(session, row), joinedAt: queue.joinNumber, seenUntil: seenUntil)
  }

  /// A device leaves a channel; leaving one it has not joined is harmless.
  public func leave(_ session: DeviceSession, _ key: ChannelTable.Key) {
    if let row = channels.row(key) { leave(session, row) }
  }

  /// A device leaves all its channels.
  public func leaveAll(_ session: DeviceSession) {
    for row in session.joined.keys { leave(session, row) }
  }

  private func leave(_ session: DeviceSession, _ row: Int64) {
    guard let membership = session.joined.removeValue(forKey: row) else { return }
    channels.removeListener(at: membership.place, row)
    channels.unsubscribe(session.device, row)
  }

  /// A device that comes back listens to what it listened to before.
  func resume(_ session: DeviceSession) {
    for (row, seenUntil) in channels.subscriptions[session.device] ?? [:]
    where channels.channels[row]?.key.environment == session.environment {
      listen(session, row, seenUntil)
    }
  }

  /// The connection has ended; how far the device got is remembered.
  func suspend(_ session: DeviceSession) {
    for (row, membership) in session.joined {
      channels.removeListener(at: membership.place, row)
      _ = channels.subscribe(session.device, row, seenUntil: reached(row, membership))
    }
    session.joined = [:]
  }

  /// How far a session got whose connection ends: what has not come to it is new for the next one, whatever the clock says.
  private func reached(_ row: Int64, _ membership: ChannelMembership) -> Timestamp {
    guard !queue.isEmpty,
      let first = queue.underWay(row).first(where: { !$0.isRepeated && $0.isAhead(of: membership) })
    else { return membership.reached }
    return min(membership.reached, first.broadcast.sentAt.adding(nanoseconds: -1))
  }

  /// What channels of these topics kept for a device that is back, oldest first.
  func sendMissed(to session: DeviceSession, of topics: Set<TopicHash>, now: Timestamp) {
    let rows = session.joined.keys.filter { row in
      guard let topic = channels.channels[row]?.key.topic else { return false }
      return topics.contains(registry[topic].hash)
    }
    for row in rows.sorted(by: { isOlder($0, $1) }) { sendMissed(row, to: session, now: now) }
  }

  private func isOlder(_ left: Int64, _ right: Int64) -> Bool {
    func place(_ row: Int64) -> (Timestamp, UInt64, Int64) {
      let newest = channels.channels[row]?.newest
      return (newest?.sentAt ?? Timestamp(nanoseconds: .min), newest?.id ?? 0, row)
    }
    return place(left) < place(right)
  }

  private func sendMissed(_ row: Int64, to session: DeviceSession, now: Timestamp) {
    guard let channel = channels.channels[row], let newest = channel.newest, newest.expiresAt > now,
      let membership = session.joined[row], newest.sentAt > membership.reached,
      // What the channel keeps comes with what is under way.
      queue.newest(row)?.isAhead(of: membership) != true
    else { return }
    deliver(newest, channel.key, row, to: session)
  }

  /// The app is no longer on the device, or is installed again: nobody there listens for it any more.
  func leaveAll(of device: DeviceID, topic: TopicID?, _ environment: Environment) {
    let session = registry.session(of: device, in: environment)
    for row in (channels.subscriptions[device] ?? [:]).keys {
      guard let key = channels.channels[row]?.key, key.environment == environment,
        topic ?? key.topic == key.topic
      else { continue }
      if let session { leave(session, row) } else { channels.unsubscribe(device, row) }
    }
  }

  // MARK: Providers

  /// Sends a broadcast to everybody who listens, and keeps it if the channel does so
  /// (`Documentation/provider-api.md#channel-management`: for at most eight hours). Answers its id in the history; `through` is called
  /// with that once it has come to all who listen, which may be at once.
  @discardableResult
  public func send(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, now: Timestamp,
    through: ((UInt64) -> Void)? = nil
  ) -> UInt64 {
    let id = history.recordAccepted(submission, now: now)
    send(
      outgoing(submission, id: id, storageSeconds: storageSeconds, now: now), to: key, through: through)
    return id
  }

  /// Remembers a broadcast that another process decides about: `History.endRelay` says what became of it.
  public func begin(_ submission: Submission, storageSeconds: Int64, now: Timestamp)
    -> ChannelTable.Broadcast
  {
    let id = history.beginElsewhere(submission.plain, submission.detail, now: now)
    return outgoing(submission, id: id, storageSeconds: storageSeconds, now: now)
  }

  private func outgoing(
    _ submission: Submission, id: UInt64, storageSeconds: Int64, now: Timestamp
  ) -> ChannelTable.Broadcast {
    let latest = now.adding(nanoseconds: storageSeconds * 1_000_000_000)
    let end = min(Timestamp(seconds: Int64(submission.plain.expiration ?? 0)), latest)
    return ChannelTable.Broadcast(submission, id: id, sentAt: now, expiresAt: end)
  }

  /// Sends one that was recorded, here or elsewhere, to everybody who listens; false if its channel has gone.
  @discardableResult
  public func send(
    _ broadcast: ChannelTable.Broadcast, to key: ChannelTable.Key, through: ((UInt64) -> Void)? = nil
  ) -> Bool {
    guard let row = channels.row(key) else { return false }
    channels.noteSent(broadcast, in: row)
    if broadcast.expiresAt > broadcast.sentAt { channels.keep(broadcast, in: row) }
    hand(broadcast, in: row, through: through)
    return true
  }

  /// Whether a broadcast of the history has not come to all who listened when it was accepted.
  public func isUnderWay(_ id: UInt64) -> Bool { queue.isUnderWay(id) }

  // MARK: On their way

  /// How many are under way, as a count.
  public var underWayCount: Int { queue.count }

  /// To be called once a turn, before it is committed. `hasTime` is asked before each share. Answers whether more is under way, or
  /// listeners of deleted channels are left, so that another turn is wanted.
  public func goOn(hasTime: () -> Bool = { true }) -> Bool {
    let hasDepartures = channels.goOnWithDepartures()
    queue.beginTurn()
    handOut(hasTime)
    guard !queue.isEmpty else { return hasDepartures }
    queue.endTurn()
    return true
  }

  /// A broadcast is for everybody who listens now; what this turn has room for goes out at once.
  func hand(
    _ broadcast: ChannelTable.Broadcast, in row: Int64, isRepeated: Bool = false, isRecorded: Bool = true,
    through: ((UInt64) -> Void)? = nil
  ) {
    queue.add(broadcast, in: row, isRepeated: isRepeated, isRecorded: isRecorded, through: through)
    // Nobody waits for what nobody listens to.
    if channels.channels[row]?.listeners.end == 0, queue.underWay(row).count == 1 { return end(row) }
    handOut()
  }

  private func handOut(_ hasTime: () -> Bool = { true }) {
    while queue.mayGoOn, hasTime(), let (row, delivery) = queue.first() {
      giveShare(to: row, delivery)
    }
  }

  private func giveShare(to row: Int64, _ delivery: BroadcastQueue.Delivery) {
    let share = queue.nextShare
    var place = delivery.next
    while place - delivery.next < share, let channel = channels.channels[row], place < channel.listeners.end {
      look(at: channel.listeners[place], channel.key, row, delivery)
      place += 1
    }
    if place >= channels.channels[row]?.listeners.end ?? 0 { end(row) } else { queue.endShare(row) }
  }

  private func look(
    at session: DeviceSession?, _ key: ChannelTable.Key, _ row: Int64, _ delivery: BroadcastQueue.Delivery
  ) {
    guard let session, let membership = session.joined[row], membership.joinedAt <= delivery.number else {
      return queue.advance(row, isListener: false)
    }
    // Before it is handed over, which may end the session.
    queue.advance(row, isListener: true)
    guard !delivery.isRepeated || delivery.broadcast.sentAt > membership.reached else { return }
    deliver(delivery.broadcast, key, row, to: session)
  }

  /// All who listen have the first broadcast of a channel, or the channel has gone.
  private func end(_ row: Int64) {
    guard let ended = queue.endFirst(row), ended.isRecorded else { return }
    let broadcast = ended.broadcast
    let isStored = channels.channels[row]?.storesNewest == true
    history.endBroadcast(broadcast.id, count: ended.count, isStored: isStored, now: broadcast.sentAt)
    ended.through?(broadcast.id)
  }

  private func deliver(
    _ broadcast: ChannelTable.Broadcast, _ key: ChannelTable.Key, _ row: Int64, to session: DeviceSession
  ) {
    let app = registry.installed(session.device, key.topic, session.environment)
    let token =
      app.map { registry[$0].token } ?? registry.baseToken(session.device, session.environment)
    session.link.outlet.deliver(
      broadcast, channel: key.id, token: token, topic: registry[key.topic].hash)
    session.link.expectStrays(1)
    session.joined[row]?.sentUntil = broadcast.sentAt
    history.broadcastSent()
  }

  // MARK: Saved states

  /// The devices that listen to a channel, those that are offline included, in no order.
  public func subscribers(_ key: ChannelTable.Key) -> [DeviceID] {
    channels.row(key).flatMap { channels.channels[$0] }.map { Array($0.subscribers) } ?? []
  }

  /// How far a device that listens got; one that is offline as of the end of its last connection. nil if it does not listen.
  public func seenUntil(_ device: DeviceID, _ key: ChannelTable.Key) -> Timestamp? {
    guard let row = channels.row(key), let channel = channels.channels[row],
      channel.subscribers.contains(device)
    else { return nil }
    let session = registry.session(of: device, in: key.environment)
    let remembered = channels.subscriptions[device]?[row] ?? Timestamp(nanoseconds: .min)
    return session?.joined[row]?.reached ?? remembered
  }

  /// A device listens, as far as it was told to have got; one that is connected gets what it missed. False if there are
  /// too many.
  public func importSubscription(
    _ device: DeviceID, _ key: ChannelTable.Key, seenUntil: Timestamp, now: Timestamp
  ) -> Bool {
    guard let row = channels.row(key) else { return false }
    let known = self.seenUntil(device, key)
    // Documents know milliseconds; less must not make a device get a broadcast again.
    if known?.milliseconds == seenUntil.milliseconds { return true }
    if let session = registry.session(of: device, in: key.environment) {
      return join(session, key, seenUntil: seenUntil, now: now)
    }
    return channels.subscribe(device, row, seenUntil: seenUntil)
  }

  /// Keeps a broadcast in the place of the one that is there; those who listen get it if they have not seen it. It gets an
  /// entry in the history, as every broadcast has.
  public func importBroadcast(
    _ submission: Submission, to key: ChannelTable.Key, sentAt: Timestamp, expiresAt: Timestamp,
    now: Timestamp
  ) {
    guard let row = channels.row(key), channels.channels[row]?.storesNewest == true else { return }
    let id = history.recordAccepted(submission, now: sentAt)
    let broadcast = ChannelTable.Broadcast(submission, id: id, sentAt: sentAt, expiresAt: expiresAt)
    channels.keep(broadcast, in: row)
    history.endBroadcast(id, count: 0, isStored: true, now: sentAt)
    if expiresAt > now { hand(broadcast, in: row, isRepeated: true, isRecorded: false) }
  }

  // MARK: The store and other processes

  /// A channel is as the store or another process says; devices that are connected and have not seen what it keeps get that. False when
  /// there are too many, or it doesn't fit to what was told before.
  public func admit(_ told: StoredChannel, because cause: RowCause, now: Timestamp) -> Bool {
    guard registry.contains(told.key.topic), let row = channels.admit(told, because: cause) else {
      return false
    }
    guard let newest = told.newest else { return true }
    if cause == .stored {
      history.journal.skip(past: newest.id)
    } else if newest.expiresAt > now {
      // Nobody gets one twice on a connection.
      hand(newest, in: row, isRepeated: true, isRecorded: false)
    }
    return true
  }

  /// Puts back a subscription, after its device and its channel.
  public func restoreSubscription(_ subscription: StoredSubscription, seenUntil: Timestamp) -> Bool {
    guard registry.contains(subscription.device) else { return false }
    return channels.restore(subscription, seenUntil: seenUntil)
  }

  /// A broadcast went out: those who listen here get it. Whether the channel keeps it is told with the channel.
  public func replicateBroadcast(_ broadcast: ChannelTable.Broadcast, to key: ChannelTable.Key) {
    // It may have come by this process, whose history has it then.
    if let row = channels.row(key) { hand(broadcast, in: row, isRepeated: true) }
  }

  /// How far a device that listens got; with nil it listens no more. False if nobody knows the device or the channel.
  public func replicateSubscription(_ udid: UDID, _ key: ChannelTable.Key, seenUntil: Timestamp?) -> Bool {
    guard let device = registry.knownDevice(udid), let row = channels.row(key) else { return false }
    guard let seenUntil else {
      channels.unsubscribe(device, row)
      return true
    }
    return channels.subscribe(device, row, seenUntil: seenUntil)
  }
}
