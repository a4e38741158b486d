import PushModel

/// What a connection to a device, with all identities on it, has under way.
public final class DeviceLink {
  /// Most notifications that may be unacknowledged on one connection, as a count. Beyond it newer ones stay in their slots.
  package static let windowLimit = 8192
  /// Most bytes queued for a connection that the system has not taken, unless the connection says otherwise.
  package static let unsentLimit = 8 << 20
  /// How long providers wait in all for a device that does not follow, in nanoseconds, beyond what it earns. A second
  /// bridges a device that was busy, and is over before anybody's request is.
  static let backPressureLimit: Int64 = 1_000_000_000
  /// What an acknowledged notification earns of that, in nanoseconds: who takes 10,000 notifications a second is waited for all the
  /// time, and no device can hold a provider to fewer.
  static let earnedPerNotification: Int64 = 100_000
  /// Most acknowledgements of what a connection was never given, as a count. Each is cheap; a peer that goes on like this
  /// has lost its way or means harm.
  package static let strayLimit = 1024

  /// The connection, which owns this object and ends its sessions before it goes.
  unowned let outlet: any CourierOutlet
  /// Most bytes queued for this connection that the system has not taken. Beyond it newer notifications stay in their slots.
  package var unsentLimit = DeviceLink.unsentLimit
  /// Sent and not yet acknowledged, oldest first.
  var window = SentWindow()
  /// Bytes queued that the system has not taken, as the connection has said last; there may be fewer by now. So it need not be asked
  /// for each notification.
  private var unsentBytes = 0
  /// Rows whose notification waits in its slot for room in the window.
  var waiting: [RegistrationID] = []
  /// How long providers may still wait, in nanoseconds; below zero after a wait that took longer.
  private(set) var backPressureLeft = DeviceLink.backPressureLimit
  /// Waits are paid for until then.
  private var paidUntil = Instant.distantPast
  /// Strays that are put up with at present.
  private var straysLeft = DeviceLink.strayLimit
  private var lastAcknowledged: UInt32?

  public init(outlet: any CourierOutlet) { self.outlet = outlet }

  /// What is held to remember what is under way, in bytes.
  public var heldBytes: Int { window.memory * MemoryLayout<SentWindow.Entry>.stride }

  /// The connection has queued something besides notifications, or the system has taken some: so many bytes wait now.
  public func noteUnsent(_ bytes: Int) { unsentBytes = bytes }

  @inline(__always)
  private func hasUnsent(atLeast limit: Int) -> Bool {
    unsentBytes >= limit && askForUnsent() >= limit
  }

  @inline(never)
  private func askForUnsent() -> Int {
    unsentBytes = outlet.unsentBytes
    return unsentBytes
  }

  /// Whether another notification may be sent now; otherwise it waits in its slot.
  @inline(__always)
  var hasRoom: Bool {
    window.count < Self.windowLimit && waiting.isEmpty && !hasUnsent(atLeast: unsentLimit)
  }

  /// Whether the system has not taken all that was sent.
  var hasUnsent: Bool { outlet.unsentBytes > 0 }

  /// Whether notifications are under way that the death of this process would lose.
  var mayLoseOutput: Bool { outlet.unsentBytes > 0 || outlet.systemQueuedBytes > 0 }

  /// Whether what waits may go out again; half of the limits, so that this does not flutter.
  var hasCaughtUp: Bool {
    window.count < Self.windowLimit / 2 && outlet.unsentBytes < unsentLimit / 2
  }

  // MARK: Back-pressure

  /// Whether the provider should be slowed down so that the device can follow. Begins at half of the limits, so that
  /// what a provider connection has already read still finds room; a device that was waited for long enough is not waited
  /// for any more.
  @inline(__always)
  var isBehind: Bool {
    guard window.count > Self.windowLimit / 2 || hasUnsent(atLeast: unsentLimit / 2 + 1) else {
      return false
    }
    return backPressureLeft > 0
  }

  /// A provider was held back for this device. The time counts once, however many of them were at the same time.
  public func providerWaited(from start: Instant, until end: Instant) {
    let start = max(start, paidUntil)
    guard end > start else { return }
    backPressureLeft -= end.nanoseconds(since: start)
    paidUntil = end
  }

  /// A device is on this connection that had so much of that time left on its last one.
  func inheritBackPressure(_ left: Int64) { backPressureLeft = min(backPressureLeft, left) }

  // MARK: Acknowledgements

  /// Takes out the notification that an acknowledgement is for; nil if it is a stray.
  @inline(__always)
  func takeAcknowledged(_ messageId: UInt32) -> SentWindow.Entry? {
    guard let entry = window.take(messageId: messageId) else { return nil }
    backPressureLeft = min(backPressureLeft + Self.earnedPerNotification, Self.backPressureLimit)
    straysLeft = min(straysLeft + 1, Self.strayLimit + Self.windowLimit)
    lastAcknowledged = messageId
    return entry
  }

  /// Counts a stray; false when there are too many. Each notification may be acknowledged twice, and the last one as often as
  /// the device likes: known clients do both (`Documentation/device-protocol.md#acknowledgement`,
  /// `#quiet-after-an-answer`).
  func putsUpWithStray(_ messageId: UInt32) -> Bool {
    guard messageId != lastAcknowledged else { return true }
    straysLeft = max(straysLeft - 1, -1)
    return straysLeft >= 0
  }

  /// The device will acknowledge so much that is not in the window: broadcasts, and what was taken out of it.
  func expectStrays(_ count: Int) { straysLeft += count }
}

/// A live connection to a device, as the broker sees it. Implemented by the courier listener.
public protocol CourierOutlet: AnyObject {
  /// Queues one notification for the device; answers the bytes queued that the system has not taken.
  func deliver(_ notification: OutgoingNotification) -> Int
  /// Queues one broadcast that came through a channel.
  func deliver(_ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash)
  /// Bytes queued that the system has not taken.
  var unsentBytes: Int { get }
  /// Bytes that the system has taken and not sent because the device's is full, as of the last flush: the death of this
  /// process loses them.
  var systemQueuedBytes: Int { get }
  /// The device has connected elsewhere, or a person asked for it: end this session.
  func endSession(reason: String)
  /// A person did something to an app on the phone; only our own simulated device understands it.
  func appChanged(_ topic: TopicHash, _ change: AppChange)
  /// How the device is connected.
  var way: DeviceWay { get }
}

extension CourierOutlet {
  public var way: DeviceWay { .courier }
}

/// How a device is connected.
public enum DeviceWay: String, Sendable, CaseIterable {
  /// By the protocol that iPhones speak.
  case courier
  /// By a stream of the console (`Documentation/console-api.md#devices-without-a-device-client`).
  case stream
}
