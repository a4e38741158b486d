import PushModel

extension Broker {
  /// What a person does to an app on a phone. Answers the token afterwards, nil where there is none (removed).
  ///
  /// Removing (or reinstalling, or erasing) only abandons the token: providers learn of it when the device is tried
  /// and reports it (`Documentation/binary-protocol.md#feedback`,
  /// `Documentation/provider-api.md#storage-and-delivery`). An update keeps the token.
  public func change(
    _ change: AppChange, device: DeviceID, topic: TopicID, environment: Environment, now: Timestamp
  ) -> DeviceToken? {
    let installed = registry.installed(device, topic, environment)
    let needsRow = change == .reinstall || change == .install && installed == nil
    // Nothing is taken away for an app that can't be put there.
    guard !needsRow || registry.hasRoom(for: device) else { return nil }
    if change == .remove || change == .reinstall, let installed { abandon(installed, now) }
    let token =
      change == .remove
      ? nil : appToken(device: device, topic: topic, environment: environment, now: now)
    registry.session(of: device, in: environment)?.outlet.appChanged(registry[topic].hash, change)
    return token
  }

  /// Erases the phone: every app is gone, its key and base token too, and its connections end.
  public func erase(_ device: DeviceID, now: Timestamp) {
    for row in registry.registrations(of: device) where registry[row].isActive {
      abandon(row, now)
    }
    registry.update(device) { row in
      row.identity += 1
      row.keyFingerprint = []
    }
    history.noteDevice(.erased, device, .sandbox, now)
    for environment in Environment.allCases {
      leaveChannels(of: device, topic: nil, environment)
      guard let session = registry.session(of: device, in: environment) else { continue }
      session.outlet.appChanged(session.enabled.first ?? .zero, .erase)
      end(session, "the device was erased", now)
    }
  }

  /// Ends the device's connections; it may come back. Answers whether there was one.
  public func disconnect(device: DeviceID, reason: String, now: Timestamp) -> Bool {
    let live = Environment.allCases.compactMap { registry.session(of: device, in: $0) }
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
    let registration = registry[row]
    guard registration.device == session.device, registration.isAbandoned || !registration.isActive else {
      return false
    }
    return registry.installed(session.device, registration.topic, registration.environment) == nil
  }

  func abandon(_ row: RegistrationID, _ now: Timestamp) {
    registry.update(row) { $0.isAbandoned = true }
    let registration = registry[row]
    history.noteToken(.removed, row, registration.environment, now)
    slots.route(row, to: nil)
    leaveChannels(of: registration.device, topic: registration.topic, registration.environment)
  }
}

extension TopicHash {
  /// Names no topic.
  static var zero: TopicHash { TopicHash(bytes: [UInt8](repeating: 0, count: byteCount)).unsafelyUnwrapped }
}
