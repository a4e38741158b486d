/// What all peers of a loop together may cost in memory: connections, streams, queues and answers. Only bookkeeping and the
/// choice of who is evicted; who holds what is said by `MemoryShare` and `OutputQueue`, and ends are made by `MemoryRelief`.
///
///     comfortable ─ 7/8 of the limit ─→ strained: what is only remembered goes, then who sits on much and is idle gives way
///                  ─ the limit ─→ exceeded: anybody does, and no further request of the console is taken up
///
/// Who holds most for longest is evicted first: weight is bytes times idle time, so that a client that reads its large answer
/// is outweighed by one that doesn't, and thousands of small quiet ones go last. History counts, too, and goes before any
/// of them. The token map and stored notifications have limits of their own and are not counted.
public final class MemoryBudget {
  /// One who may be evicted.
  public struct Candidate {
    /// What it holds, in bytes.
    var bytes: Int
    /// Since when nothing has moved, in nanoseconds.
    var idle: Int64

    public init(bytes: Int, idle: Int64) { (self.bytes, self.idle) = (bytes, idle) }
  }

  /// What `serve` allows unless told otherwise, in bytes.
  public static let standardLimit = 512 << 20
  /// The least that makes sense, in bytes: what one device that does not read may hold (`CourierOutput.limit`).
  public static let leastLimit = 8 << 20
  /// Who has moved nothing for so long is idle, in nanoseconds: longer than a busy client's pauses, and short against the
  /// time that it takes to fill memory.
  static let timeout: Int64 = 2_000_000_000
  /// Who holds less is evicted only to keep the limit, in bytes: a quiet device, not somebody's unread answer. One chunk of
  /// output.
  static let hoard = OutputBuffer.chunk
  /// Idle time beyond this weighs no more, in nanoseconds: a device that has had nothing to say for hours must not outweigh
  /// somebody who holds megabytes.
  static let longestIdle: Int64 = 60_000_000_000

  /// Most bytes that may be held; `.max` for no limit.
  public var limit = Int.max
  /// Bytes held now.
  public private(set) var used = 0
  /// Most bytes that were held in a turn since `takeHighest`.
  private var highest = 0
  /// How many have given way, by listener.
  public private(set) var evictionCounts: [String: Int] = [:]
  /// What was held when nobody was found to evict: looking again is of no use before somebody holds more.
  private var helplessAt = 0

  public init() {}

  /// Somebody holds more, or less.
  @inline(__always)
  public func change(by bytes: Int) { used &+= bytes }

  /// A turn's input has been handled.
  public func noteTurn() { highest = max(highest, used) }

  /// Most bytes that were held in a turn since this was asked last.
  public func takeHighest() -> Int {
    defer { highest = used }
    return highest
  }

  /// Whether more is held than may be: no more work is to be begun.
  public var isExceeded: Bool { used > limit }
  /// Whether those who have been idle are to be evicted.
  var isStrained: Bool { used > comfort }
  /// Whether somebody has to be evicted before anything else happens.
  public var needsRelief: Bool { used > limit && used > helplessAt }

  /// What has to go before nobody need be evicted, in bytes.
  var excess: Int { max(0, used - comfort) }

  /// Below this nobody is evicted.
  private var comfort: Int { limit - limit / 8 }
  /// What the limit is kept to, so that room is made for more than the next connection.
  private var goal: Int { limit - limit / 64 }

  func countEviction(of listener: String) { evictionCounts[listener, default: 0] += 1 }

  /// Nobody could be evicted.
  public func noteHelpless() { helplessAt = used }
  /// Somebody may have become able to.
  public func lookAgain() { helplessAt = 0 }

  /// Who has to be evicted, as indices, heaviest first: of those who sit on much and are idle as many as bring comfort back; and
  /// of everybody as many as the limit demands.
  public func evictions(_ candidates: [Candidate]) -> [Int] {
    guard isStrained else { return [] }
    var order = candidates.indices.sorted { Self.weight(candidates[$0]) > Self.weight(candidates[$1]) }
    var (left, evictions) = (used, [Int]())
    func take(downTo goal: Int, where mayGo: (Candidate) -> Bool) {
      order.removeAll { index in
        guard left > goal, candidates[index].bytes > 0, mayGo(candidates[index]) else { return false }
        left -= candidates[index].bytes
        evictions.append(index)
        return true
      }
    }
    take(downTo: comfort) { $0.idle >= Self.timeout && $0.bytes >= Self.hoard }
    if left > limit { take(downTo: goal) { _ in true } }
    return evictions
  }

  /// Byte seconds; everybody counts as idle for one second at least.
  private static func weight(_ candidate: Candidate) -> Int {
    let seconds = min(max(0, candidate.idle), longestIdle) / 1_000_000_000
    return candidate.bytes.multipliedReportingOverflow(by: Int(seconds) + 1).partialValue
  }
}

/// What one connection holds, as the budget has it.
public struct MemoryShare {
  public private(set) var bytes = 0

  public init() {}

  @inline(__always)
  public mutating func set(_ count: Int, in budget: MemoryBudget) {
    guard count != bytes else { return }
    budget.change(by: count &- bytes)
    bytes = count
  }
}
