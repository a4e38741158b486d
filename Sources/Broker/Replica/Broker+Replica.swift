import PushModel

/// What another process has changed in a part of the token map that it owns, as its log tells: this broker's copy follows. Nothing here
/// is an event of this process: history and counters don't know of it, and no store hears of it.
extension Broker {
  /// Whether a part of the token map is changed here.
  @inline(__always)
  public func owns(_ zone: UInt16) -> Bool {
    guard let ownedZones else { return true }
    return ownedZones.indices.contains(Int(zone)) && ownedZones[Int(zone)]
  }

  /// Ends the connections of a zone's devices.
  public func endSessions(of zone: UInt16, reason: String, now: Timestamp) {
    for session in deliveries.liveSessions where registry[session.device].zone == zone {
      disconnect(session, now: now)
      session.outlet.endSession(reason: reason)
    }
  }

  /// Whether a device's part of the token map is changed here.
  public func owns(_ udid: UDID) -> Bool { registry.zoneOf.map { owns($0(udid)) } ?? true }

  /// Whether a channel is changed here.
  public func owns(channel id: [UInt8]) -> Bool { zoneOfChannel.map { owns($0(id)) } ?? true }

  /// The message that is kept for a token now. False if nobody has the token.
  public func replicateMessage(_ token: DeviceToken, _ head: MessageHead, _ content: MessageContent) -> Bool {
    guard let row = registry.find(token) else { return false }
    deliveries.replicate(KeptMessage(registration: row, head: head, content: content), of: row)
    return true
  }

  /// No message is kept for a token any more. False if nobody has the token.
  public func replicateNoMessage(_ token: DeviceToken) -> Bool {
    guard let row = registry.find(token) else { return false }
    deliveries.replicate(nil, of: row)
    return true
  }
}
