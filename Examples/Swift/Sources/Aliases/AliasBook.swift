/// Which phones somebody has: an alias, such as the name of an account, stands for up to ten device tokens.
///
/// ```swift
/// var book = AliasBook()
/// try book.add(token, to: "anna")
/// book.tokens(of: "anna")  // [token]
/// ```
public struct AliasBook: Sendable {
  /// There is no room for one more token: somebody has to decide which one goes.
  public struct IsFull: Error, Equatable {
    public let alias: String

    public init(alias: String) { self.alias = alias }
  }

  /// How many tokens an alias may stand for. Who signs in on hundreds of phones is no person.
  public static let limit = 10

  private var tokensByAlias: [String: [String]] = [:]
  private var aliasByToken: [String: String] = [:]

  public init() {}

  /// In the order in which they were added.
  public func tokens(of alias: String) -> [String] { tokensByAlias[alias] ?? [] }

  /// Adds a phone. One that was somebody else's is that no longer: another person has signed in on it.
  public mutating func add(_ token: String, to alias: String) throws(IsFull) {
    guard aliasByToken[token] != alias else { return }
    guard tokens(of: alias).count < Self.limit else { throw IsFull(alias: alias) }
    remove(token)
    tokensByAlias[alias, default: []].append(token)
    aliasByToken[token] = alias
  }

  /// Forgets a token: its app is gone, or somebody has signed out.
  public mutating func remove(_ token: String) {
    guard let alias = aliasByToken.removeValue(forKey: token) else { return }
    let rest = tokens(of: alias).filter { $0 != token }
    tokensByAlias[alias] = rest.isEmpty ? nil : rest
  }
}
