import Broker
import PushModel

/// Frames that were accepted on a connection before one that was rejected.
enum AcceptedFrames {
  /// How far it is looked back, in notifications of all connections, as a count.
  private static let reach: UInt64 = 4096

  /// Ids of the newest, oldest first.
  static func ids(in journal: Journal, on connection: UInt32, since first: UInt64, atMost limit: Int)
    -> ArraySlice<UInt64>
  {
    let end = journal.nextId
    let start = max(first, end > reach ? end - reach : 0)
    guard start < end else { return [] }
    var ids: [UInt64] = []
    for id in start..<end {
      guard let record = journal[id], record.connection == connection else { continue }
      // Some behind it may have been accepted elsewhere, and have to come again all the same.
      guard record.rejection == nil else { break }
      ids.append(id)
    }
    return ids.suffix(limit)
  }
}

/// Finds notifications that were replaced while their devices were offline: storing is too frequent for being told of each.
struct ReplacedNotifications {
  /// Notifications that are looked at in a second, as a count: the newest. So what is found is a sample of much.
  private static let reach: UInt64 = 512

  private let broker: Broker
  /// How many had been replaced at the last look.
  private var count: UInt64 = 0
  /// The first that is looked at.
  private var first: UInt64 = 0
  /// Those of the newest that were handed over.
  private var told: Set<UInt64> = []

  init(_ broker: Broker) { self.broker = broker }

  /// What was replaced until now is nobody's business.
  mutating func pass() { (count, first, told) = (broker.counters.replaced, broker.journal.nextId, []) }

  /// Hands over id and connection of those that have been replaced among the newest, each once.
  mutating func take(_ body: (_ id: UInt64, _ connection: UInt32) -> Void) {
    guard broker.counters.replaced != count else { return }
    count = broker.counters.replaced
    let end = broker.journal.nextId
    let start = max(first, end > Self.reach ? end - Self.reach : 0)
    guard start < end else { return }
    told = told.filter { $0 >= start }
    for id in start..<end {
      guard let record = broker.journal[id], record.state == .replaced, record.connection != 0,
        told.insert(id).inserted
      else { continue }
      body(id, record.connection)
    }
  }
}
