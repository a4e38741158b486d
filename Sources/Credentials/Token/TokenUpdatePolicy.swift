/// When a provider renews its token too often. The observations disagree, so each part can be set
/// (`Documentation/provider-api.md#provider-tokens`, `#open-questions`).
public struct TokenUpdatePolicy: Equatable, Sendable {
  /// What is counted together.
  public enum Scope: Sendable, CaseIterable {
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
