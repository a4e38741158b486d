import PushModel

/// Starting over without a restart (`Documentation/console-api.md`). What other parts hold by id stays valid: topics
/// are kept.
extension Broker {
  /// Drops every message that waits for a device, and the broadcasts that channels keep; those on their way stay.
  public func dropKeptMessages(now: Timestamp) {
    for row in slots.kept { drop(row, .discarded, now) }
    channels.dropBroadcasts()
  }

  /// Forgets every device with its tokens, messages and feedback, and ends their connections. Installs are counted from
  /// the beginning, so a device that comes back gets the tokens it had at first.
  public func forgetDevices(now: Timestamp) {
    for session in Array(deliveries.live) {
      disconnect(session, now: now)
      session.outlet.endSession(reason: "every device was reset")
    }
    for row in slots.rows { drop(row, .discarded, now) }
    slots.removeAll()
    deliveries.forgetTurn()
    feedbackQueue.forget()
    registry.forgetDevices()
    foreignFeedback.remove(foreignFeedback.entries.map(\.id))
    channels.forgetSubscriptions()
    journal.forgetRegistrations()
    startsOver = true
  }
}
