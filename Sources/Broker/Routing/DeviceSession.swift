import PushModel

/// One identity of a device on a live connection.
public final class DeviceSession {
  /// Most messages that a device may leave unacknowledged, as a count. Beyond it newer ones stay in their slots.
  static let windowLimit = 4096

  /// Most bytes queued for a device that the system has not taken.
  static let unsentLimit = 8 << 20
  /// How long a provider is slowed down for a device that makes no progress, in nanoseconds.
  static let patience: Int64 = 1_000_000_000

  let index: Int32
  public let device: Int32
  public let environment: Environment
  /// The connection; it ends its sessions before it goes.
  public let outlet: any CourierOutlet
  public let connectedAt: Timestamp
  /// Topics that the device wants now.
  public internal(set) var enabled: [TopicHash] = []
  /// Sent and not yet acknowledged, oldest first.
  var window = SentWindow()
  /// Slots that wait for room in the window.
  var waiting: [Int32] = []

  init(
    index: Int32, device: Int32, environment: Environment, outlet: any CourierOutlet, connectedAt: Timestamp
  ) {
    (self.index, self.device, self.environment) = (index, device, environment)
    (self.outlet, self.connectedAt) = (outlet, connectedAt)
    lastProgressAt = connectedAt
  }

  /// When the device last acknowledged something.
  var lastProgressAt: Timestamp

  /// Whether another message may be sent now; otherwise it waits in its slot.
  @inline(__always)
  var hasRoom: Bool {
    window.count < Self.windowLimit && waiting.isEmpty && outlet.unsentBytes < Self.unsentLimit
  }

  /// Whether the provider should be slowed down so that the device can follow. Begins at half of the limits, so that
  /// what a provider connection has already read still finds room; a device that does not answer at all is not waited
  /// for.
  @inline(__always)
  func isBehind(now: Timestamp) -> Bool {
    guard window.count > Self.windowLimit / 2 || outlet.unsentBytes > Self.unsentLimit / 2 else { return false }
    return now.nanoseconds &- lastProgressAt.nanoseconds < Self.patience
  }
}

/// The messages a device has not acknowledged: a queue, since devices acknowledge in order, that also finds others.
struct SentWindow {
  struct Entry {
    var id: UInt64
    /// Row of the token map; -1 once acknowledged out of order.
    var registration: Int32
  }

  private var entries: [Entry] = []
  private var head = 0
  /// Unacknowledged messages, as a count.
  private(set) var count = 0

  mutating func append(_ id: UInt64, _ registration: Int32) {
    entries.append(Entry(id: id, registration: registration))
    count += 1
  }

  /// Takes out the message with this wire id; nil if there is none (a second acknowledgement is harmless).
  mutating func take(messageId: UInt32) -> Entry? {
    var position = head
    while position < entries.count {
      let entry = entries[position]
      if UInt32(truncatingIfNeeded: entry.id) == messageId, entry.registration >= 0 {
        remove(at: position)
        return entry
      }
      position += 1
    }
    return nil
  }

  /// All unacknowledged messages, oldest first.
  var pending: [Entry] { entries[head...].filter { $0.registration >= 0 } }

  private mutating func remove(at position: Int) {
    count -= 1
    entries[position].registration = -1
    guard position == head else { return }
    while head < entries.count, entries[head].registration < 0 { head += 1 }
    compact()
  }

  private mutating func compact() {
    if head == entries.count {
      entries.removeAll(keepingCapacity: head <= DeviceSession.windowLimit && head > 1)
      head = 0
    } else if head > 1024, head * 2 > entries.count {
      entries.removeFirst(head)
      head = 0
    }
  }
}
