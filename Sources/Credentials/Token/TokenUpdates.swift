import Basics

/// When a provider renews its token too often. The observations disagree, so each part can be set
/// (`Documentation/provider-api.md#provider-tokens`, `#open-questions`).
public struct TokenUpdatePolicy: Equatable, Sendable {
  /// What is counted together.
  public enum Scope: String, Sendable, CaseIterable {
    case connection, team
    /// Nothing is counted.
    case off
  }

  public var scope = Scope.connection
  /// Different tokens that may come first within the interval. The first renewal is free: a Perl library sends its second
  /// token at once, and no field report names fewer (`Documentation/provider-api.md#renewal`).
  public var tokensPerInterval = 2
  /// In seconds (E: no more than once per 20 minutes).
  public var intervalSeconds: Int64 = 1200

  public init() {}
}

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

/// The provider tokens of each team on all connections, for `TokenUpdatePolicy.Scope.team`. One for a whole emulator.
public final class TeamTokenUpdates {
  /// Most teams remembered; beyond that all begin again.
  private static let maximumTeams = 10_000

  private var logs: [String: TokenUpdateLog] = [:]

  public init() {}

  subscript(team: String) -> TokenUpdateLog {
    get { logs[team] ?? TokenUpdateLog() }
    set {
      if logs.count >= Self.maximumTeams, logs[team] == nil { logs = [:] }
      logs[team] = newValue
    }
  }
}
