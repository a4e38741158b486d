import Basics

/// What makes the occurrences of a rule a finding, and the words of it.
struct RuleTerms: Sendable {
  /// Which measure of several occurrences is told.
  enum Kept { case smallest, largest }

  /// Fewer occurrences are no finding, as a count.
  var least: UInt64 = 1
  var severity: Severity
  /// From so many occurrences on it is worse.
  var rises: (from: UInt64, to: Severity)?
  var keeps = Kept.smallest
  /// What to do: one sentence.
  var remedy: String
  /// What was seen: one sentence.
  var sentence: @Sendable (Tally) -> String

  static func of(_ rule: AdviceRule) -> RuleTerms {
    switch rule {
    case .connectionPerPush: ConnectionRules.connectionPerPush
    case .reconnectStorm: ConnectionRules.reconnectStorm
    case .streamsAfterGoAway: ConnectionRules.streamsAfterGoAway
    case .oneStreamAtATime: ConnectionRules.oneStreamAtATime
    case .streamLimitIgnored: ConnectionRules.streamLimitIgnored
    case .lostAtGoAway: LossRules.lostAtGoAway
    case .lostAfterError: LossRules.lostAfterError
    case .resentFromTheStart: ResendRules.resentFromTheStart
    case .tokenRenewedTooOften: ProviderTokenRules.renewedTooOften
    case .tokenPerTopic: ProviderTokenRules.perTopic
    case .tokenNearItsEnd: ProviderTokenRules.nearItsEnd
    case .pushesToGoneToken: RefusalRules.pushesToGoneToken
    case .pushesToBadToken: RefusalRules.pushesToBadToken
    case .retryOfRefused: RefusalRules.retryOfRefused
    case .retryWithoutPause: RefusalRules.retryWithoutPause
    case .wrongEnvironment: RefusalRules.wrongEnvironment
    case .noPushType, .backgroundAtPriority10, .expiresAtOnce, .identifiersNotUnique, .command0,
      .payloadNearlyTooLarge:
      ofField(rule)
    case .feedbackNotRead: NoteRules.feedbackNotRead
    case .oldTLS: NoteRules.oldTLS
    case .errorPacketNotRead: NoteRules.errorPacketNotRead
    case .replacedWhileOffline: NoteRules.replacedWhileOffline
    case .payload: NoteRules.payload
    }
  }

  /// Of a rule about what a push says.
  private static func ofField(_ rule: AdviceRule) -> RuleTerms {
    switch rule {
    case .noPushType: FieldRules.noPushType
    case .backgroundAtPriority10: FieldRules.backgroundAtPriority10
    case .expiresAtOnce: FieldRules.expiresAtOnce
    case .identifiersNotUnique: FieldRules.identifiersNotUnique
    case .command0: FieldRules.command0
    default: FieldRules.payloadNearlyTooLarge
    }
  }
}

/// Numbers in sentences.
enum Numerals {
  static let second: Int64 = 1_000_000_000
  static let minute: Int64 = 60 * second

  /// `1 push`, `1,204 pushes`.
  static func count(_ number: UInt64, _ one: String, _ several: String) -> String {
    "\(grouped(number)) \(number == 1 ? one : several)"
  }

  static func count(_ number: Int, _ one: String, _ several: String) -> String {
    count(UInt64(max(0, number)), one, several)
  }

  /// `2 ms`, `0.35 s`, `12 s`, `14 min`, of nanoseconds.
  static func duration(_ nanoseconds: Int64) -> String {
    let time = max(0, nanoseconds)
    if time < second / 10 { return "\(time / 1_000_000) ms" }
    if time < 10 * second {
      let hundredths = time / 10_000_000
      let rest = hundredths % 100
      return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }
    return time < 2 * minute ? "\(time / second) s" : "\(time / minute) min"
  }

  /// `1,204`.
  static func grouped(_ number: Int64) -> String { grouped(UInt64(max(0, number))) }

  /// `1,204`.
  static func grouped(_ number: UInt64) -> String {
    let digits = Array(String(number))
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }
}
