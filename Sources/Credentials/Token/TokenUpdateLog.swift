import PushModel

/// Which provider tokens came first in the last twenty minutes, for `TooManyProviderTokenUpdates`
/// (`Documentation/provider-api.md#renewal`; `#open-questions`).
struct TokenUpdateLog {
  private struct Use {
    var fingerprint: [UInt8]
    var firstSeenAt: Timestamp
  }

  private var uses: [Use] = []

  /// Whether the token is one of those in use, or may become one now.
  func allows(_ fingerprint: [UInt8], _ policy: TokenUpdatePolicy, now: Timestamp) -> Bool {
    uses.contains { $0.fingerprint == fingerprint } || !isFull(policy, now: now)
  }

  /// Whether there is no room for another token now.
  func isFull(_ policy: TokenUpdatePolicy, now: Timestamp) -> Bool {
    fresh(policy, now).count >= policy.tokensPerInterval
  }

  /// Notes an accepted token.
  mutating func record(_ fingerprint: [UInt8], _ policy: TokenUpdatePolicy, now: Timestamp) {
    guard !uses.contains(where: { $0.fingerprint == fingerprint }) else { return }
    uses = fresh(policy, now) + [Use(fingerprint: fingerprint, firstSeenAt: now)]
  }

  /// Those of the last interval. A clock that was set back makes none of them older.
  private func fresh(_ policy: TokenUpdatePolicy, _ now: Timestamp) -> [Use] {
    let interval = Timestamp(seconds: policy.intervalSeconds).nanoseconds
    return uses.filter { now < $0.firstSeenAt.adding(nanoseconds: interval) }
  }
}
