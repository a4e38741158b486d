import Basics

/// What became of many pushes over HTTP/2.
package struct PushTally: Sendable {
  package private(set) var accepted = 0
  package private(set) var rejected = 0
  /// Streams that ended without an answer: reset, or refused by a GOAWAY. Safe to send again only if refused.
  package private(set) var unanswered = 0
  private var reasons: [String: Int] = [:]

  package init() {}

  /// Number of pushes that have come to an end.
  package var count: Int { accepted + rejected + unanswered }

  package mutating func answered(status: Int, reason: String?) {
    guard status != 200 else { return accepted += 1 }
    rejected += 1
    reasons[reason ?? "status \(status)", default: 0] += 1
  }

  package mutating func wentUnanswered() { unanswered += 1 }

  /// One JSON object about so many pushes; those that never came to an end count as unanswered.
  package func json(of total: Int, nanoseconds: Int64?) -> JSONValue {
    .object(
      [
        ("interface", "provider"), ("accepted", .bool(accepted == total)), ("count", total.json),
        ("acceptedCount", accepted.json), ("rejectedCount", rejected.json),
        ("unansweredCount", .integer(Int64(total - accepted - rejected))),
        ("reasons", .object(reasons.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })),
      ] + PushRate.members(count, nanoseconds: nanoseconds, .answers))
  }
}
