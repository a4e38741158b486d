import PushModel

/// The provider tokens of each team on all connections, for `TokenUpdatePolicy.Scope.team`. One for a whole emulator.
public final class TeamTokenUpdates {
  /// Most teams remembered; beyond that all begin anew.
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
