import PushModel

/// Tokens that were chosen by whoever uses them.
extension Broker {
  /// What became of a wish for a token.
  public enum Adoption: Equatable, Sendable {
    /// It is the app's from now on.
    case registered(RegistrationID)
    /// It was the app's before.
    case same(RegistrationID)
    /// It is another's.
    case taken(RegistrationID)
    /// There are so many already, of them or of all tokens.
    case full
  }

  /// Gives an app on a device a token of somebody's own choosing, as if it were installed again where it had another.
  public func adopt(
    _ token: ChosenToken, device: DeviceID, topic: TopicID, environment: Environment, now: Timestamp
  ) -> Adoption {
    let earlier = registry.installed(device, topic, environment)
    if let row = registry.find(token) {
      guard isOwn(row, device, topic, environment) else { return .taken(row) }
      guard row != earlier else { return .same(row) }
      putBack(row, now)
      finishAdoption(row, instead: earlier, now)
      return .same(row)
    }
    guard let fresh = registry.fresh(device, topic, environment, chosen: token),
      let row = admit(fresh, of: device, topic, because: .issued, now: now)
    else { return .full }
    finishAdoption(row, instead: earlier, now)
    return .registered(row)
  }

  private func isOwn(
    _ row: RegistrationID, _ device: DeviceID, _ topic: TopicID, _ environment: Environment
  ) -> Bool { registry[row].device == device && registry[row].isOf(topic, nil, environment) }

  /// An app that was removed has its token again.
  private func putBack(_ row: RegistrationID, _ now: Timestamp) {
    var told = registry.told(row)
    (told.state, told.issuedAt) = (.installed, now)
    _ = admit(told, of: registry[row].device, registry[row].topic, because: .imported, now: now)
  }

  private func finishAdoption(_ row: RegistrationID, instead earlier: RegistrationID?, _ now: Timestamp) {
    if let earlier { abandon(earlier, now) }
    let registration = registry[row]
    deliveries.reroute(row)
    registry.session(of: registration.device, in: registration.environment)?.outlet
      .appChanged(registry[registration.topic].hash, earlier == nil ? .install : .reinstall)
  }

  /// Whether a token that nobody has would find room; counted where it would not.
  public func hasRoomForUnknown() -> Bool {
    let hasRoom = registry.chosenCount < registry.chosenLimit
    if !hasRoom { refusedAdoptions += 1 }
    return hasRoom
  }

  /// Registers a token that nobody has, to a device named after it. nil, and counted, when there are too many.
  public func adoptUnknown(
    _ token: ChosenToken, topic: TopicID, environment: Environment, now: Timestamp
  ) -> RegistrationID? {
    guard registry.chosenCount < registry.chosenLimit, let udid = UDID(token.name),
      let device = registry.device(udid, now: now),
      case .registered(let row) = adopt(
        token, device: device, topic: topic, environment: environment, now: now)
    else {
      refusedAdoptions += 1
      return nil
    }
    return row
  }

  /// Registers the unknown token of a frame, if that is wanted.
  @inline(never)
  func adopt(_ submission: PlainSubmission, now: Timestamp) -> RegistrationID? {
    guard options.adoptsTokens, let topic = submission.topic,
      let token = ChosenToken(bytes: Array(submission.token))
    else { return nil }
    return adoptUnknown(token, topic: topic, environment: submission.environment, now: now)
  }

  /// The topics that are installed on a device.
  public func topics(of device: DeviceID, in environment: Environment) -> [TopicHash] {
    var topics: [TopicHash] = []
    for row in registry.installed(on: device) where registry[row].environment == environment {
      let hash = registry[registry[row].topic].hash
      if !topics.contains(hash) { topics.append(hash) }
    }
    return topics
  }
}
