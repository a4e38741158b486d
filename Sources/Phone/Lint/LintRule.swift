/// What may be wrong with a payload, each under one name that `explain`, documentation and tests share.
package enum LintRule: RuleText, RuleNamed {
  case notJson = "error, O: the payload is not JSON: Apple accepts the push, but the app gets nothing"
  case notAnObject = "error, O: the payload is JSON, but not an object"
  case tooLarge = "error, A: more bytes than the push type may have: 413 PayloadTooLarge"
  case empty = "error, A: no payload at all: 400 PayloadEmpty"
  case backgroundPriority = "error, A: push type background with priority 10"
  case backgroundWithoutPriority = "warning, A: push type background without a priority, which then is 10"
  case backgroundVisible = "warning, A: push type background with something to see or hear"
  case backgroundNotAvailable = "warning, A: push type background without content-available"
  case alertInvisible = "warning, O: push type alert with nothing to see or hear"
  case missingAps = "warning, A: no aps, so that the phone does nothing"
  case wrongType = "warning, O: a member of another kind than Apple describes, which the phone ignores"
  case outOfRange = "warning, A: a number or word that is not allowed there"
  case unknownKey = "warning, A: a member of aps, alert or sound that iOS does not know"
  case misplacedKey = "warning, A: a member of aps that stands outside it"
  case notSilent = "warning, A: content-available of a background push beside alert, badge or sound"
  case mutableWithoutText = "warning, A: mutable-content without a text: the service extension does not run"
  case argumentsWithoutKey =
    "warning, A: arguments of a localized text without its loc-key, or too few of them"
  case activityIncomplete = "warning, A: a member that the event of a Live Activity needs is missing"
  case contentNotChanged = "warning, O: a push for controls or widgets that does not say content-changed"
  case noLongerRead = "advice, A: a member that later versions of iOS ignore"
  case missingType = "advice, A: no apns-push-type"
  case needsEntitlement = "advice, A: something that works with an entitlement only"
  case secret = "advice, O: a member that looks like a password, key or token"
  case longBody = "advice, O: a text longer than a banner shows"

  package enum Severity: String, Sendable, CaseIterable {
    /// Apple refuses it, or says that it is one.
    case error
    /// The phone does something else than its author meant.
    case warning
    case advice
  }

  package var severity: Severity { rawValue.words.lazy.compactMap(Severity.init).first ?? .error }
  /// How it is known.
  package var evidence: Evidence { rawValue.words.lazy.compactMap(Evidence.init).first ?? .ours }
  /// What it is about, for people: a lower-case sentence.
  package var meaning: String { rawValue.sentence }
}

/// One thing that is wrong, and where.
package struct LintFinding: Sendable, Equatable {
  package let rule: LintRule
  /// As `aps.alert.title`; empty for the push as a whole.
  package let place: String
  /// A lower-case sentence: what is expected and what came.
  package let sentence: String
}
