import PushModel

/// How many streams a connection may open, by what it has shown (`Documentation/provider-api.md#settings`).
public struct StreamThrottle: Equatable, Sendable {
  /// Streams before a valid provider token, and after a rejection where rejections throttle.
  public static let reduced = 1
  /// Streams otherwise (`Documentation/provider-api.md#open-questions`).
  public static let full = 1000

  /// Whether a rejection lowers the limit until the next accepted push, as Apple does.
  public let throttlesRejections: Bool
  /// The limit now.
  public private(set) var limit: Int
  private var hasAuthenticated: Bool

  public init(usesTokens: Bool, throttlesRejections: Bool = false) {
    self.throttlesRejections = throttlesRejections
    hasAuthenticated = !usesTokens
    limit = usesTokens ? Self.reduced : Self.full
  }

  /// A request was judged. Answers a limit to announce, if it changed.
  ///
  /// - Parameters:
  ///   - authenticated: whether the connection has shown a valid token by now.
  ///   - rejection: nil for an accepted push. 410 does not count as an error (`Documentation/provider-api.md#settings`).
  public mutating func requestJudged(authenticated: Bool, rejection: Rejection?) -> Int? {
    // A lenient check accepts pushes without a token.
    let isNew = !hasAuthenticated && (authenticated || rejection == nil)
    hasAuthenticated = hasAuthenticated || isNew
    let previous = limit
    if throttlesRejections, let rejection, rejection.status != 410 {
      limit = Self.reduced
    } else if hasAuthenticated, rejection == nil || isNew || !throttlesRejections {
      limit = Self.full
    }
    return limit == previous ? nil : limit
  }
}
