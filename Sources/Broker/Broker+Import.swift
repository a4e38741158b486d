import PushModel

/// Putting back a state that was saved, while the emulator may be running. Everything counts as changed, so the store
/// hears of it; doing it twice is the same as once.
extension Broker {
  /// Rows of a device that are on the phone, in these apps, but not among those told, are taken off it.
  public func abandonOthers(_ device: DeviceID, keeping rows: Set<RegistrationID>, now: Timestamp) {
    let told = Set(rows.map { registry[$0].app })
    for row in registry.registrations(of: device) where !rows.contains(row) {
      let registration = registry[row]
      guard registration.isActive, !registration.isAbandoned, told.contains(registration.app) else {
        continue
      }
      abandon(row, now)
    }
  }

  /// Stores a message for a row, in the place of the one that is there; it goes out if the device is connected. It gets
  /// an entry in the history, as every message has.
  public func importMessage(
    _ submission: Submission, row: RegistrationID, receivedAt: Timestamp, expiresAt: Timestamp, now: Timestamp
  ) {
    let id = history.received(submission.plain, submission.detail, registration: row, now: receivedAt)
    history.counters.accepted += 1
    let head = MessageHead(submission.plain, id: id, expiresAt: expiresAt, now: receivedAt)
    deliveries.store(head, submission.plain.content, in: row, now: receivedAt)
    deliveries.sendStored(row, now: now)
  }
}
