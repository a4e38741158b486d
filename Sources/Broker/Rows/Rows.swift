import Basics
import PushModel

/// Who says that a row of the token map is so.
public enum RowCause: Sendable {
  /// The store, before the first turn: it tells of each once, in order.
  case stored
  /// The log of another process, whose row it is. Nothing happens here: neither history nor counters know of it.
  case replicated
  /// Somebody who has a saved state, or an app that has its token again. Doing it twice is the same as once.
  case imported
  /// It is given now.
  case issued
}

/// The one way into the token map. What changes is for the store to hear.
public final class Rows {
  private let registry: Registry
  private let history: History
  private let deliveries: Deliveries
  private let feedback: Feedback

  init(_ registry: Registry, _ history: History, _ deliveries: Deliveries, _ feedback: Feedback) {
    (self.registry, self.history) = (registry, history)
    (self.deliveries, self.feedback) = (deliveries, feedback)
  }

  /// The device's id, made or changed to be as told; nil when there are too many.
  @discardableResult
  public func admit(_ told: DeviceRow, now: Timestamp) -> DeviceID? {
    guard let device = registry.device(told.udid, now: now) else { return nil }
    registry.update(device) { row in
      row.identity = told.identity ?? row.identity
      row.keyFingerprint = told.keyFingerprint ?? row.keyFingerprint
      row.firstSeenAt = told.firstSeenAt ?? row.firstSeenAt
      row.lastSeenAt = told.lastSeenAt ?? row.lastSeenAt
    }
    return device
  }

  /// Gives a fresh install of an app its row, with the token that the secret gives it or one that was chosen; nil when there are too
  /// many.
  func issue(
    _ device: DeviceID, _ topic: TopicID, _ environment: Environment, _ context: TokenContextID? = nil,
    custom: CustomToken? = nil, now: Timestamp
  ) -> RegistrationID? {
    let app = CrowdedDevices.App(topic: topic, environment: environment, context: context)
    guard let install = registry.nextInstall(device, app) else { return nil }
    var row = TokenRow()
    (row.install, row.environment, row.custom) = (install, environment, custom)
    row.context = context.map { registry[$0] }
    if custom == nil {
      row.token = registry.derivedToken(
        registry[device].udid, registry[topic].hash, environment, install: install, context: row.context)
    }
    return admit(row, of: device, topic, because: .issued, now: now)
  }

  /// The id of the row with this token, made, or changed to be as told; nil when there are too many, or it doesn't fit to its device
  /// and its topic. Whoever imports has checked that the token is no other row's.
  public func admit(
    _ told: TokenRow, of device: DeviceID, _ topic: TopicID, because cause: RowCause, now: Timestamp
  ) -> RegistrationID? {
    guard let token = told.custom.map(registry.name(of:)) ?? told.token else { return nil }
    let known = registry.find(token)
    guard known == nil || cause == .replicated || cause == .imported,
      let row = known ?? add(told, token, device, topic, now)
    else { return nil }
    let before = registry[row]
    registry.update(row) { told.tell(&$0, isNew: known == nil, because: cause, now) }
    switch cause {
    case .stored, .replicated:
      feedback.restore(row, waited: before.awaitsFeedback)
    case .imported: imported(row, wasActive: before.isActive, now)
    case .issued: history.noteToken(.issued, row, told.environment, now)
    }
    return row
  }

  private func add(
    _ told: TokenRow, _ token: DeviceToken, _ device: DeviceID, _ topic: TopicID, _ now: Timestamp
  ) -> RegistrationID? {
    let context = told.context.flatMap(registry.contextID)
    guard registry.contains(device), (context == nil) == (told.context == nil) else { return nil }
    let row = Registration(
      token: token, device: device, topic: topic, context: context, install: told.install,
      environment: told.environment, issuedAt: told.issuedAt ?? now)
    let id = registry.add(row, told.custom)
    if let id { deliveries.add(id) }
    return id
  }

  private func imported(_ row: RegistrationID, wasActive: Bool, _ now: Timestamp) {
    let registration = registry[row]
    switch (wasActive, registration.isActive) {
    case (true, false): feedback.add(row)
    case (false, true): feedback.clear([row])
    default: break
    }
    if !registration.isActive { deliveries.drop(row, .discarded, now) }
    deliveries.reroute(row)
    noteAbandoned(row)
    history.noteToken(registration.isActive ? .issued : .gone, row, registration.environment, now)
  }

  /// A device that is there is to look at the row with its next filter.
  func noteAbandoned(_ row: RegistrationID) {
    let registration = registry[row]
    guard registration.isAbandoned, registration.isActive else { return }
    registry.session(of: registration)?.abandoned.insert(row)
  }
}
