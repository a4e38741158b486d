import PushModel

/// Starting over without a restart (`Documentation/console-api.md`). What other parts hold by index stays valid: topics
/// are kept.
extension Broker {
  /// Drops every message that waits for a device, and the broadcasts that channels keep; those on their way stay.
  public func dropKeptMessages(now: Timestamp) {
    for slot in 0..<slots.count where slots[slot].state == .kept { drop(slot, .discarded, now) }
    channels.dropBroadcasts()
  }

  /// Forgets every device with its tokens, messages and feedback, and ends their connections. Installs are counted from
  /// the beginning, so a device that comes back gets the tokens it had at first.
  public func forgetDevices(now: Timestamp) {
    for session in sessions.compactMap(\.self) {
      disconnect(session, now: now)
      session.outlet.endSession(reason: "every device was reset")
    }
    for slot in 0..<slots.count {
      drop(slot, .discarded, now)
      slots[slot].box.free()
    }
    slots.removeAll()
    (dirtySlots, sentThisTurn, answeredThisTurn, feedbackQueue, expiryCursor) = ([], [], [], [], 0)
    registry.forgetDevices()
    foreignFeedback.remove(foreignFeedback.entries.map(\.id))
    channels.forgetSubscriptions()
    journal.forgetRegistrations()
    startsOver = true
  }
}
