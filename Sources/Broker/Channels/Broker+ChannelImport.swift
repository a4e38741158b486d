import PushModel

/// Channels in saved states: who listens and what is kept.
extension Broker {
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
    let id = recordAccepted(submission, now: sentAt)
    let broadcast = ChannelTable.Broadcast(
      id: id, payload: Array(submission.payload), priority: submission.priority, sentAt: sentAt,
      expiresAt: expiresAt, expiry: submission.expiration ?? 0)
    channels.keep(broadcast, in: row)
    finishBroadcast(id, count: 0, isStored: true, now: sentAt)
    for session in channels.channels[row]?.listeners ?? [] { sendMissed(row, to: session, now: now) }
  }
}
