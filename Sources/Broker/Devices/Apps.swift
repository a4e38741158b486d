import Basics
import PushModel

/// Apps on phones and the tokens they have: what people do to them, what devices ask for, and tokens of somebody's own choosing.
public final class Apps {
  private let registry: Registry
  private let history: History
  private let deliveries: Deliveries
  private let rows: Rows
  private let broadcasts: Broadcasts
  private let devices: Devices
  /// Tokens that were not registered at their first push because there are too many, as a count.
  public private(set) var refusedAdoptions: UInt64 = 0

  init(
    _ registry: Registry, _ history: History, _ deliveries: Deliveries, _ rows: Rows,
    _ broadcasts: Broadcasts, _ devices: Devices
  ) {
    (self.registry, self.history, self.deliveries) = (registry, history, deliveries)
    (self.rows, self.broadcasts, self.devices) = (rows, broadcasts, devices)
  }

  // MARK: What people do

  /// The rows of an app as it is installed now: that of its bundle id, and those of its push types with topics of their own and
  /// of all contexts. Oldest first.
  private func family(_ device: DeviceID, _ app: TopicID, _ environment: Environment) -> [RegistrationID] {
    let suffixed = registry[app].name?.suffixed ?? []
    let topics = Set([app] + suffixed.compactMap { registry.knownTopic(hashed: TopicHash($0)) })
    return registry.installed(on: device).filter {
      registry[$0].environment == environment && topics.contains(registry[$0].topic)
    }
  }

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
    let family = ends ? family(device, topic, environment) : []
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
    if session.isLive, let row = installed(session, hash, context) { abandon(row, now) }
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
      broadcasts.leaveAll(of: device, topic: nil, environment)
      guard let session = registry.session(of: device, in: environment) else { continue }
      session.outlet.appChanged(session.enabled.first ?? TopicHash(), change)
      devices.end(session, "the device was \(change == .erase ? "erased" : "restored")", now)
    }
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
    rows.noteAbandoned(row)
    guard registration.context == nil else { return }
    broadcasts.leaveAll(of: registration.device, topic: registration.topic, registration.environment)
  }

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

  // MARK: What devices ask for

  /// The device wants the token of a topic, or of one context of it: the one it has, or that of a fresh install. nil when
  /// there are too many, of all or of the device: then nothing is kept of what it has said.
  public func appToken(
    _ session: DeviceSession, topic hash: TopicHash, _ context: TokenContext? = nil, now: Timestamp
  ) -> DeviceToken? {
    guard session.isLive else { return nil }
    if let row = installed(session, hash, context) {
      return deliveries.canCarry(row, session) ? registry[row].token : nil
    }
    guard registry.hasRoom(for: session.device), registry.mayUse(hash, session.device),
      let topic = registry.topic(hashed: hash)
    else { return nil }
    let id = context.flatMap(registry.contextID)
    guard (id == nil) == (context == nil) else { return nil }
    return appToken(device: session.device, topic: topic, id, environment: session.environment, now: now)
  }

  /// The row that a device has for what it asks for.
  private func installed(_ session: DeviceSession, _ hash: TopicHash, _ context: TokenContext?)
    -> RegistrationID?
  {
    guard let topic = registry.knownTopic(hashed: hash) else { return nil }
    let id = context.flatMap(registry.knownContext)
    guard (id == nil) == (context == nil) else { return nil }
    return registry.installed(session.device, topic, session.environment, id)
  }

  func appToken(
    device: DeviceID, topic: TopicID, _ context: TokenContextID? = nil, environment: Environment,
    now: Timestamp
  ) -> DeviceToken? {
    if let row = registry.installed(device, topic, environment, context) { return registry[row].token }
    return rows.issue(device, topic, environment, context, now: now).map { registry[$0].token }
  }

  // MARK: Chosen tokens

  /// What became of a request for a token.
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
    _ token: CustomToken, device: DeviceID, topic: TopicID, environment: Environment, now: Timestamp
  ) -> Adoption {
    let earlier = registry.installed(device, topic, environment)
    if let row = registry.find(token) {
      guard isOwn(row, device, topic, environment) else { return .taken(row) }
      guard row != earlier else { return .same(row) }
      putBack(row, now)
      finishAdoption(row, instead: earlier, now)
      return .same(row)
    }
    guard let row = rows.issue(device, topic, environment, custom: token, now: now) else { return .full }
    finishAdoption(row, instead: earlier, now)
    return .registered(row)
  }

  private func isOwn(
    _ row: RegistrationID, _ device: DeviceID, _ topic: TopicID, _ environment: Environment
  ) -> Bool {
    let registration = registry[row]
    return registration.device == device
      && registration.app == .init(topic: topic, environment: environment, context: nil)
  }

  /// An app that was removed has its token again.
  private func putBack(_ row: RegistrationID, _ now: Timestamp) {
    var told = TokenRow(row, of: registry)
    (told.state, told.issuedAt) = (.installed, now)
    _ = rows.admit(told, of: registry[row].device, registry[row].topic, because: .imported, now: now)
  }

  private func finishAdoption(_ row: RegistrationID, instead earlier: RegistrationID?, _ now: Timestamp) {
    if let earlier { abandon(earlier, now) }
    let registration = registry[row]
    deliveries.reroute(row)
    registry.session(of: registration)?.outlet
      .appChanged(registry[registration.topic].hash, earlier == nil ? .install : .reinstall)
  }

  /// Whether a token that nobody has would find room; counted where it would not.
  public func hasRoomForUnknown() -> Bool {
    let hasRoom = registry.customCount < registry.customLimit
    if !hasRoom { refusedAdoptions += 1 }
    return hasRoom
  }

  /// Registers a token that nobody has, to a device named after it. nil, and counted, when there are too many.
  public func adoptUnknown(
    _ token: CustomToken, topic: TopicID, environment: Environment, now: Timestamp
  ) -> RegistrationID? {
    guard registry.customCount < registry.customLimit, let udid = UDID(token.name),
      let device = registry.device(udid, now: now),
      case .registered(let row) = adopt(
        token, device: device, topic: topic, environment: environment, now: now)
    else {
      refusedAdoptions += 1
      return nil
    }
    return row
  }

  /// The topics that are installed on a device.
  public func topics(of device: DeviceID, in environment: Environment) -> [TopicHash] {
    registry.installed(on: device).filter { registry[$0].environment == environment }
      .map { registry[registry[$0].topic].hash }.once
  }
}

/// What a person can do to an app on a phone, or to the phone.
public enum AppChange: String, Sendable, CaseIterable {
  case install, update, reinstall, remove, erase, restore

  /// Whether it is done to the phone, and not to one of its apps.
  public var isOfPhone: Bool { self == .erase || self == .restore }
}
