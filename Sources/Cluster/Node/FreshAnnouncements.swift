/// Which announcements are new, in a cluster with `--cluster-secret`: one that was heard is said again by anybody, without the secret.
///
/// An announcement counts once, and only behind all that its node has said before, also in the node's earlier lives; and only if its
/// node had read of this node's joining when it said so, as what was said before this node was there it can't have heard.
struct FreshAnnouncements {
  /// Most nodes that are remembered, as a count.
  private static let limit = NodeBoard.limit

  /// Of this node's joining.
  private let ordinal: UInt64
  private var newest: [String: (ordinal: UInt64, number: UInt64)] = [:]

  init(ordinal: UInt64) { self.ordinal = ordinal }

  mutating func admits(_ announcement: NodeAnnouncement) -> Bool {
    let said = (ordinal: announcement.ordinal, number: announcement.number)
    guard announcement.seen >= ordinal, newest[announcement.name].map({ said > $0 }) ?? true else {
      return false
    }
    newest[announcement.name] = said
    // The one that joined first is the one that has gone, if one has.
    if newest.count > Self.limit, let oldest = newest.min(by: { $0.value < $1.value }) {
      newest[oldest.key] = nil
    }
    return true
  }
}
