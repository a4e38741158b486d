import Credentials

/// Words for `TokenUpdatePolicy.Scope`.
enum TokenUpdateScope: String, CaseIterable, Sendable {
  case connection, team, off

  var scope: TokenUpdatePolicy.Scope {
    switch self {
    case .connection: .connection
    case .team: .team
    case .off: .off
    }
  }
}
