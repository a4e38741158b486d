import PushModel

extension Broker {
  /// A device joins a channel. A stored broadcast that is newer than what it has seen is sent at once. False when there is
  /// no such channel, or the session has ended or listens to too many.
  public func join(_ session: DeviceSession, _ key: ChannelTable.Key, seenUntil: Timestamp?, now: Timestamp)
    -> Bool
  {
    guard sessions[Int(session.index)] === session, var channel = channels.channels[key],
      session.joined.count < ChannelTable.channelsPerSession
    else { return false }
    if session.joined.insert(key).inserted { channel.listeners.append(session) }
    channels.channels[key] = channel
    if let newest = channel.newest, newest.expiresAt > now,
      newest.sentAt > seenUntil ?? .init(nanoseconds: .min)
    {
      send(newest, key, to: session)
    }
    return true
  }

  /// A device leaves a channel; leaving one it has not joined is harmless.
  public func leave(_ session: DeviceSession, _ key: ChannelTable.Key) {
    guard session.joined.remove(key) != nil else { return }
    channels.channels[key]?.listeners.removeAll { $0 === session }
  }

  /// A device leaves all its channels.
  public func leaveAll(_ session: DeviceSession) {
    for key in session.joined { leave(session, key) }
  }

  /// Sends a broadcast to everybody who listens, and keeps it if the channel does so (F.1: for at most eight hours).
  /// Answers how many devices it was sent to.
  @discardableResult
  public func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, now: Timestamp
  ) -> Int {
    let id = recordBroadcast(submission, now: now)
    let latest = now.adding(nanoseconds: storageSeconds * 1_000_000_000)
    let broadcast = ChannelTable.Broadcast(
      id: id, payload: Array(submission.payload), priority: submission.priority, sentAt: now,
      expiresAt: min(Timestamp(seconds: Int64(submission.expiration ?? 0)), latest),
      expiry: submission.expiration ?? 0)
    guard let channel = channels.channels[key] else { return 0 }
    if channel.storesNewest, broadcast.expiresAt > now { channels.channels[key]?.newest = broadcast }
    for session in channel.listeners { send(broadcast, key, to: session) }
    finishBroadcast(id, count: channel.listeners.count, isStored: channel.storesNewest, now: now)
    return channel.listeners.count
  }

  private func send(_ broadcast: ChannelTable.Broadcast, _ key: ChannelTable.Key, to session: DeviceSession) {
    let app = registry.installed(session.device, key.topic, session.environment)
    let token =
      app.map { registry[registration: $0].token } ?? registry.baseToken(session.device, session.environment)
    session.link.outlet.deliver(
      broadcast, channel: key.id, token: token, topic: registry.topics[Int(key.topic)].hash)
    counters.sent += 1
  }

  private func finishBroadcast(_ id: UInt64, count: Int, isStored: Bool, now: Timestamp) {
    let state: NotificationState = count > 0 ? .sent : isStored ? .stored : .discarded
    note(.delivery, id, state, now)
    guard let record = journal.pointer(id) else { return }
    record.pointee.state = state
    if count > 0 { record.pointee.sentAt = now } else if isStored { record.pointee.storedAt = now }
  }
}
