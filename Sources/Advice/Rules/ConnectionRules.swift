import Basics
import PushModel

/// What is said of connections: how often a provider opens one, and how it uses it.
struct ConnectionRules {
  /// So many connections with one push each, one after the other, in so many nanoseconds, are a habit; so many are an attack in Apple's
  /// eyes (`Documentation/provider-api.md#connection`: "opening and closing them fast counts as denial of service"). The numbers are ours.
  static let shortConnections = 10
  static let shortConnectionsTime = Numerals.minute
  static let attack: UInt64 = 100
  /// So many connections without a push in so many nanoseconds: no pause is left between them. The numbers are ours.
  static let stormConnections = 10
  static let stormTime = Numerals.second
  /// Streams that come this long after GOAWAY were not under way, in nanoseconds.
  static let goAwayGrace = Numerals.second
  /// So many pushes on a connection, so many a second on average, and never two at a time: more could have gone. Who pushes on demand is
  /// slower, and we answer before the next is there. The numbers are ours. It is but a note, as a provider that does not wait looks the same
  /// where it makes pushes more slowly than they are answered.
  static let onePushAtATime = 100
  static let pushesPerSecond: Int64 = 200

  /// When the last connections of a provider ended, as far as they were of one kind and no other came between.
  private struct Runs {
    var short: [Instant] = []
    var empty: [Instant] = []
  }

  private var runs: [ProviderID: Runs] = [:]

  mutating func ended(
    _ connection: KnownConnection, _ end: SeenEnd, othersOpen: Int, at moment: Moment,
    in findings: inout FindingTable
  ) {
    watchStreams(connection, end, at: moment, in: &findings)
    guard othersOpen <= 1 else {
      runs[connection.provider] = nil
      return
    }
    var run = runs[connection.provider] ?? Runs()
    if Self.isFruitless(connection, end) {
      let span = Self.extend(&run.empty, to: moment.instant, Self.stormConnections, within: Self.stormTime)
      Self.report(.reconnectStorm, span, connection, end, at: moment, in: &findings)
    } else if end.pushes > 0 {
      run.empty = []
    }
    if end.pushes > 1 {
      run.short = []
    } else if end.pushes == 1 && !connection.isDisturbed && end.fault == nil {
      let span = Self.extend(
        &run.short, to: moment.instant, Self.shortConnections, within: Self.shortConnectionsTime)
      Self.report(.connectionPerPush, span, connection, end, at: moment, in: &findings)
    }
    runs[connection.provider] = run
  }

  mutating func forget(_ provider: ProviderID) { runs[provider] = nil }

  mutating func clear() { runs = [:] }

  /// A stream came above the last that GOAWAY names.
  static func dropped(_ connection: KnownConnection, at moment: Moment, in findings: inout FindingTable) {
    guard let goAway = connection.goAway else { return }
    let age = moment.instant.nanoseconds(since: goAway.at)
    guard age >= goAwayGrace else { return }
    var occurrence = Occurrence(.streamsAfterGoAway, from: connection.origin, at: moment)
    (occurrence.measure, occurrence.fault) = (age, goAway.fault)
    findings.add(occurrence)
  }

  /// Whether nothing came of it. After an error packet or GOAWAY a new connection is what should come, at once.
  private static func isFruitless(_ connection: KnownConnection, _ end: SeenEnd) -> Bool {
    guard connection.errorPacket == nil, connection.goAway == nil else { return false }
    return end.pushes == 0 || end.pushes == 1 && end.fault != nil
  }

  private func watchStreams(
    _ connection: KnownConnection, _ end: SeenEnd, at moment: Moment, in findings: inout FindingTable
  ) {
    guard end.pushes >= Self.onePushAtATime, end.mostStreams == 1, end.streamLimit > 1 else { return }
    let time = max(1, moment.instant.nanoseconds(since: connection.opened))
    guard Int64(end.pushes) >= time / (Numerals.second / Self.pushesPerSecond) else { return }
    var occurrence = Occurrence(.oneStreamAtATime, from: connection.origin, at: moment)
    (occurrence.count, occurrence.measure) = (UInt64(end.pushes), Int64(end.streamLimit))
    findings.add(occurrence)
  }

  /// Adds to the ends of a run; answers in how many nanoseconds the newest `least` came, if there are so many within `time`.
  private static func extend(
    _ ends: inout [Instant], to now: Instant, _ least: Int, within time: Int64
  ) -> Int64? {
    ends.append(now)
    if ends.count > least { ends.removeFirst() }
    guard let first = ends.first, ends.count == least else { return nil }
    let span = now.nanoseconds(since: first)
    return span <= time ? span : nil
  }

  /// The first time for the whole run, then for each connection more.
  private static func report(
    _ rule: AdviceRule, _ span: Int64?, _ connection: KnownConnection, _ end: SeenEnd, at moment: Moment,
    in findings: inout FindingTable
  ) {
    guard let span else { return }
    var occurrence = Occurrence(rule, from: connection.origin, at: moment)
    if !findings.has(rule, of: connection.provider) {
      occurrence.others = (rule == .reconnectStorm ? stormConnections : shortConnections) - 1
    }
    occurrence.count = UInt64(1 + occurrence.others)
    (occurrence.measure, occurrence.fault) = (span, end.fault)
    findings.add(occurrence)
  }
}

extension ConnectionRules {
  static let connectionPerPush = RuleTerms(
    severity: .warning, rises: (attack, .error),
    remedy: "Keep the connection open, for hours or days, and send all pushes on it."
  ) {
    let number = Numerals.count($0.count, "connection", "connections")
    return
      "\(number) came one after the other with one push each; the quickest \(shortConnections) ended within "
      + "\(Numerals.duration($0.measure ?? 0))."
  }

  static let reconnectStorm = RuleTerms(
    severity: .error,
    remedy:
      "Wait before each new attempt, and longer after each that fails: 1 s, 2 s, 4 s, up to some minutes."
  ) {
    let number = Numerals.count($0.count, "connection", "connections")
    return "\(number) came to nothing one after the other; the quickest \(stormConnections) ended within "
      + "\(Numerals.duration($0.measure ?? 0))."
  }

  static let streamsAfterGoAway = RuleTerms(
    severity: .error, keeps: .largest,
    remedy: "Open no stream on a connection after its GOAWAY: open a new connection for what comes next."
  ) {
    let number = Numerals.count($0.count, "stream was", "streams were")
    return "\(number) opened on a connection a second or more after its GOAWAY, the last "
      + "\(Numerals.duration($0.measure ?? 0)) after; they are not answered."
  }

  static let oneStreamAtATime = RuleTerms(
    severity: .note, keeps: .largest,
    remedy:
      "If your provider waits for each answer, which the drill slow-answers shows, send the next push before it is "
      + "there, on as many streams as SETTINGS allow."
  ) {
    let number = Numerals.count($0.count, "push", "pushes")
    let connections = Numerals.count($0.connections, "connection", "connections")
    return
      "\(number) on \(connections) came one at a time, each after the answer to the one before, though "
      + "\(Numerals.grouped($0.measure ?? 0)) streams were allowed."
  }

  static let streamLimitIgnored = RuleTerms(
    severity: .error,
    remedy: "Follow SETTINGS_MAX_CONCURRENT_STREAMS, also when it changes, and let what is above it wait."
  ) {
    "\(Numerals.count($0.count, "request", "requests")) came while as many streams were open as SETTINGS allow."
  }
}
