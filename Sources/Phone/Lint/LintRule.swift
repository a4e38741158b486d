/// What may be wrong with a payload, each under one name that `explain`, documentation and tests share.
public enum LintRule: String, Sendable, CaseIterable {
  case notJSON = "not-json"
  case notObject = "not-an-object"
  case tooLarge = "too-large"
  case empty
  case backgroundPriority = "background-priority"
  case backgroundWithoutPriority = "background-without-priority"
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

  public var severity: Severity { row.0 }
  /// How it is known.
  public var evidence: Evidence { row.1 }
  /// What it is about, for people: a lower-case sentence.
  public var meaning: String { row.2 }

  private var row: (Severity, Evidence, String) {
    switch self {
    case .notJSON: (.error, .ours, "the payload is not JSON; Apple takes it, an app gets nothing")
    case .notObject: (.error, .ours, "the payload is JSON and no object")
    case .tooLarge: (.error, .documented, "more bytes than the push type may have: 413 PayloadTooLarge")
    case .empty: (.error, .documented, "no payload at all: 400 PayloadEmpty")
    case .backgroundPriority: (.error, .documented, "push type background with priority 10")
    case .backgroundWithoutPriority:
      (.warning, .documented, "push type background without a priority, which then is 10")
    case .backgroundVisible: (.warning, .documented, "push type background with something to see or hear")
    case .backgroundNotAvailable: (.warning, .documented, "push type background without content-available")
    case .alertInvisible: (.warning, .ours, "push type alert with nothing to see or hear")
    case .missingAps: (.warning, .documented, "no aps, so that the phone does nothing")
    case .wrongType:
      (.warning, .ours, "a member of another kind than Apple describes, which the phone ignores")
    case .outOfRange: (.warning, .documented, "a number or word that is none of those that count")
    case .unknownKey: (.warning, .documented, "a member of aps, alert or sound that iOS does not know")
    case .misplacedKey: (.warning, .documented, "a member of aps that stands beside it")
    case .notSilent:
      (.warning, .documented, "content-available of a background push beside alert, badge or sound")
    case .mutableWithoutText:
      (.warning, .documented, "mutable-content without a text: the service extension does not run")
    case .argumentsWithoutKey:
      (.warning, .documented, "arguments of a localized text that nothing takes, or too few of them")
    case .activityIncomplete:
      (.warning, .documented, "a member that the event of a Live Activity needs is missing")
    case .contentNotChanged:
      (.warning, .ours, "a push for controls or widgets that does not say content-changed")
    case .noLongerRead: (.advice, .documented, "a member that later versions of iOS ignore")
    case .missingType: (.advice, .documented, "no apns-push-type")
    case .needsEntitlement: (.advice, .documented, "something that works with an entitlement only")
    case .secret: (.advice, .ours, "a member that looks like a password, key or token")
    case .longBody: (.advice, .ours, "a text longer than a banner shows")
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
