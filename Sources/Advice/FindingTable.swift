import Basics

/// Something that a provider was seen to do, before it is a finding.
struct Occurrence {
  var rule: AdviceRule
  var provider: ProviderID
  var connection: UInt32
  var moment: Moment
  var count: UInt64 = 1
  /// Connections that took part besides, as a count.
  var others = 0
  var push: UInt64?
  var fault: String?
  /// At least this bad, whatever the rule says.
  var severity: Severity?
  /// What the rule measures, in its unit.
  var measure: Int64?
  /// What `measure` is taken of, as a count.
  var total: UInt64?
  var problem: PayloadProblem?

  init(_ rule: AdviceRule, from origin: Origin, at moment: Moment) {
    (self.rule, self.provider, self.connection, self.moment) = (
      rule, origin.provider, origin.connection, moment
    )
  }
}

/// What all occurrences of a rule come to, for one provider.
struct Tally {
  /// Fault names that are told apart, as a count.
  static let faultLimit = 8
  /// Connections that are told apart one by one, as a count. Their numbers grow, so that of more only the newest counts again.
  static let connectionLimit = 64

  private(set) var count: UInt64 = 0
  private(set) var connections = 0
  private(set) var first: Timestamp
  private(set) var last: Timestamp
  private(set) var examples: [UInt64] = []
  private(set) var faults: [(fault: String, count: UInt64)] = []
  private(set) var least = Severity.note
  private(set) var measure: Int64?
  private(set) var total: UInt64 = 0
  private(set) var problem: PayloadProblem?
  /// How bad it was when news were last asked for; nil for not yet.
  var told: Severity?
  private var numbers: Set<UInt32> = []
  private var highest: UInt32 = 0

  init(from moment: Moment) { (first, last) = (moment.time, moment.time) }

  mutating func add(_ occurrence: Occurrence, terms: RuleTerms) {
    count = Self.sum(count, occurrence.count)
    last = occurrence.moment.time
    problem = occurrence.problem ?? problem
    if let severity = occurrence.severity { least = max(least, severity) }
    if let push = occurrence.push, examples.count < Finding.exampleLimit { examples.append(push) }
    keep(occurrence.measure, of: occurrence.total, terms.keeps)
    add(occurrence.connection)
    connections += occurrence.others
    if let fault = occurrence.fault { add(fault, occurrence.count) }
  }

  /// Takes some back that were no occurrences after all.
  mutating func takeBack(_ number: UInt64, fault: String?) {
    count -= min(count, number)
    guard let fault, let place = faults.firstIndex(where: { $0.fault == fault }) else { return }
    faults[place].count -= min(faults[place].count, number)
    if faults[place].count == 0 { faults.remove(at: place) }
  }

  func severity(_ terms: RuleTerms) -> Severity {
    let byCount = terms.rises.map { count >= $0.from ? $0.to : .note } ?? .note
    return max(problem?.severity ?? terms.severity, max(least, byCount))
  }

  /// A total is told with the measure that was taken of it.
  private mutating func keep(_ measure: Int64?, of total: UInt64?, _ kept: RuleTerms.Kept) {
    if let measure {
      if let former = self.measure, kept == .largest ? measure <= former : measure >= former { return }
      self.measure = measure
    }
    self.total = total ?? self.total
  }

  private mutating func add(_ connection: UInt32) {
    if connection == highest || numbers.contains(connection) { return }
    if numbers.count < Self.connectionLimit {
      numbers.insert(connection)
    } else if connection <= highest {
      return
    }
    highest = max(highest, connection)
    connections += 1
  }

  private mutating func add(_ fault: String, _ number: UInt64) {
    if let place = faults.firstIndex(where: { $0.fault == fault }) {
      faults[place].count = Self.sum(faults[place].count, number)
    } else if faults.count < Self.faultLimit {
      faults.append((fault, number))
    }
  }

  private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (sum, overflows) = left.addingReportingOverflow(right)
    return overflows ? .max : sum
  }
}

/// All tallies: at most one for each rule and provider, and some more for payloads.
struct FindingTable {
  /// Kinds of payload problems of one provider, as a count.
  static let kindLimit = 16

  struct Key: Hashable {
    var provider: ProviderID
    var rule: AdviceRule
    /// Of a payload problem; "" elsewhere.
    var kind: String
  }

  private(set) var tallies: [Key: Tally] = [:]
  /// Whether one has become a finding, or worse, since news were taken.
  private var hasNews = false

  /// Whether the rule has found something of the provider.
  func has(_ rule: AdviceRule, of provider: ProviderID) -> Bool {
    let tally = tallies[Key(provider: provider, rule: rule, kind: "")]
    return tally.map { $0.count >= RuleTerms.of(rule).least } ?? false
  }

  mutating func add(_ occurrence: Occurrence) {
    let key = Key(
      provider: occurrence.provider, rule: occurrence.rule, kind: occurrence.problem?.kind ?? "")
    let terms = RuleTerms.of(occurrence.rule)
    if let place = tallies.index(forKey: key) {
      tallies.values[place].add(occurrence, terms: terms)
      hasNews = hasNews || Self.isNews(tallies.values[place], terms)
    } else if key.kind.isEmpty || kinds(of: key.provider) < Self.kindLimit {
      var tally = Tally(from: occurrence.moment)
      tally.add(occurrence, terms: terms)
      hasNews = hasNews || Self.isNews(tally, terms)
      tallies[key] = tally
    }
  }

  mutating func takeBack(_ rule: AdviceRule, of provider: ProviderID, _ count: UInt64, fault: String?) {
    let key = Key(provider: provider, rule: rule, kind: "")
    tallies[key]?.takeBack(count, fault: fault)
    if tallies[key]?.count == 0 { tallies[key] = nil }
  }

  mutating func forget(_ provider: ProviderID) {
    tallies = tallies.filter { $0.key.provider != provider }
  }

  mutating func clear() { (tallies, hasNews) = ([:], false) }

  /// Those that are new or worse since the last call.
  mutating func takeNews(_ providers: [ProviderID: KnownProvider]) -> [Finding] {
    guard hasNews else { return [] }
    hasNews = false
    var news: [Finding] = []
    for (key, tally) in tallies where Self.isNews(tally, RuleTerms.of(key.rule)) {
      tallies[key]?.told = tally.severity(RuleTerms.of(key.rule))
      if let finding = Self.finding(key, tally, providers) { news.append(finding) }
    }
    return Self.sorted(news)
  }

  func findings(_ providers: [ProviderID: KnownProvider]) -> [Finding] {
    Self.sorted(tallies.compactMap { Self.finding($0.key, $0.value, providers) })
  }

  private func kinds(of provider: ProviderID) -> Int {
    tallies.count { $0.key.provider == provider && !$0.key.kind.isEmpty }
  }

  private static func isNews(_ tally: Tally, _ terms: RuleTerms) -> Bool {
    guard tally.count >= terms.least else { return false }
    return tally.told.map { $0 < tally.severity(terms) } ?? true
  }

  private static func finding(
    _ key: Key, _ tally: Tally, _ providers: [ProviderID: KnownProvider]
  ) -> Finding? {
    let terms = RuleTerms.of(key.rule)
    guard tally.count >= terms.least, let provider = providers[key.provider]?.provider else { return nil }
    return Finding(
      rule: key.rule, severity: tally.severity(terms), provider: provider, connections: tally.connections,
      count: tally.count, first: tally.first, last: tally.last, examples: tally.examples,
      sentence: terms.sentence(tally), remedy: tally.problem?.remedy ?? terms.remedy,
      underFaults: tally.faults)
  }

  /// The worst first, then what happened most; what is alike in an order that stays.
  private static func sorted(_ findings: [Finding]) -> [Finding] {
    findings.sorted {
      if $0.severity != $1.severity { return $0.severity > $1.severity }
      if $0.count != $1.count { return $0.count > $1.count }
      let (left, right) = ($0.provider, $1.provider)
      return ($0.rule.rawValue, left.interface.name, left.credential, left.peer, $0.sentence)
        < ($1.rule.rawValue, right.interface.name, right.credential, right.peer, $1.sentence)
    }
  }
}
