import Basics

/// Broadcasts on their way to those who listen: each turn hands them to a bounded number of devices, so that a channel of many
/// takes no turn for itself. Of a channel one goes out after the other; channels take turns.
///
///     under way ─ its channel's turn ─→ a share of the listeners ─→ under way, behind the other channels
///                                                   └─ all have it ─→ through
public struct BroadcastQueue {
  /// Most listeners that are looked at in a turn, as a count: each costs some ten microseconds with its write, and a push that comes
  /// behind them is to wait a few milliseconds at most.
  public static let turnBudget = 256
  /// Most of these that one channel has before the others have theirs; how long it took is looked at as often.
  static let share = 32
  /// Most broadcasts that are under way, as a count: beyond it the others are handed to all at once, as those who send know no
  /// other bound. Each may have a payload of 5 KiB.
  public static let limit = 1024

  struct Delivery {
    /// Who came at a later number gets it by the channel's store or not at all.
    let number: UInt64
    let broadcast: ChannelTable.Broadcast
    /// Only for those who have not got so far.
    let isRepeated: Bool
    /// The history has an entry of it, which it ends.
    let isRecorded: Bool
    /// Told of its id once it has come to all who listen.
    let through: ((UInt64) -> Void)?
    /// Places from here on have not been looked at.
    var next = 0
    /// Those who had it, or were to, as a count.
    var count = 0

    /// Whether it has still to come to who listens.
    func isAhead(of membership: ChannelMembership) -> Bool {
      membership.joinedAt <= number && membership.place >= next
    }
  }

  private var queues: [Int64: FIFO<Delivery>] = [:]
  /// Channels with something under way, by row; whose turn it is first.
  private var turns: [Int64] = []
  /// Ids of what the history has entries of: each broadcast is asked for as it is sent, however many are under way.
  private var recorded: Set<UInt64> = []
  private(set) var count = 0
  /// Listeners that may still be looked at in this turn.
  private var left = turnBudget
  /// Rises with each broadcast.
  private(set) var number: UInt64 = 0

  var isEmpty: Bool { count == 0 }
  /// Whether this turn may hand out more.
  var mayGoOn: Bool { !isEmpty && (left > 0 || count > Self.limit) }

  mutating func beginTurn() { left = Self.turnBudget }

  /// The turn has taken long enough: the rest is for later ones.
  mutating func endTurn() { left = 0 }

  /// What who comes now has missed.
  var joinNumber: UInt64 { number + 1 }

  func isUnderWay(_ id: UInt64) -> Bool { recorded.contains(id) }

  /// What is under way in a channel, oldest first.
  func underWay(_ row: Int64) -> FIFO<Delivery> { queues[row] ?? FIFO() }
  /// The newest of that.
  func newest(_ row: Int64) -> Delivery? { queues[row].map { $0[$0.count - 1] } }

  mutating func add(
    _ broadcast: ChannelTable.Broadcast, in row: Int64, isRepeated: Bool, isRecorded: Bool,
    through: ((UInt64) -> Void)?
  ) {
    number += 1
    if queues[row] == nil { turns.append(row) }
    queues[row, default: FIFO()].append(
      Delivery(
        number: number, broadcast: broadcast, isRepeated: isRepeated, isRecorded: isRecorded, through: through
      ))
    if isRecorded { recorded.insert(broadcast.id) }
    count += 1
  }

  /// The channel whose turn it is, with what it has under way first.
  func first() -> (row: Int64, Delivery)? {
    guard let row = turns.first, let delivery = queues[row]?.first else { return nil }
    return (row, delivery)
  }

  /// How many listeners the channel whose turn it is may be looked at for now.
  var nextShare: Int { count > Self.limit ? .max : min(Self.share, left) }

  /// A listener of the first channel is about to be handed its broadcast, or a gap was found.
  mutating func advance(_ row: Int64, isListener: Bool) {
    queues[row]?[0].next += 1
    if isListener { queues[row]?[0].count += 1 }
    left -= 1
  }

  /// The first channel has had its share.
  mutating func endShare(_ row: Int64) {
    guard turns.first == row else { return }
    turns.removeFirst()
    turns.append(row)
  }

  /// The first of a channel is through: answers it as it is now.
  mutating func endFirst(_ row: Int64) -> Delivery? {
    guard let delivery = queues[row]?.removeFirst() else { return nil }
    if queues[row]?.isEmpty == true {
      queues[row] = nil
      turns.removeAll { $0 == row }
    }
    if delivery.isRecorded { recorded.remove(delivery.broadcast.id) }
    count -= 1
    return delivery
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
