import Basics

/// What was lost at a GOAWAY or behind an error packet and has to come again: it is looked for, and told of if it does not come.
///
/// A push is known again by its token. Where several to one token were lost, that with the same payload counts first, then the one that was
/// lost first: ids and dates in a payload may be new. What was told of and comes after all, within `timeout`, is taken back.
struct LossRules {
  /// Lost pushes that are looked for, as a count; more are only counted. About 100 bytes each.
  static let limit = 4096
  /// Places where pushes were only counted, as a count.
  static let unseenLimit = 256
  /// How long a lost push may take to come again, in nanoseconds.
  static let timeout = 60 * Numerals.second
  /// A provider that has been without a connection for so many nanoseconds sends nothing again.
  static let absence = 2 * Numerals.second

  /// One that is looked for.
  private struct Lost {
    var rule: AdviceRule
    var origin: Origin
    var payload: UInt64
    var at: Moment
    var fault: String?
    var isTold = false
  }

  /// So many that nobody looked at: any push of the provider that is not looked for counts as one of them.
  private struct Unseen {
    var rule: AdviceRule
    var origin: Origin
    var count: UInt64
    var at: Moment
    var fault: String?
    var told: UInt64 = 0
  }

  private struct Total: Hashable {
    var rule: AdviceRule
    var provider: ProviderID
  }

  /// By token.
  private var lost: [UInt64: [Lost]] = [:]
  private var count = 0
  private var unseen: [Unseen] = []
  /// All that were lost, whether they came again or not.
  private var totals: [Total: UInt64] = [:]

  /// Whether every push has to be seen.
  var isLooking: Bool { count > 0 || !unseen.isEmpty }

  /// A push was not looked at. `again`: what the same connection has lost of the same token and payload is this push, sent again.
  mutating func lose(
    _ push: LostPush, _ rule: AdviceRule, from origin: Origin, fault: String?, again: Bool, at moment: Moment,
    in findings: inout FindingTable
  ) {
    var push = ComparedPush(push)
    let payload = push.payload
    let former = lost[push.token]?.firstIndex {
      $0.payload == payload && (again || $0.origin.connection != origin.connection)
    }
    if let former { remove(push.token, former, in: &findings) } else { add(1, rule, origin.provider) }
    guard count < Self.limit else {
      addUnseen(1, rule, from: origin, fault: fault, at: moment)
      return
    }
    let new = Lost(rule: rule, origin: origin, payload: payload, at: moment, fault: fault)
    lost[push.token, default: []].append(new)
    count += 1
  }

  /// So many pushes were lost, and nobody knows which.
  mutating func loseUnseen(
    _ number: Int, _ rule: AdviceRule, from origin: Origin, fault: String?, at moment: Moment
  ) {
    guard number > 0 else { return }
    add(UInt64(number), rule, origin.provider)
    addUnseen(UInt64(number), rule, from: origin, fault: fault, at: moment)
  }

  /// A push has come.
  mutating func saw(_ push: inout ComparedPush, from provider: ProviderID?, in findings: inout FindingTable) {
    if let candidates = lost[push.token], !candidates.isEmpty {
      let payload = push.payload
      remove(push.token, candidates.firstIndex { $0.payload == payload } ?? 0, in: &findings)
    } else if let place = unseen.firstIndex(where: { $0.origin.provider == provider }) {
      unseen[place].count -= 1
      if unseen[place].told > 0 {
        unseen[place].told -= 1
        findings.takeBack(
          unseen[place].rule, of: unseen[place].origin.provider, 1, fault: unseen[place].fault)
      }
      if unseen[place].count == 0 { unseen.remove(at: place) }
    }
  }

  /// The provider was told that the push's token is bad or gone: what was lost for it need not come again.
  mutating func drop(_ token: UInt64, of provider: ProviderID, in findings: inout FindingTable) {
    for place in (lost[token] ?? []).indices.reversed()
    where lost[token]?[place].origin.provider == provider {
      remove(token, place, in: &findings)
    }
  }

  /// Tells of what was waited for long enough. `isGone`: whether the provider has left.
  mutating func timePassed(
    _ moment: Moment, isGone: (ProviderID) -> Bool, in findings: inout FindingTable
  ) {
    sweep(in: &findings) { provider, lostAt in
      let age = moment.instant.nanoseconds(since: lostAt)
      return age >= Self.timeout ? .end : isGone(provider) ? .tell : .wait
    }
  }

  /// Tells of all at once. It is looked for as before: somebody may have asked too early.
  mutating func nothingMoreComes(in findings: inout FindingTable) {
    sweep(in: &findings) { _, _ in .tell }
  }

  mutating func forget(_ provider: ProviderID) {
    for (token, pushes) in lost {
      let others = pushes.filter { $0.origin.provider != provider }
      count -= pushes.count - others.count
      lost[token] = others.isEmpty ? nil : others
    }
    unseen.removeAll { $0.origin.provider == provider }
    totals = totals.filter { $0.key.provider != provider }
  }

  mutating func clear() { self = LossRules() }

  private enum Fate { case wait, tell, end }

  private mutating func sweep(
    in findings: inout FindingTable, _ fate: (ProviderID, Instant) -> Fate
  ) {
    for (token, pushes) in lost {
      var kept: [Lost] = []
      for var push in pushes {
        let fate = fate(push.origin.provider, push.at.instant)
        if fate != .wait, !push.isTold {
          push.isTold = true
          tell(1, push.rule, push.origin, push.at, push.fault, in: &findings)
        }
        if fate != .end { kept.append(push) }
      }
      count -= pushes.count - kept.count
      lost[token] = kept.isEmpty ? nil : kept
    }
    for place in unseen.indices.reversed() {
      let one = unseen[place]
      let fate = fate(one.origin.provider, one.at.instant)
      if fate != .wait, one.count > one.told {
        tell(one.count - one.told, one.rule, one.origin, one.at, one.fault, in: &findings)
        unseen[place].told = one.count
      }
      if fate == .end { unseen.remove(at: place) }
    }
  }

  private func tell(
    _ number: UInt64, _ rule: AdviceRule, _ origin: Origin, _ at: Moment, _ fault: String?,
    in findings: inout FindingTable
  ) {
    var occurrence = Occurrence(rule, from: origin, at: at)
    (occurrence.count, occurrence.fault) = (number, fault)
    occurrence.total = totals[Total(rule: rule, provider: origin.provider)]
    findings.add(occurrence)
  }

  private mutating func remove(_ token: UInt64, _ place: Int, in findings: inout FindingTable) {
    guard let push = lost[token]?.remove(at: place) else { return }
    count -= 1
    if lost[token]?.isEmpty ?? false { lost[token] = nil }
    if push.isTold { findings.takeBack(push.rule, of: push.origin.provider, 1, fault: push.fault) }
  }

  private mutating func add(_ number: UInt64, _ rule: AdviceRule, _ provider: ProviderID) {
    let (sum, overflows) = totals[Total(rule: rule, provider: provider), default: 0]
      .addingReportingOverflow(number)
    totals[Total(rule: rule, provider: provider)] = overflows ? .max : sum
  }

  private mutating func addUnseen(
    _ number: UInt64, _ rule: AdviceRule, from origin: Origin, fault: String?, at moment: Moment
  ) {
    let place = unseen.firstIndex { $0.origin.connection == origin.connection && $0.rule == rule }
    if let place {
      let (sum, overflows) = unseen[place].count.addingReportingOverflow(number)
      unseen[place].count = overflows ? .max : sum
      unseen[place].at = moment
    } else if unseen.count < Self.unseenLimit {
      unseen.append(Unseen(rule: rule, origin: origin, count: number, at: moment, fault: fault))
    }
  }
}

extension LossRules {
  static let lostAtGoAway = RuleTerms(
    severity: .error,
    remedy: "Send again, on a new connection, each push whose stream is above the last one that GOAWAY names."
  ) {
    let all = Numerals.count(max($0.total, $0.count), "push", "pushes")
    return "\(Numerals.grouped($0.count)) of \(all) above the last stream of a GOAWAY did not come again."
  }

  static let lostAfterError = RuleTerms(
    severity: .error,
    remedy:
      "Keep what was sent until it is certain, and send again, on a new connection, all that came after the "
      + "notification that the error packet names."
  ) {
    let all = Numerals.count(max($0.total, $0.count), "frame", "frames")
    return "\(Numerals.grouped($0.count)) of \(all) that were discarded after an error did not come again."
  }
}
