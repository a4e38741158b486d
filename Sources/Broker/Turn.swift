import PushModel

/// What a turn comes to: broadcasts go on, what changed is told for the store, then devices are sent to, and what they might lose is
/// stored too, before any provider hears of anything (`Sources/ARCHITECTURE.md#promises` 1).
///
///     go on with broadcasts ─→ take changes ─→ (commit) ─→ (flush to devices) ─→ store unsent ─→ take changes ─→ (commit)
public struct Turn {
  let registry: Registry
  let deliveries: Deliveries
  let feedback: Feedback
  let pendingForwards: PendingForwards
  let channels: ChannelTable
  let broadcasts: Broadcasts

  /// Broadcasts are handed to more of those who listen. `hasTime` is asked before each share. Answers whether another turn is wanted.
  public func goOnWithBroadcasts(hasTime: () -> Bool = { true }) -> Bool { broadcasts.goOn(hasTime: hasTime) }

  /// What changed since the last call. The caller commits it before anything of the turn becomes visible.
  public func takeChanges() -> BrokerChanges {
    let (rows, channels) = (registry.takeChanges(), channels.takeChanges())
    return BrokerChanges(
      devices: rows.devices, topics: rows.topics, registrations: rows.registrations,
      messages: deliveries.takeChanges(), foreignFeedback: feedback.takeChanges(),
      pendingForwards: pendingForwards.takeChanges(), channels: channels.channels,
      subscriptions: channels.subscriptions, deletedChannels: channels.deleted,
      broadcasts: channels.broadcasts, startsOver: rows.startsOver)
  }

  /// Call after the devices' connections were flushed, before providers hear anything: messages on their way to a device
  /// that would be lost with this process must be stored first. Answers whether there are any.
  public func storeUnsent() -> Bool { deliveries.storeUnsent() }

  /// A provider on the gateway is told in this turn how far it got.
  public func gatewayAnswers() { deliveries.gatewayAnswers() }
}
