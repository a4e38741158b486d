import PushModel

extension Broker {
  /// What changed since the last call. The caller commits it before anything of the turn becomes visible.
  public func takeChanges() -> BrokerChanges {
    defer { startsOver = false }
    let (rows, channels) = (registry.takeChanges(), self.channels.takeChanges())
    var changes = BrokerChanges(
      devices: rows.devices, topics: rows.topics, registrations: rows.registrations,
      messages: deliveries.takeChanges(), foreignFeedback: feedback.takeChanges(),
      pendingForwards: pendingForwards.takeChanges(), channels: channels.channels,
      subscriptions: channels.subscriptions, startsOver: startsOver)
    (changes.deletedChannels, changes.broadcasts) = (channels.deleted, channels.broadcasts)
    return changes
  }

  /// The message of a row, whether it waits or is on its way; nil if there is none.
  public func keptMessage(_ row: RegistrationID) -> KeptMessage? { deliveries.message(row) }

  /// Call after the devices' connections were flushed, before providers hear anything: messages on their way to a device
  /// that would be lost with this process must be stored first. Answers whether there are any.
  public func storeUnsent() -> Bool {
    deliveries.storeUnsent()
  }

  /// A provider on the gateway is told in this turn how far it got.
  public func gatewayAnswers() { deliveries.gatewayAnswers() }

  /// Whether any device has messages that it has not acknowledged.
  public var hasUnacknowledged: Bool { deliveries.hasUnacknowledged }

  /// Drops stored notifications whose time is over, looking at `budget` rows and going on there next time.
  public func dropExpired(now: Timestamp, budget: Int) {
    deliveries.dropExpired(now: now, budget: budget) { owns(registry[$0].zone) }
  }

  // MARK: Loading, before the first turn

  /// Puts back a topic; ids must come in order.
  public func restoreTopic(hash: TopicHash, name: Topic?) {
    registry.restoreTopic(hash, name)
  }

  /// Puts back a kept message. Its history is gone, so its id only tells it apart on the wire.
  public func restore(_ message: KeptMessage) {
    deliveries.restore(message)
  }
}
