import PushModel

/// What a connection to a device, with all identities on it, has under way.
public final class DeviceLink {
  /// Most messages that may be unacknowledged on one connection, as a count. Beyond it newer ones stay in their slots.
  static let windowLimit = 8192
  /// Most bytes queued for a connection that the system has not taken.
  static let unsentLimit = 8 << 20
  /// How long a provider is slowed down for a device that makes no progress, in nanoseconds.
  static let patience: Int64 = 1_000_000_000

  /// The connection, which owns this object and ends its sessions before it goes.
  unowned let outlet: any CourierOutlet
  /// Sent and not yet acknowledged, oldest first.
  var window = SentWindow()
  /// Rows whose message waits in its slot for room in the window.
  var waiting: [Int32] = []
  /// When the device last acknowledged something, or began to have something to acknowledge.
  var lastProgressAt: Timestamp

  public init(outlet: any CourierOutlet, now: Timestamp) {
    self.outlet = outlet
    lastProgressAt = now
  }

  /// A message is handed to the connection.
  @inline(__always)
  func noteSent(_ id: UInt64, _ row: Int32, now: Timestamp) {
    if window.count == 0 { lastProgressAt = now }
    window.append(id, row)
  }

  /// Whether another message may be sent now; otherwise it waits in its slot.
  @inline(__always)
  var hasRoom: Bool {
    window.count < Self.windowLimit && waiting.isEmpty && outlet.unsentBytes < Self.unsentLimit
  }

  /// Whether messages are under way that the death of this process would lose.
  var mayLoseOutput: Bool { outlet.unsentBytes > 0 || outlet.systemQueuedBytes > 0 }

  /// Whether what waits may go out again; half of the limits, so that this does not flutter.
  var hasCaughtUp: Bool {
    window.count < Self.windowLimit / 2 && outlet.unsentBytes < Self.unsentLimit / 2
  }

  /// Whether the provider should be slowed down so that the device can follow. Begins at half of the limits, so that
  /// what a provider connection has already read still finds room; a device that does not answer at all is not waited
  /// for.
  @inline(__always)
  func isBehind(now: Timestamp) -> Bool {
    guard window.count > Self.windowLimit / 2 || outlet.unsentBytes > Self.unsentLimit / 2 else {
      return false
    }
    return now.nanoseconds &- lastProgressAt.nanoseconds < Self.patience
  }
}
