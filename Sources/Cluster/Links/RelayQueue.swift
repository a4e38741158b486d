import PushModel

/// Items on their way to the owners of their zones, in order zone by zone: no I/O, no clock.
///
///     add ─ the owner is known, and nothing of the zone is elsewhere ─→ under way ─ verdict ─→ gone
///      └─ else ─→ held ─ the owner is known ─→ under way, or taken here        ├─ not mine ─→ held, in order
///                   └─ too long, thrown away ─→ gone, not done                └─ link lost, too long ─→ gone, nobody knows
///
/// What may have been done is never sent again.
public struct RelayQueue<Item> {
  public enum Seat: Equatable {
    case here
    case at(String)
    case nowhere
  }

  public enum Admission: Equatable {
    /// Say it to this node, under this number.
    case send(String, number: UInt64)
    case held
    /// There is no room: nothing was done.
    case full
  }

  private struct Entry {
    var zone: UInt16
    var size: Int
    var since: Instant
    /// The node that it was said to; nil while it is held.
    var peer: String?
    /// As it was said last.
    var attempt: UInt32 = 0
    /// Not to be said again.
    var isThrownAway = false
    var item: Item
  }

  private let limit: Int
  private var entries: [UInt64: Entry] = [:]
  /// Changed in their place: a copy would cost what all that is held costs.
  private var lines: [UInt16: RelayLine] = [:]
  /// How often something of each zone was put back that had been said.
  private var attempts: [UInt16: UInt32] = [:]
  private var nextNumber: UInt64 = 1
  /// What all of them take, in bytes.
  public private(set) var bytes = 0

  /// `limit` is in bytes.
  public init(limit: Int) { self.limit = limit }

  public var count: Int { entries.count }
  public var hasRoom: Bool { bytes < limit }

  /// Whether nothing of the zone waits or is elsewhere: it may be done here at once.
  @inline(__always)
  public func isClear(_ zone: UInt16) -> Bool { lines.isEmpty || lines[zone] == nil }

  /// Takes an item that `make` makes of its number.
  public mutating func add(
    zone: UInt16, size: Int, seat: Seat, now: Instant, _ make: (UInt64) -> Item
  ) -> Admission {
    guard hasRoom else { return .full }
    let number = nextNumber
    nextNumber += 1
    bytes += size
    let attempt = attempts[zone] ?? 0
    let target: String? = if case .at(let peer) = seat { peer } else { nil }
    let isSaid = lines[zone, default: RelayLine()].admit(number, to: target, attempt: attempt)
    let peer = isSaid ? target : nil
    entries[number] = Entry(
      zone: zone, size: size, since: now, peer: peer, attempt: isSaid ? attempt : 0, item: make(number))
    return peer.map { .send($0, number: number) } ?? .held
  }

  public subscript(number: UInt64) -> Item? { entries[number]?.item }

  /// How an item that is to be said is to be said.
  public func sending(_ number: UInt64) -> (since: Instant, attempt: UInt32)? {
    entries[number].map { ($0.since, $0.attempt) }
  }

  /// A node has answered; the item is answered if it is gone now. With `isMine` false the node has done nothing, and the item is
  /// held, unless it was thrown away.
  public mutating func settle(_ number: UInt64, by peer: String, isMine: Bool) -> Item? {
    guard let entry = entries[number], entry.peer == peer else { return nil }
    if !isMine { return putBack(number) }
    remove(number)
    return entry.item
  }

  /// The link to a node was lost; answers what is gone with it. What was said on it may have been done; with `wasOpen` false nothing
  /// was said, and it is held, unless it was thrown away.
  public mutating func lose(_ peer: String, wasOpen: Bool) -> [Item] {
    let numbers = entries.filter { $0.value.peer == peer }.keys.sorted()
    return numbers.compactMap { number in
      guard wasOpen else { return putBack(number) }
      defer { remove(number) }
      return entries[number]?.item
    }
  }

  /// Nobody wants these any more. Those that are held go, and are answered; those under way are not held again.
  public mutating func throwAway(where isUnwanted: (Item) -> Bool) -> [Item] {
    let numbers = entries.filter { isUnwanted($0.value.item) }.keys.sorted()
    return numbers.compactMap { number in
      guard let entry = entries[number], entry.peer == nil else {
        entries[number]?.isThrownAway = true
        return nil
      }
      remove(number)
      return entry.item
    }
  }

  /// Those that have waited for so long, wherever they are.
  public mutating func takeOverdue(_ now: Instant, after patience: Int64) -> [Item] {
    let numbers = entries.filter { now.nanoseconds(since: $0.value.since) >= patience }.keys.sorted()
    return numbers.compactMap { number in
      defer { remove(number) }
      return entries[number]?.item
    }
  }

  /// Zones of which something is held.
  public var waitingZones: [UInt16] { lines.filter(\.value.hasHeld).keys.sorted() }

  /// What is held of a zone may go on: to a node, under the numbers that they have.
  public mutating func release(_ zone: UInt16, to peer: String) -> [UInt64] {
    let attempt = attempts[zone] ?? 0
    let numbers = lines[zone]?.release(to: peer, attempt: attempt) ?? []
    for number in numbers {
      entries[number]?.peer = peer
      entries[number]?.attempt = attempt
    }
    return numbers
  }

  /// The first that is held of a zone, to be done here; nil when there is none, or something of the zone is elsewhere.
  public mutating func takeFirst(_ zone: UInt16) -> Item? {
    guard let number = lines[zone]?.first else { return nil }
    defer { remove(number) }
    return entries[number]?.item
  }

  // MARK: Books

  /// One that was said is held again, in its order; or it goes, and is answered, as it was thrown away.
  private mutating func putBack(_ number: UInt64) -> Item? {
    guard let entry = entries[number], entry.peer != nil else { return nil }
    entries[number]?.peer = nil
    attempts[entry.zone] = max(attempts[entry.zone] ?? 0, entry.attempt &+ 1)
    lines[entry.zone]?.putBack(number)
    guard entry.isThrownAway else { return nil }
    remove(number)
    return entry.item
  }

  private mutating func remove(_ number: UInt64) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    bytes -= entry.size
    lines[entry.zone]?.remove(number, isHeld: entry.peer == nil)
    if lines[entry.zone]?.isEmpty == true { lines[entry.zone] = nil }
  }
}
