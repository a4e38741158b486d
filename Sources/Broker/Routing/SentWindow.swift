import PushModel

/// The notifications a device has not acknowledged: a queue, since devices acknowledge in order, that also finds others.
///
/// The oldest notification costs one comparison. Any other is looked up in an index that is made when the first one is asked
/// for, so that a device can't make us walk through its window by acknowledging what is not there.
package struct SentWindow {
  package struct Entry {
    package var id: UInt64
    package var registration: RegistrationID
    /// It was its token's newest notification that was to be kept when it was sent.
    package var wasInSlot = true
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
  package private(set) var count = 0
  /// nil while everything is acknowledged in order, and whenever nothing is unacknowledged.
  private var index: SentIndex?

  package init() {}

  /// Entries that memory is held for, as a count.
  package var memory: Int { places.capacity + (index?.memory ?? 0) }

  /// Entries that were looked at for acknowledgements of other than the oldest notification, since all were acknowledged.
  package var steps: Int { index?.steps ?? 0 }

  package mutating func append(_ id: UInt64, _ registration: RegistrationID, isInSlot: Bool = true) {
    places.append(Place(id: id, registration: registration, wasInSlot: isInSlot))
    count += 1
  }

  /// Takes out the notification with this wire id; nil if there is none (a second acknowledgement is harmless).
  @inline(__always)
  package mutating func take(messageId: UInt32) -> Entry? {
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
  package var pending: some Sequence<Entry> { places[head...].lazy.compactMap(\.entry) }

  /// Whether any notification was sent since `takeUnsettled`.
  package var hasUnsettled: Bool { count > 0 && settled < places.count }

  /// The rows of unacknowledged notifications, each notification once however often this is asked: what was stored need not be
  /// stored again for each provider that is told how far it got.
  package mutating func takeUnsettled() -> [RegistrationID] {
    defer { settled = places.count }
    return places[max(head, settled)...].compactMap(\.registration)
  }

  /// Takes out all unacknowledged notifications whose row `belongs`, oldest first.
  package mutating func takeAll(where belongs: (RegistrationID) -> Bool) -> [Entry] {
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
