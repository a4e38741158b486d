import Basics
import PushModel

/// The provider tokens that a connection was shown.
struct TokenHistory {
  /// Tokens that are remembered for each connection, as a count: the newest.
  static let limit = 8
  /// A refused token has to be replaced; so often on a connection that is no renewal.
  static let excuseLimit = 3

  struct Entry {
    var number: UInt32
    var team: UInt64
    var topic: UInt32
    var at: Instant
  }

  private(set) var entries: [Entry] = []
  /// What was said of them.
  private var told: Set<AdviceRule> = []
  private var wasRefused = false
  private var excuses = 0

  /// A token was refused for what it is.
  mutating func refused() {
    guard excuses < Self.excuseLimit else { return }
    (wasRefused, excuses) = (true, excuses + 1)
  }

  /// Takes the next token; false if it is one of the last.
  mutating func add(_ entry: Entry) -> Bool {
    guard !entries.contains(where: { $0.number == entry.number }) else { return false }
    if wasRefused { (entries, told) = ([], []) }
    wasRefused = false
    if entries.count >= Self.limit { entries.removeFirst() }
    entries.append(entry)
    return true
  }

  /// Whether the rule is told of for the first time: then all tokens count, later only the newest.
  mutating func tell(_ rule: AdviceRule) -> Bool { told.insert(rule).inserted }

  mutating func clear() { self = TokenHistory() }
}

/// What is said of provider tokens. All times are those that no test can set: Apple's numbers hold for real time.
struct ProviderTokenRules {
  /// Apple: no more than once in 20 minutes (`Documentation/provider-api.md#renewal`), in nanoseconds.
  static let renewal = 20 * Numerals.minute
  /// So many tokens on a connection within that time: the emulator refuses the third, too (the same page).
  static let tokens = 3
  /// By so much the emulator's clock may differ from before until it counts as set, in nanoseconds.
  static let clockDrift = Numerals.second

  /// The emulator's clock against the other, as it was first.
  private var offset: Int64?
  private var clockWasSet = false

  /// Notices a clock that was set or frozen: from then on nobody can say how old a token really is.
  mutating func watchClock(_ moment: Moment) {
    let (now, overflows) = moment.time.nanoseconds.subtractingReportingOverflow(moment.instant.nanoseconds)
    guard !overflows, let offset else {
      offset = overflows ? nil : now
      clockWasSet = clockWasSet || overflows
      return
    }
    let (drift, tooMuch) = now.subtractingReportingOverflow(offset)
    if tooMuch || drift.magnitude > Self.clockDrift.magnitude { clockWasSet = true }
  }

  func shown(
    _ number: UInt32, team: String, topic: UInt32, on connection: KnownConnection, at moment: Moment,
    in findings: inout FindingTable
  ) {
    let entry = TokenHistory.Entry(
      number: number, team: FNV1a.hash(team.utf8), topic: topic, at: moment.instant)
    guard connection.tokens.add(entry) else { return }
    let recent = connection.tokens.entries.filter {
      $0.team == entry.team && moment.instant.nanoseconds(since: $0.at) < Self.renewal
    }
    guard recent.count >= Self.tokens else { return }
    let isPerTopic = Set(recent.map(\.topic)).count == recent.count
    let rule = isPerTopic ? AdviceRule.tokenPerTopic : .tokenRenewedTooOften
    var occurrence = Occurrence(rule, from: connection.origin, at: moment)
    if connection.tokens.tell(rule) { occurrence.count = UInt64(recent.count) }
    occurrence.measure = moment.instant.nanoseconds(since: recent[recent.count - 2].at)
    findings.add(occurrence)
  }

  func isOld(_ age: Int64, on connection: KnownConnection, at moment: Moment, in findings: inout FindingTable)
  {
    guard !clockWasSet, age >= Adviser.oldToken else { return }
    var occurrence = Occurrence(.tokenNearItsEnd, from: connection.origin, at: moment)
    occurrence.measure = age
    findings.add(occurrence)
  }

  func saw(
    _ push: borrowing SeenPush, on connection: KnownConnection, at moment: Moment,
    in findings: inout FindingTable
  ) {
    // A bridge shows a token of its own.
    guard push.interface != .gateway else { return }
    switch push.rejection {
    case .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIdInToken:
      connection.tokens.refused()
    default: return
    }
    guard push.rejection == .expiredProviderToken, push.fault == nil, !clockWasSet else { return }
    var occurrence = Occurrence(.tokenNearItsEnd, from: connection.origin, at: moment)
    (occurrence.push, occurrence.severity, occurrence.measure) = (push.id, .warning, 3600)
    findings.add(occurrence)
  }
}

extension ProviderTokenRules {
  static let renewedTooOften = RuleTerms(
    severity: .error,
    remedy:
      "Make one provider token, use it for all pushes and connections, and make the next after 20 to 60 minutes, "
      + "when a push needs it."
  ) {
    let number = Numerals.count($0.count, "provider token", "provider tokens")
    let connections = Numerals.count($0.connections, "connection", "connections")
    return
      "\(number) came on \(connections), the quickest \(Numerals.duration($0.measure ?? 0)) after the one before; "
      + "Apple allows one in 20 minutes."
  }

  static let perTopic = RuleTerms(
    severity: .warning,
    remedy:
      "Use one provider token for all topics of a team; where keys belong to topics, use a connection for each key."
  ) {
    let number = Numerals.count($0.count, "provider token", "provider tokens")
    return "\(number) came on one connection, each with a topic of its own; Apple allows one in 20 minutes."
  }

  static let nearItsEnd = RuleTerms(
    severity: .note, keeps: .largest,
    remedy:
      "Make a new provider token before the old one is 55 minutes old: Apple refuses it when it is an hour old."
  ) {
    let minutes = Numerals.grouped(($0.measure ?? 0) / 60)
    return
      "A provider token was still used at an age of up to \(minutes) minutes, \(Numerals.count($0.count, "time", "times"))."
  }
}
