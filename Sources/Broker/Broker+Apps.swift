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
    let ends = change == .remove || change == .reinstall
    let family = ends ? registry.family(device, topic, environment) : []
    let needed = change == .reinstall ? max(1, family.count) : change == .install && installed == nil ? 1 : 0
    // Nothing is taken away for an app that can't be put there.
    guard needed == 0 || registry.hasRoom(for: device, installs: needed) else { return nil }
    for row in family { abandon(row, now) }
    let token =
      change == .remove
      ? nil : appToken(device: device, topic: topic, environment: environment, now: now)
    if change == .reinstall { issueAgain(family, now) }
    registry.session(of: device, in: environment)?.outlet.appChanged(registry[topic].hash, change)
    return token
  }

  /// An app that is there again asks for the tokens that it had asked for.
  private func issueAgain(_ rows: [RegistrationID], _ now: Timestamp) {
    for id in rows where registry.context(of: id)?.isAskedForAgain ?? true {
      let row = registry[id]
      _ = appToken(
        device: row.device, topic: row.topic, row.context, environment: row.environment, now: now)
    }
  }

  /// A device has no use any more for the token of a context, as its Live Activity has ended.
  public func endToken(
    _ session: DeviceSession, topic hash: TopicHash, _ context: TokenContext, now: Timestamp
  ) {
    guard session.isLive, let topic = registry.knownTopic(hashed: hash),
      let context = registry.knownContext(context),
      let row = registry.installed(session.device, topic, session.environment, context)
    else { return }
    abandon(row, now)
  }

  /// Erases the phone: every app is gone, its key and base token too, and its connections end.
  public func erase(_ device: DeviceID, now: Timestamp) { becomeNew(device, .erase, now) }

  /// What is on the phone comes onto a new one from a backup: key, base token and all tokens are others, and its apps are
  /// there. Answers whether there was room for their rows; without it nothing is done.
  public func restore(_ device: DeviceID, now: Timestamp) -> Bool {
    let apps = registry.installed(on: device)
    guard registry.hasRoom(for: device, installs: apps.count) else { return false }
    becomeNew(device, .restore, now)
    issueAgain(apps, now)
    return true
  }

  /// The phone has nothing any more that Apple gave it.
  private func becomeNew(_ device: DeviceID, _ change: AppChange, _ now: Timestamp) {
    for row in registry.registrations(of: device) where registry[row].isActive {
      abandon(row, now)
    }
    registry.update(device) { row in
      row.countIdentity()
      row.keyFingerprint = []
    }
    history.noteDevice(change == .erase ? .erased : .restored, device, .sandbox, now)
    for environment in Environment.allCases {
      leaveChannels(of: device, topic: nil, environment)
      guard let session = registry.session(of: device, in: environment) else { continue }
      session.outlet.appChanged(session.enabled.first ?? .zero, change)
      end(session, "the device was \(change == .erase ? "erased" : "restored")", now)
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
    return registry.installed(
      session.device, registration.topic, registration.environment, registration.context) == nil
  }

  func abandon(_ row: RegistrationID, _ now: Timestamp) {
    registry.update(row) { $0.isAbandoned = true }
    let registration = registry[row]
    history.noteToken(.removed, row, registration.environment, now)
    deliveries.route(row, to: nil)
    noteAbandoned(row)
    guard registration.context == nil else { return }
    leaveChannels(of: registration.device, topic: registration.topic, registration.environment)
  }
}

extension Broker {
  /// A device that is there is to look at the row with its next filter.
  func noteAbandoned(_ row: RegistrationID) {
    let registration = registry[row]
    guard registration.isAbandoned, registration.isActive else { return }
    registry.session(of: registration.device, in: registration.environment)?.abandoned.insert(row)
  }
}

extension TopicHash {
  /// Names no topic.
  static var zero: TopicHash { TopicHash(bytes: [UInt8](repeating: 0, count: byteCount)).unsafelyUnwrapped }
}
