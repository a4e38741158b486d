import PushModel

/// Channels in saved states: who listens and what is kept.
extension Broker {
  /// The devices that listen to a channel, with how far each got; those that are away as of the end of their last
  /// connection. In a stable order.
  public func subscribers(_ key: ChannelTable.Key) -> [(device: Int32, seenUntil: Timestamp)] {
    guard let row = channels.row(key), let channel = channels.channels[row] else { return [] }
    return channel.subscribers.sorted().map { device in
      let session = registry.devices[Int(device)].session(in: key.environment)
      let remembered = channels.subscriptions[device]?[row] ?? Timestamp(nanoseconds: .min)
      return (device, session?.joined[row]?.reached ?? remembered)
    }
  }

  /// Subscriptions of all devices, as a count.
  public var subscriptionCount: Int { channels.subscriptions.reduce(0) { $0 + $1.value.count } }

  /// A device listens, as far as it was told to have got; one that is connected gets what it missed. False if there are
  /// too many.
  public func importSubscription(
    _ device: Int32, _ key: ChannelTable.Key, seenUntil: Timestamp, now: Timestamp
  ) -> Bool {
    guard let row = channels.row(key) else { return false }
    let known = subscribers(key).first { $0.device == device }?.seenUntil
    // Documents know milliseconds; less must not make a device get a broadcast again.
    if known?.milliseconds == seenUntil.milliseconds { return true }
    if let session = registry.devices[Int(device)].session(in: key.environment) {
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
    let id = recordBroadcast(submission, now: sentAt)
    let broadcast = ChannelTable.Broadcast(
      id: id, payload: Array(submission.payload), priority: submission.priority, sentAt: sentAt,
      expiresAt: expiresAt, expiry: submission.expiration ?? 0)
    channels.keep(broadcast, in: row)
    finishBroadcast(id, count: 0, isStored: true, now: sentAt)
    for session in channels.channels[row]?.listeners ?? [] { sendMissed(row, to: session, now: now) }
  }
}
