import PushModel

/// Putting back a state that was saved, while the emulator may be running. Everything counts as changed, so the store
/// hears of it; doing it twice is the same as once.
extension Broker {
  /// The device's index, made or changed to be as told; nil when there are too many.
  public func importDevice(
    _ udid: UDID, identity: Int32?, keyFingerprint: [UInt8]?, firstSeenAt: Timestamp?, lastSeenAt: Timestamp?,
    now: Timestamp
  ) -> Int32? {
    guard let device = registry.device(udid, now: now) else { return nil }
    registry.updateDevice(device) { row in
      row.identity = identity ?? row.identity
      row.keyFingerprint = keyFingerprint ?? row.keyFingerprint
      row.firstSeenAt = firstSeenAt ?? row.firstSeenAt
      row.lastSeenAt = lastSeenAt ?? row.lastSeenAt
    }
    return device
  }

  /// The index of the row with this token, made or changed to be as told; nil when there are too many. Whoever calls has
  /// checked that the token is no other row's.
  public func importRegistration(_ told: ImportedRegistration, now: Timestamp) -> Int32? {
    guard let index = registry.find(told.token) ?? addImported(told, now: now) else { return nil }
    let wasActive = registry[registration: index].isActive
    registry.update(index) { row in
      row.isAbandoned = told.isAbandoned
      row.issuedAt = told.issuedAt ?? row.issuedAt
      row.goneAt = told.goneAt ?? .never
      row.awaitsFeedback = told.goneAt != nil && (wasActive || row.awaitsFeedback)
    }
    if wasActive != (told.goneAt == nil) {
      feedbackQueue.removeAll { $0 == index }
      if told.goneAt != nil { feedbackQueue.append(index) }
    }
    if told.goneAt != nil { drop(Int(index), .discarded, now) }
    connectSlot(index)
    noteToken(told.goneAt == nil ? .issued : .gone, index, now)
    return index
  }

  /// Messages go to the device's connection if it wants the topic and has the app.
  private func connectSlot(_ index: Int32) {
    let row = registry[registration: index]
    let session = registry.devices[Int(row.device)].session(in: row.environment)
    let isWanted = session?.enabled.contains(registry.topics[Int(row.topic)].hash) ?? false
    slots[Int(index)].session = row.isActive && !row.isAbandoned && isWanted ? session?.index ?? -1 : -1
  }

  private func addImported(_ told: ImportedRegistration, now: Timestamp) -> Int32? {
    let row = Registration(
      token: told.token, device: told.device, topic: told.topic, install: told.install,
      environment: told.environment, isAbandoned: told.isAbandoned, awaitsFeedback: false,
      issuedAt: told.issuedAt ?? now, goneAt: .never, nextOfDevice: -1)
    guard let index = registry.add(row) else { return nil }
    addSlot(for: index)
    return index
  }

  /// Rows of a device that are on the phone, in these apps, but not among those told, are taken off it.
  public func abandonOthers(_ device: Int32, keeping rows: Set<Int32>, now: Timestamp) {
    let told = Set(rows.map { App(registry[registration: $0]) })
    for row in registry.registrations(of: device) where !rows.contains(row) {
      let registration = registry[registration: row]
      guard registration.isActive, !registration.isAbandoned, told.contains(App(registration)) else {
        continue
      }
      abandon(row, now)
    }
  }

  private struct App: Hashable {
    let topic: Int32
    let environment: Environment

    init(_ row: Registration) { (topic, environment) = (row.topic, row.environment) }
  }

  /// Keeps a message for a row, in the place of the one that is there; it goes out if the device is connected. It gets
  /// an entry in the history, as every message has.
  public func importMessage(
    _ submission: Submission, row: Int32, receivedAt: Timestamp, expiresAt: Timestamp, now: Timestamp
  ) {
    let id = record(submission.plain, submission.detail, registration: row, rejection: nil, now: receivedAt)
    counters.accepted += 1
    keep(submission.plain, id: id, slot: Int(row), expiresAt: expiresAt, now: receivedAt)
    guard slots[Int(row)].session >= 0, let session = sessions[Int(slots[Int(row)].session)] else { return }
    sendOrWait(row, session, now)
  }

  /// Makes the entries of these rows the ones that wait in the feedback service, after those of rows that were not told
  /// of.
  public func importFeedback(_ entries: [Int32], ofRows told: Set<Int32>) {
    for row in told where registry[registration: row].awaitsFeedback {
      registry.update(row) { $0.awaitsFeedback = false }
    }
    feedbackQueue.removeAll { told.contains($0) }
    for row in entries where !registry[registration: row].isActive {
      registry.update(row) { $0.awaitsFeedback = true }
      feedbackQueue.append(row)
    }
  }
}

/// A row of the token map as a saved state tells it.
public struct ImportedRegistration {
  public var token: DeviceToken
  public var device: Int32
  public var topic: Int32
  public var install: Int32
  public var environment: Environment
  public var isAbandoned = false
  /// nil for now, or what it is already.
  public var issuedAt: Timestamp?
  /// nil while the token is active.
  public var goneAt: Timestamp?

  public init(token: DeviceToken, device: Int32, topic: Int32, install: Int32, environment: Environment) {
    (self.token, self.device, self.topic) = (token, device, topic)
    (self.install, self.environment) = (install, environment)
  }
}
