import PushModel

extension Broker {
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
      place: channels.addListener(session, row), joinedAt: broadcasts.joinNumber, seenUntil: seenUntil)
  }

  /// A device leaves a channel; leaving one it has not joined is harmless.
  public func leave(_ session: DeviceSession, _ key: ChannelTable.Key) {
    guard let row = channels.row(key) else { return }
    leave(session, row)
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
  func resumeChannels(_ session: DeviceSession) {
    for (row, seenUntil) in channels.subscriptions[session.device] ?? [:]
    where channels.channels[row]?.key.environment == session.environment {
      listen(session, row, seenUntil)
    }
  }

  /// The connection has ended; how far the device got is remembered.
  func suspendChannels(_ session: DeviceSession) {
    for (row, membership) in session.joined {
      channels.removeListener(at: membership.place, row)
      _ = channels.subscribe(session.device, row, seenUntil: reached(row, membership))
    }
    session.joined = [:]
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
      !isUnderWay(row, to: membership)
    else { return }
    send(newest, channel.key, row, to: session)
  }

  /// The app is no longer on the device, or is installed anew: nobody there listens for it any more.
  func leaveChannels(of device: DeviceID, topic: TopicID?, _ environment: Environment) {
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
  /// (`Documentation/provider-api.md#channel-management`: for at most eight hours). Answers its id in the history.
  @discardableResult
  public func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, now: Timestamp
  ) -> UInt64 {
    let id = history.recordAccepted(submission, now: now)
    broadcast(outgoing(submission, id: id, storageSeconds: storageSeconds, now: now), to: key)
    return id
  }

  /// Remembers a broadcast that another process decides about: `endRelay` says what became of it.
  public func beginBroadcast(_ submission: Submission, storageSeconds: Int64, now: Timestamp)
    -> ChannelTable.Broadcast
  {
    let id = history.beginElsewhere(submission.plain, submission.detail, nil, now: now)
    return outgoing(submission, id: id, storageSeconds: storageSeconds, now: now)
  }

  private func outgoing(
    _ submission: Submission, id: UInt64, storageSeconds: Int64, now: Timestamp
  ) -> ChannelTable.Broadcast {
    let latest = now.adding(nanoseconds: storageSeconds * 1_000_000_000)
    return ChannelTable.Broadcast(
      id: id, payload: Array(submission.payload), priority: submission.priority, sentAt: now,
      expiresAt: min(Timestamp(seconds: Int64(submission.expiration ?? 0)), latest),
      expiry: submission.expiration ?? 0)
  }

  /// Sends one that was recorded, here or elsewhere, to everybody who listens; false if its channel has gone.
  @discardableResult
  public func broadcast(_ broadcast: ChannelTable.Broadcast, to key: ChannelTable.Key) -> Bool {
    guard let row = channels.row(key) else { return false }
    channels.noteSent(broadcast, in: row)
    if broadcast.expiresAt > broadcast.sentAt { channels.keep(broadcast, in: row) }
    begin(broadcast, in: row)
    return true
  }

  func send(
    _ broadcast: ChannelTable.Broadcast, _ key: ChannelTable.Key, _ row: Int64, to session: DeviceSession
  ) {
    let app = registry.installed(session.device, key.topic, session.environment)
    let token =
      app.map { registry[$0].token } ?? registry.baseToken(session.device, session.environment)
    session.link.outlet.deliver(
      broadcast, channel: key.id, token: token, topic: registry[key.topic].hash)
    session.link.expectStrays(1)
    session.joined[row]?.sentUntil = broadcast.sentAt
    history.counters.sent += 1
  }

  // MARK: Saved states

  /// The devices that listen to a channel, those that are away included, in no order.
  public func subscribers(_ key: ChannelTable.Key) -> [DeviceID] {
    channels.row(key).flatMap { channels.channels[$0] }.map { Array($0.subscribers) } ?? []
  }

  /// How far a device that listens got; one that is away as of the end of its last connection. nil if it does not listen.
  public func seenUntil(_ device: DeviceID, _ key: ChannelTable.Key) -> Timestamp? {
    guard let row = channels.row(key), let channel = channels.channels[row],
      channel.subscribers.contains(device)
    else { return nil }
    let session = registry.session(of: device, in: key.environment)
    let remembered = channels.subscriptions[device]?[row] ?? Timestamp(nanoseconds: .min)
    return session?.joined[row]?.reached ?? remembered
  }

  /// Subscriptions of all devices, as a count.
  public var subscriptionCount: Int { channels.subscriptionCount }

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
    let broadcast = ChannelTable.Broadcast(
      id: id, payload: Array(submission.payload), priority: submission.priority, sentAt: sentAt,
      expiresAt: expiresAt, expiry: submission.expiration ?? 0)
    channels.keep(broadcast, in: row)
    history.endBroadcast(id, count: 0, isStored: true, now: sentAt)
    if expiresAt > now { begin(broadcast, in: row, isRepeated: true, isRecorded: false) }
  }
}
