import Basics
import PushModel

/// Devices as they come and go: who is connected, and what each wants.
public final class Devices {
  private let registry: Registry
  private let history: History
  private let deliveries: Deliveries
  private let feedback: Feedback
  private let broadcasts: Broadcasts

  init(
    _ registry: Registry, _ history: History, _ deliveries: Deliveries, _ feedback: Feedback,
    _ broadcasts: Broadcasts
  ) {
    (self.registry, self.history, self.deliveries) = (registry, history, deliveries)
    (self.feedback, self.broadcasts) = (feedback, broadcasts)
  }

  /// What a device gets for connecting.
  public struct Connected {
    public var session: DeviceSession
    public var baseToken: DeviceToken
    /// The device already had this base token, so it need not be told.
    public var tokenWasKnown: Bool
  }

  /// A device has proved who it is. An older session of the same device in the same environment is ended: the newest
  /// connection wins. nil when there are too many devices.
  public func connect(
    _ udid: UDID, keyFingerprint: [UInt8], environment: Environment, offeredBaseToken: DeviceToken?,
    link: DeviceLink, now: Timestamp
  ) -> Connected? {
    guard let device = registry.device(udid, now: now) else { return nil }
    if let older = registry.session(of: device, in: environment) {
      sessionEnded(older, now: now)
      if older.link !== link { older.outlet.endSession(reason: "the device connected again") }
    }
    noteKey(keyFingerprint, of: device, now: now)
    link.inheritBackPressure(registry[device].backPressureLeft)
    let session = deliveries.open(device, environment, link, at: now)
    broadcasts.resume(session)
    registry.setSession(session, of: device, in: environment)
    history.noteDevice(.connected, device, environment, now)
    let baseToken = registry.baseToken(device, environment)
    return Connected(session: session, baseToken: baseToken, tokenWasKnown: offeredBaseToken == baseToken)
  }

  /// Another key is another identity, which has another base token
  /// (`Documentation/device-protocol.md#tokens-and-sessions`).
  private func noteKey(_ fingerprint: [UInt8], of device: DeviceID, now: Timestamp) {
    registry.update(device) { row in
      row.lastSeenAt = now
      guard row.keyFingerprint != fingerprint else { return }
      if !row.keyFingerprint.isEmpty { row.countIdentity() }
      row.keyFingerprint = fingerprint
    }
  }

  /// The connection of a session has ended: what it has not acknowledged is stored again, unless a newer one is there.
  public func sessionEnded(_ session: DeviceSession, now: Timestamp) {
    guard session.isLive else { return }
    broadcasts.suspend(session)
    history.noteDevice(.disconnected, session.device, session.environment, now)
    registry.update(session.device) { row in
      row.lastSeenAt = now
      row.backPressureLeft = session.link.backPressureLeft
    }
    if registry.session(of: session.device, in: session.environment) === session {
      registry.setSession(nil, of: session.device, in: session.environment)
    }
    deliveries.close(session, now: now)
  }

  /// The device says which topics it wants: the whole set, replacing the earlier one
  /// (`Documentation/device-protocol.md#filter`). What is stored for topics that are newly wanted goes out; answers how
  /// much there was.
  @discardableResult
  public func setFilter(_ session: DeviceSession, enabled: [TopicHash], now: Timestamp) -> Int {
    // What an ended session still had to say must not claim notifications for whoever has its number now.
    guard session.isLive else { return 0 }
    let isFirst = !session.hasFilter
    guard isFirst || enabled != session.enabled || !session.abandoned.isEmpty else { return 0 }
    let (before, wanted) = (Set(session.enabled), Set(enabled))
    (session.enabled, session.hasFilter) = (enabled, true)
    for row in session.abandoned where registry[row].isAbandoned { reportIfPushed(row, now: now) }
    session.abandoned = []
    let fresh = isFirst ? routeAll(session, wanted, now) : reroute(session, from: before, to: wanted)
    let count = deliveries.sendStored(of: fresh, to: session, now: now)
    broadcasts.sendMissed(to: session, of: isFirst ? wanted : wanted.subtracting(before), now: now)
    return count
  }

  /// The first filter of a session: looks at all rows of the device, and answers those whose notifications go there from now on.
  private func routeAll(_ session: DeviceSession, _ wanted: Set<TopicHash>, _ now: Timestamp)
    -> [RegistrationID]
  {
    var fresh: [RegistrationID] = []
    for row in registry.registrations(of: session.device) {
      let registration = registry[row]
      guard registration.environment == session.environment, registration.isActive else { continue }
      if registration.isAbandoned {
        reportIfPushed(row, now: now)
      } else {
        let isWanted = wanted.contains(registry[registration.topic].hash)
        if deliveries.route(row, to: isWanted ? session : nil) { fresh.append(row) }
      }
    }
    return fresh
  }

  /// A later filter, of which a device may send many: looks only at rows of the topics that are in one of both.
  private func reroute(
    _ session: DeviceSession, from before: Set<TopicHash>, to wanted: Set<TopicHash>
  ) -> [RegistrationID] {
    guard before != wanted else { return [] }
    var fresh: [RegistrationID] = []
    for hash in before.symmetricDifference(wanted) {
      guard let topic = registry.knownTopic(hashed: hash) else { continue }
      for row in registry.registrations(of: session.device, topic) {
        let registration = registry[row]
        guard registration.environment == session.environment, registration.isActive,
          !registration.isAbandoned
        else { continue }
        if deliveries.route(row, to: wanted.contains(hash) ? session : nil) { fresh.append(row) }
      }
    }
    return fresh
  }

  /// An abandoned app is found out when a notification is tried: the stored one counts as such a try.
  private func reportIfPushed(_ row: RegistrationID, now: Timestamp) {
    if deliveries.stored(row) != nil { feedback.reportGone(row, now: now) }
  }

  /// The phone of a device tells what it has made of a notification. Of one that did not go there it says nothing.
  public func phoneTold(_ step: PhoneStep, of id: UInt64, on udid: UDID, now: Timestamp) {
    guard let record = history.journal[id] else { return }
    let isForIt =
      record.registration.map { registry[registry[$0].device].udid == udid } ?? record.presentedToken.isEmpty
    if isForIt { history.toldByPhone(id, step, now) }
  }

  // MARK: Ending connections

  /// Ends the device's connections; the device may reconnect. Answers whether there was one.
  public func disconnect(device: DeviceID, reason: String, now: Timestamp) -> Bool {
    let live = Environment.allCases.compactMap { registry.session(of: device, in: $0) }
    for session in live { end(session, reason, now) }
    return !live.isEmpty
  }

  /// Ends the connections of a zone's devices.
  public func endSessions(of zone: UInt16, reason: String, now: Timestamp) {
    for session in deliveries.liveSessions(from: 0, budget: .max).0
    where registry[session.device].zone == zone {
      end(session, reason, now)
    }
  }

  /// Ends those of so many connections, by their places, from one place on, as `Broker.forgetDevices` does with all. Answers the place
  /// to go on at; nil after the last.
  public func endSessions(from start: Int, budget: Int, now: Timestamp) -> Int? {
    let (sessions, next) = deliveries.liveSessions(from: start, budget: budget)
    for session in sessions { end(session, "every device was reset", now) }
    return next
  }

  func end(_ session: DeviceSession, _ reason: String, _ now: Timestamp) {
    sessionEnded(session, now: now)
    session.outlet.endSession(reason: reason)
  }
}
