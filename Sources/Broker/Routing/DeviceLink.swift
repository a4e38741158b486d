import Basics
import PushModel

/// What a connection to a device, with all identities on it, has under way.
public final class DeviceLink {
  /// Most notifications that may be unacknowledged on one connection, as a count. Beyond it newer ones stay in their slots.
  public static let windowLimit = 8192
  /// Most bytes queued for a connection that the system has not taken, unless the connection says otherwise.
  public static let unsentLimit = 8 << 20
  /// How long providers wait in all for a device that does not follow, in nanoseconds, beyond what it earns. A second
  /// bridges a device that was busy, and is over before anybody's request is.
  static let backPressureLimit: Int64 = 1_000_000_000
  /// What an acknowledged notification earns of that, in nanoseconds: who takes 10,000 notifications a second is waited for all the
  /// time, and no device can hold a provider to fewer.
  static let earnedPerNotification: Int64 = 100_000
  /// Most acknowledgements of what a connection was never given, as a count. Each is cheap; a peer that goes on like this
  /// has lost its way or means harm.
  public static let strayLimit = 1024

  /// The connection, which owns this object and ends its sessions before it goes.
  unowned let outlet: any CourierOutlet
  /// Most bytes queued for this connection that the system has not taken. Beyond it newer notifications stay in their slots.
  public var unsentLimit: Int {
    get { mostUnsent }
    set { mostUnsent = newValue }
  }
  private var mostUnsent = DeviceLink.unsentLimit
  /// Sent and not yet acknowledged, oldest first.
  public private(set) var window = SentWindow()
  /// How many that are: asked for with each push, which is not to look into the window.
  private var windowCount = 0
  /// Bytes queued that the system has not taken, as the connection has said last; there may be fewer by now. So it need not be asked
  /// for each notification.
  private var unsentBytes = 0
  /// Rows whose notification waits in its slot for room in the window.
  public private(set) var waiting: [RegistrationID] = []
  private var hasWaiting = false
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
    windowCount < Self.windowLimit && !hasWaiting && !hasUnsent(atLeast: mostUnsent)
  }

  /// Whether the system has not taken all that was sent.
  var hasUnsent: Bool { outlet.unsentBytes > 0 }

  /// Whether notifications are under way that the death of this process would lose.
  var mayLoseOutput: Bool { outlet.unsentBytes > 0 || outlet.systemQueuedBytes > 0 }

  /// Whether what waits may go out again; half of the limits, so that this does not flutter.
  var hasCaughtUp: Bool {
    windowCount < Self.windowLimit / 2 && outlet.unsentBytes < mostUnsent / 2
  }

  // MARK: What is under way

  /// Another notification is on its way.
  @inline(__always)
  func noteSent(_ id: UInt64, _ row: RegistrationID, isInSlot: Bool) {
    window.append(id, row, isInSlot: isInSlot)
    windowCount = window.count
  }

  /// Takes out all unacknowledged notifications whose row `belongs`, oldest first.
  func takeAll(where belongs: (RegistrationID) -> Bool) -> [SentWindow.Entry] {
    defer { windowCount = window.count }
    return window.takeAll(where: belongs)
  }

  /// Rows of unacknowledged notifications, each notification once however often this is asked.
  func takeUnsettled() -> [RegistrationID] { window.takeUnsettled() }

  /// A row's notification waits for room.
  func wait(_ row: RegistrationID) {
    waiting.append(row)
    hasWaiting = true
  }

  /// Takes out the rows that wait, or those of them that `belongs` names.
  func takeWaiting(where belongs: (RegistrationID) -> Bool = { _ in true }) -> [RegistrationID] {
    let taken = waiting.filter(belongs)
    waiting.removeAll(where: belongs)
    hasWaiting = !waiting.isEmpty
    return taken
  }

  /// Whether anything waits for room.
  @inline(__always)
  var isWaitedFor: Bool { hasWaiting }

  // MARK: Back-pressure

  /// Whether the provider should be slowed down so that the device can follow. Begins at half of the limits, so that
  /// what a provider connection has already read still finds room; a device that was waited for long enough is not waited
  /// for any more.
  @inline(__always)
  public var isBehind: Bool {
    guard windowCount > Self.windowLimit / 2 || hasUnsent(atLeast: mostUnsent / 2 + 1) else {
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
    windowCount = window.count
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

/// The notifications a device has not acknowledged: a queue, since devices acknowledge in order, that also finds others.
///
/// The oldest notification costs one comparison. Any other is looked up in an index that is made when the first one is asked
/// for, so that a device can't make us walk through its window by acknowledging what is not there.
public struct SentWindow {
  public struct Entry {
    public var id: UInt64
    public var registration: RegistrationID
    /// It was its token's newest notification that was to be kept when it was sent.
    public var wasInSlot = true
  }

  /// An entry's place in the queue, also once it was taken out of order.
  fileprivate struct Place {
    var id: UInt64
    @Packed var registration: RegistrationID?
    var wasInSlot: Bool

    var entry: Entry? { registration.map { Entry(id: id, registration: $0, wasInSlot: wasInSlot) } }
  }

  private var places: [Place] = []
  private var head = 0
  /// Those before this place have been looked at by `takeUnsettled`.
  private var settled = 0
  /// Unacknowledged notifications, as a count.
  public private(set) var count = 0
  /// nil while everything is acknowledged in order, and whenever nothing is unacknowledged.
  private var index: SentIndex?

  public init() {}

  /// Entries that memory is held for, as a count.
  public var memory: Int { places.capacity + (index?.memory ?? 0) }

  /// Entries that were looked at for acknowledgements of other than the oldest notification, since all were acknowledged.
  public var steps: Int { index?.steps ?? 0 }

  public mutating func append(_ id: UInt64, _ registration: RegistrationID, isInSlot: Bool = true) {
    places.append(Place(id: id, registration: registration, wasInSlot: isInSlot))
    count += 1
  }

  /// Takes out the notification with this wire id; nil if there is none (a second acknowledgement is harmless).
  @inline(__always)
  public mutating func take(messageId: UInt32) -> Entry? {
    guard head < places.count, courierMessageID(places[head].id) == messageId else {
      return takeOther(messageId)
    }
    let entry = places[head].entry
    remove(at: head)
    return entry
  }

  @inline(never)
  private mutating func takeOther(_ messageId: UInt32) -> Entry? {
    guard count > 0 else { return nil }
    let index = index ?? SentIndex()
    self.index = index
    index.fill(from: places, head: head, count: count)
    guard let position = index.remove(messageId), position >= head, let entry = places[position].entry else {
      return nil
    }
    remove(at: position)
    return entry
  }

  /// All unacknowledged notifications, oldest first.
  public var pending: some Sequence<Entry> { places[head...].lazy.compactMap(\.entry) }

  /// Whether any notification was sent since `takeUnsettled`.
  public var hasUnsettled: Bool { settled < places.count }

  /// The rows of unacknowledged notifications, each notification once however often this is asked: what was stored need not be
  /// stored again for each provider that is told how far it got.
  public mutating func takeUnsettled() -> [RegistrationID] {
    defer { settled = places.count }
    return places[max(head, settled)...].compactMap(\.registration)
  }

  /// Takes out all unacknowledged notifications whose row `belongs`, oldest first.
  public mutating func takeAll(where belongs: (RegistrationID) -> Bool) -> [Entry] {
    let (all, taken) = (Array(pending), pending.filter { belongs($0.registration) })
    places = all.filter { !belongs($0.registration) }.map {
      Place(id: $0.id, registration: $0.registration, wasInSlot: $0.wasInSlot)
    }
    (head, settled, count) = (0, 0, places.count)
    index = nil
    return taken
  }

  private mutating func remove(at position: Int) {
    count -= 1
    places[position].registration = nil
    guard position == head else { return closeGaps() }
    while head < places.count, places[head].registration == nil { head += 1 }
    compact()
  }

  /// A device may leave its first notification unacknowledged for ever; what it did acknowledge must not pile up behind it.
  private mutating func closeGaps() {
    guard places.count - head > 2 * count + 64 else { return }
    places = places[head...].filter { $0.registration != nil }
    (head, settled) = (0, 0)
    index?.startOver()
  }

  private mutating func compact() {
    if head == places.count {
      // A busy connection keeps its memory, one that got a single notification does not.
      places.removeAll(keepingCapacity: head > 1 && places.capacity <= 4 * DeviceLink.windowLimit)
      (head, settled) = (0, 0)
      index = nil
    } else if head > 1024, head * 2 > places.count {
      places.removeFirst(head)
      index?.dropFirst(head)
      (head, settled) = (0, max(0, settled - head))
    }
  }
}

/// Where in a `SentWindow` a notification is, by its wire id.
///
/// It is filled up at each question, so every notification enters it at most once and notifications that are acknowledged in order
/// never do. It may still name what has gone since; whoever asks looks.
private final class SentIndex {
  /// By numbers that count on when entries are dropped from the front of the window.
  private var numbers: [UInt32: Int] = [:]
  private var dropped = 0
  /// The number of the first entry that has not been looked at.
  private var next = 0
  /// Entries looked at so far, as a count.
  private(set) var steps = 0

  /// Entries that memory is held for, as a count.
  var memory: Int { numbers.capacity }

  /// Takes up what came since the last question. `count` of the entries from `head` on are unacknowledged.
  func fill(from places: [SentWindow.Place], head: Int, count: Int) {
    // Mostly of notifications that have gone: cheaper to make again.
    if numbers.count > 2 * count + 64 { startOver() }
    let start = max(next - dropped, head)
    for position in start..<max(start, places.count) {
      steps += 1
      guard places[position].registration != nil else { continue }
      numbers[courierMessageID(places[position].id)] = dropped + position
    }
    next = dropped + places.count
  }

  /// Forgets an id; answers where its notification was.
  func remove(_ messageId: UInt32) -> Int? { numbers.removeValue(forKey: messageId).map { $0 - dropped } }

  /// The window has dropped so many entries from its front.
  func dropFirst(_ count: Int) { dropped += count }

  /// The positions of all entries have changed.
  func startOver() { (numbers, dropped, next) = ([:], 0, 0) }
}
