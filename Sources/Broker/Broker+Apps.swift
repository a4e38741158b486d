import PushModel

extension Broker {
  /// What a person does to an app on a phone. Answers the token afterwards, nil where there is none (removed).
  ///
  /// Removing (or reinstalling, or erasing) only abandons the token: providers learn of it when the device is tried
  /// and reports it (`Documentation/binary-protocol.md#feedback`,
  /// `Documentation/provider-api.md#storage-and-delivery`). An update keeps the token.
  public func change(
    _ change: AppChange, device: Int32, topic: Int32, environment: Environment, now: Timestamp
  ) -> DeviceToken? {
    let installed = registry.installed(device, topic, environment)
    let needsRow = change == .reinstall || change == .install && installed == nil
    // Nothing is taken away for an app that can't be put there.
    guard !needsRow || registry.hasRoom(for: device) else { return nil }
    if change == .remove || change == .reinstall, let installed { abandon(installed, now) }
    let token =
      change == .remove
      ? nil : appToken(device: device, topic: topic, environment: environment, now: now)
    let outlet = registry.devices[Int(device)].session(in: environment)?.outlet
    outlet?.appChanged(registry.topics[Int(topic)].hash, change)
    return token
  }

  /// Erases the phone: every app is gone, its key and base token too, and its connections end.
  public func erase(_ device: Int32, now: Timestamp) {
    for row in registry.registrations(of: device) where registry[registration: row].isActive {
      abandon(row, now)
    }
    registry.updateDevice(device) { row in
      row.identity += 1
      row.keyFingerprint = []
    }
    noteDevice(.erased, device, .sandbox, now)
    for environment in Environment.allCases {
      leaveChannels(of: device, topic: nil, environment)
      guard let session = registry.devices[Int(device)].session(in: environment) else { continue }
      session.outlet.appChanged(session.enabled.first ?? registry.topics.first?.hash ?? .zero, .erase)
      end(session, "the device was erased", now)
    }
  }

  /// Ends the device's connections; it may come back. Answers whether there was one.
  public func disconnect(device: Int32, reason: String, now: Timestamp) -> Bool {
    let live = Environment.allCases.compactMap { registry.devices[Int(device)].session(in: $0) }
    for session in live { end(session, reason, now) }
    return !live.isEmpty
  }

  private func end(_ session: DeviceSession, _ reason: String, _ now: Timestamp) {
    disconnect(session, now: now)
    session.outlet.endSession(reason: reason)
  }

  /// Whether the app with this token was removed from the device, and not installed again since.
  public func wasRemoved(_ token: DeviceToken, from session: DeviceSession) -> Bool {
    guard let row = registry.find(token) else { return false }
    let registration = registry[registration: row]
    guard registration.device == session.device, registration.isAbandoned || !registration.isActive else {
      return false
    }
    return registry.installed(session.device, registration.topic, registration.environment) == nil
  }

  func abandon(_ row: Int32, _ now: Timestamp) {
    registry.update(row) { $0.isAbandoned = true }
    noteToken(.removed, row, now)
    slots[Int(row)].session = -1
    let registration = registry[registration: row]
    leaveChannels(of: registration.device, topic: registration.topic, registration.environment)
  }

  /// The device was tried and said that the app is gone: the token is dead from now on, and the feedback service and
  /// 410 tell it.
  func reportGone(_ row: Int32, now: Timestamp) {
    guard registry[registration: row].isActive else { return }
    registry.update(row) {
      $0.goneAt = now
      $0.awaitsFeedback = true
    }
    feedbackQueue.append(row)
    noteToken(.gone, row, now)
    drop(Int(row), .discarded, now)
  }

  /// Entries of the feedback service for these topics in this environment, oldest first.
  public func feedback(topics: Set<Int32>, environment: Environment) -> [Int32] {
    feedbackQueue.filter {
      let row = registry[registration: $0]
      return topics.contains(row.topic) && row.environment == environment
    }
  }

  /// All entries of the feedback service, oldest first.
  public var allFeedback: [Int32] { feedbackQueue }

  /// Entries that wait to be read from the feedback service, foreign ones included, as a count.
  public var feedbackCount: Int { feedbackQueue.count + foreignFeedback.entries.count }

  /// The entries were written whole to a provider.
  public func clearFeedback(_ rows: [Int32]) {
    let cleared = Set(rows)
    feedbackQueue.removeAll { cleared.contains($0) }
    for row in rows { registry.update(row) { $0.awaitsFeedback = false } }
  }
}

extension TopicHash {
  /// Names no topic.
  static var zero: TopicHash { TopicHash(bytes: [UInt8](repeating: 0, count: byteCount)).unsafelyUnwrapped }
}
