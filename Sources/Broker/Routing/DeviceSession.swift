import PushModel

/// One identity of a device on a live connection.
public final class DeviceSession {
  let id: SessionID
  public let device: DeviceID
  public let environment: Environment
  public let link: DeviceLink
  /// The connection, which lets its sessions go when it ends.
  public let outlet: any CourierOutlet
  public let connectedAt: Timestamp
  /// The turn in which it was handed a message last, by the count of `Deliveries`.
  var turn: UInt64 = 0
  /// Topics that the device wants now.
  public internal(set) var enabled: [TopicHash] = []
  /// It has said so at least once.
  var hasFilter = false
  /// Rows of apps that were taken off the phone since it said so last: whether it has to report them, the next time tells.
  var abandoned: Set<RegistrationID> = []

  /// Broadcast channels that it listens to, by row.
  var joined: [Int64: ChannelMembership] = [:]

  init(
    id: SessionID, device: DeviceID, environment: Environment, link: DeviceLink, connectedAt: Timestamp
  ) {
    (self.id, self.device, self.environment) = (id, device, environment)
    (self.link, self.connectedAt) = (link, connectedAt)
    outlet = link.outlet
  }

  /// Hands a message of a row to the connection.
  @inline(__always)
  func deliver(_ message: OutgoingMessage, of row: RegistrationID, isInSlot: Bool) {
    link.window.append(message.head.id, row, isInSlot: isInSlot)
    link.noteUnsent(outlet.deliver(message))
  }
}

/// How far a device that is connected got in a channel.
struct ChannelMembership {
  /// Its place among those who listen.
  let place: Int
  /// The first broadcast under way that is for it, by the number of `BroadcastQueue`.
  let joinedAt: UInt64
  /// The newest broadcast that it has, as it said itself, or as remembered from its last connection.
  var seenUntil: Timestamp
  /// The newest broadcast that was sent on this connection.
  var sentUntil = Timestamp(nanoseconds: .min)

  /// What is remembered when the connection ends.
  var reached: Timestamp { max(seenUntil, sentUntil) }
}
