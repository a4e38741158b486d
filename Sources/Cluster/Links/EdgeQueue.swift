import Basics

/// Items on their way to the leaders of their zones, in order zone by zone: no I/O, no clock.
///
///     add ─ the leader is known, and nothing of the zone is elsewhere ─→ under way ─ verdict ─→ gone
///      └─ else ─→ held ─ the leader is known ─→ under way, or taken here        ├─ not mine ─→ held, in order
///                   └─ too long, discarded ─→ gone, not done                   └─ link lost, too long ─→ gone, nobody knows
///
/// What may have been done is never sent again.
package struct EdgeQueue<Item> {
  package enum Admission: Equatable {
    /// Say it to this node, under this number.
    case send(NodePeer, number: UInt64)
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
    var isDiscarded = false
    var item: Item
  }

  private let limit: Int
  private var entries: [UInt64: Entry] = [:]
  /// Changed in their place: a copy would cost what all that is held costs.
  private var lines: [UInt16: ZoneLine] = [:]
  /// How often something of each zone was put back that had been said.
  private var attempts: [UInt16: UInt32] = [:]
  private var nextNumber: UInt64 = 1
  /// What all of them take, in bytes.
  package private(set) var bytes = 0

  /// `limit` is in bytes.
  package init(limit: Int) { self.limit = limit }

  package var count: Int { entries.count }
  package var hasRoom: Bool { bytes < limit }

  /// Whether nothing of the zone waits or is elsewhere: it may be done here at once.
  @inline(__always)
  package func isClear(_ zone: UInt16) -> Bool { lines.isEmpty || lines[zone] == nil }

  /// Takes an item that `make` makes of its number.
  package mutating func add(
    zone: UInt16, size: Int, seat: ZoneSeat, now: Instant, _ make: (UInt64) -> Item
  ) -> Admission {
    guard hasRoom else { return .full }
    let number = nextNumber
    nextNumber += 1
    bytes += size
    let attempt = attempts[zone] ?? 0
    let target: NodePeer? = if case .at(let peer) = seat { peer } else { nil }
    let isSent = lines[zone, default: ZoneLine()].admit(number, to: target?.name, attempt: attempt)
    let peer = isSent ? target : nil
    entries[number] = Entry(
      zone: zone, size: size, since: now, peer: peer?.name, attempt: isSent ? attempt : 0, item: make(number))
    return peer.map { .send($0, number: number) } ?? .held
  }

  /// An item, and how it is to be said.
  package subscript(number: UInt64) -> (item: Item, since: Instant, attempt: UInt32)? {
    entries[number].map { ($0.item, $0.since, $0.attempt) }
  }

  /// A node has answered; the item is answered if it is gone now. With `isMine` false the node has done nothing, and the item is
  /// held, unless it was discarded.
  package mutating func settle(_ number: UInt64, by peer: String, isMine: Bool) -> Item? {
    guard entries[number]?.peer == peer else { return nil }
    return isMine ? remove(number) : putBack(number)
  }

  /// The link to a node was lost; answers what is gone with it. What was said on it may have been done; with `wasOpen` false nothing
  /// was said, and it is held, unless it was discarded.
  package mutating func lose(_ peer: String, wasOpen: Bool) -> [Item] {
    let numbers = entries.filter { $0.value.peer == peer }.keys.sorted()
    return numbers.compactMap { wasOpen ? remove($0) : putBack($0) }
  }

  /// Nobody wants these any more. Those that are held go, and are answered; those under way are not held again.
  package mutating func discard(where isUnwanted: (Item) -> Bool) -> [Item] {
    let numbers = entries.filter { isUnwanted($0.value.item) }.keys.sorted()
    return numbers.compactMap { number in
      guard entries[number]?.peer != nil else { return remove(number) }
      entries[number]?.isDiscarded = true
      return nil
    }
  }

  /// Those that have waited for so long, wherever they are.
  package mutating func takeOverdue(_ now: Instant, after timeout: Int64) -> [Item] {
    let numbers = entries.filter { now.nanoseconds(since: $0.value.since) >= timeout }.keys.sorted()
    return numbers.compactMap { remove($0) }
  }

  /// Zones of which something is held.
  package var waitingZones: [UInt16] { lines.filter(\.value.hasHeld).keys.sorted() }

  /// What is held of a zone may go on: to a node, under the numbers that they have.
  package mutating func release(_ zone: UInt16, to peer: String) -> [UInt64] {
    let attempt = attempts[zone] ?? 0
    let numbers = (lines[zone]?.release(to: peer, attempt: attempt) ?? []).filter { entries[$0] != nil }
    for number in numbers {
      entries[number]?.peer = peer
      entries[number]?.attempt = attempt
    }
    return numbers
  }

  /// The first that is held of a zone, to be done here; nil when there is none, or something of the zone is elsewhere.
  package mutating func takeFirst(_ zone: UInt16) -> Item? {
    guard let number = lines[zone]?.next else { return nil }
    return remove(number)
  }

  // MARK: Books

  /// One that was said is held again, in its order; or it goes, and is answered, as it was discarded.
  private mutating func putBack(_ number: UInt64) -> Item? {
    guard let entry = entries[number], entry.peer != nil else { return nil }
    entries[number]?.peer = nil
    attempts[entry.zone] = max(attempts[entry.zone] ?? 0, entry.attempt &+ 1)
    lines[entry.zone]?.putBack(number)
    return entry.isDiscarded ? remove(number) : nil
  }

  private mutating func remove(_ number: UInt64) -> Item? {
    guard let entry = entries.removeValue(forKey: number) else { return nil }
    bytes -= entry.size
    lines[entry.zone]?.remove(isHeld: entry.peer == nil)
    lines[entry.zone]?.trim { [entries] in entries[$0] != nil }
    if lines[entry.zone]?.isEmpty == true { lines[entry.zone] = nil }
    return entry.item
  }
}

/// What waits of one zone, by number: sent to one node, or held. Each step costs the same however many wait.
private struct ZoneLine {
  /// Where what is under way was sent.
  private var peer = ""
  /// Sent to that node and not answered, as a count; all of it by the same attempt.
  private var underWay = 0
  private var attempt: UInt32 = 0
  /// Held again after they were sent: they came before all that were not, and leaders answer in order. Some may have gone, of these
  /// and of `fresh`, but not the first.
  private var returned = FIFO<UInt64>()
  /// Held since they came.
  private var fresh = FIFO<UInt64>()
  /// Those that are held and have not gone, as a count.
  private var heldCount = 0

  var hasHeld: Bool { heldCount > 0 }
  var isEmpty: Bool { underWay == 0 && heldCount == 0 }

  /// The oldest that is held, if nothing is elsewhere.
  var next: UInt64? { underWay == 0 ? oldest : nil }
  private var oldest: UInt64? { returned.first ?? fresh.first }

  /// A new one, the highest number so far: whether it is to be sent to the node, which is nil where nobody is known.
  mutating func admit(_ number: UInt64, to peer: String?, attempt: UInt32) -> Bool {
    // What is under way by an earlier attempt will be refused, and goes first then.
    guard let peer, !hasHeld, underWay == 0 || self.peer == peer && self.attempt == attempt else {
      heldCount += 1
      fresh.append(number)
      return false
    }
    (self.peer, self.attempt) = (peer, attempt)
    underWay += 1
    return true
  }

  /// All that is held is sent to a node; answers it, oldest first, with some that have gone. What is under way may be refused yet, and
  /// goes first then.
  mutating func release(to peer: String, attempt: UInt32) -> [UInt64] {
    guard underWay == 0, hasHeld else { return [] }
    (self.peer, self.attempt, underWay, heldCount) = (peer, attempt, heldCount, 0)
    defer { (returned, fresh) = (FIFO(), FIFO()) }
    return [returned, fresh].flatMap { line in (0..<line.count).map { line[$0] } }
  }

  /// One that was sent is held again.
  mutating func putBack(_ number: UInt64) {
    underWay -= 1
    heldCount += 1
    returned.append(number)
  }

  /// One goes.
  mutating func remove(isHeld: Bool) { if isHeld { heldCount -= 1 } else { underWay -= 1 } }

  /// Lets go of those in front that have gone.
  mutating func trim(_ isThere: (UInt64) -> Bool) {
    while let oldest, !isThere(oldest) {
      if returned.isEmpty { fresh.removeFirst() } else { returned.removeFirst() }
    }
  }
}
