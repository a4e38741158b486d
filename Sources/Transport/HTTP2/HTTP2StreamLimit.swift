/// How many streams the client may have open, as announced and as acknowledged
/// (`Documentation/provider-api.md#settings`).
///
/// A client is bound by a limit only from its acknowledgement on; then one stream too many is a violation that ends the
/// connection. Between a lowered limit and its acknowledgement a stream too many is only refused. A raised limit counts
/// at once: some clients use it before they acknowledge it. Before the very first acknowledgement everything
/// up to the ceiling is taken, as Apple's Netty does, so clients that send without waiting for SETTINGS work.
package struct HTTP2StreamLimit: Equatable {
  package enum Verdict: Equatable { case accepted, refused, violated }

  /// Announcements under way at a time. A client that acknowledges none costs no more than this.
  static let maximumUnacknowledged = 2

  private var acknowledged: Int
  private var hasAcknowledged = false
  /// Announced and not acknowledged, oldest first.
  private var pending: [Int] = []
  /// To be announced when an acknowledgement makes room.
  private var waiting: Int?

  package init(initial: Int, ceiling: Int) {
    acknowledged = ceiling
    pending = [initial]
  }

  /// The newest limit that was asked for.
  var latest: Int { waiting ?? pending.last ?? acknowledged }

  /// Asks for another limit; answers whether it has to be announced now.
  package mutating func set(_ limit: Int) -> Bool {
    guard limit != latest else { return false }
    guard pending.count < Self.maximumUnacknowledged else {
      waiting = limit
      return false
    }
    pending.append(limit)
    return true
  }

  /// The client has acknowledged its oldest SETTINGS; answers a limit that has to be announced now, if any.
  package mutating func acknowledge() -> Int? {
    guard !pending.isEmpty else { return nil }
    acknowledged = pending.removeFirst()
    hasAcknowledged = true
    guard let next = waiting else { return nil }
    waiting = nil
    guard next != latest else { return nil }
    pending.append(next)
    return next
  }

  /// Judges a new stream, with `open` streams including it.
  package func verdict(open: Int) -> Verdict {
    let bound = pending.reduce(acknowledged, max)
    if open > bound { return .violated }
    let announced = pending.last ?? acknowledged
    return open > announced && hasAcknowledged ? .refused : .accepted
  }
}
