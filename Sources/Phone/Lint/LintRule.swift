/// What may be wrong with a payload, each under one name that `explain`, documentation and tests share.
public enum LintRule: String, Sendable, CaseIterable {
  case notJSON = "not-json"
  case notObject = "not-an-object"
  case tooLarge = "too-large"
  case empty
  case backgroundPriority = "background-priority"
  case backgroundVisible = "background-visible"
  case backgroundNotAvailable = "background-not-available"
  case alertInvisible = "alert-invisible"
  case missingAps = "missing-aps"
  case wrongType = "wrong-type"
  case outOfRange = "out-of-range"
  case unknownKey = "unknown-key"
  case misplacedKey = "misplaced-key"
  case notSilent = "not-silent"
  case mutableWithoutText = "mutable-without-text"
  case argumentsWithoutKey = "arguments-without-key"
  case activityIncomplete = "activity-incomplete"
  case contentNotChanged = "content-not-changed"
  case noLongerRead = "no-longer-read"
  case missingType = "missing-type"
  case needsEntitlement = "needs-entitlement"
  case secret
  case longBody = "long-body"

  public enum Severity: String, Sendable, CaseIterable {
    /// Apple refuses it, or says that it is one.
    case error
    /// The phone does something else than its author meant.
    case warning
    case advice
  }

  public var severity: Severity {
    switch self {
    case .notJSON, .notObject, .tooLarge, .empty, .backgroundPriority: .error
    case .missingType, .needsEntitlement, .secret, .longBody, .noLongerRead: .advice
    default: .warning
    }
  }

  /// How it is known.
  public var evidence: Evidence {
    switch self {
    // Apple's service does not look inside, and what the phone does with it nobody has published.
    case .notJSON, .notObject, .secret, .longBody, .wrongType, .contentNotChanged, .alertInvisible: .ours
    default: .documented
    }
  }
}

/// One thing that is wrong, and where.
public struct LintFinding: Sendable, Equatable {
  public let rule: LintRule
  /// As `aps.alert.title`; empty for the push as a whole.
  public let place: String
  /// A lower-case sentence: what is expected and what came.
  public let sentence: String
}
