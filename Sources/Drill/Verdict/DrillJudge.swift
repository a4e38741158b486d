import Basics

/// Facts in, verdict out. Pure.
///
///     DrillJudge(drill, facts, baseline).judgement.verdict  // .fail
package struct DrillJudge {
  /// What is wrong: a sentence, and whether that is a failure or only untold.
  private struct Fault {
    var sentence: String
    var isUntold = false
  }

  /// Most connections in a second that are no storm, beside those of the baseline, as a count.
  package static let connectionsPerSecond = 10

  private let drill: Drill
  private let facts: RunFacts
  private let baseline: BaselineFacts
  /// Places of the tokens that CMD has told of.
  private let reported: Set<Int>

  package init(_ drill: Drill, _ facts: RunFacts, _ baseline: BaselineFacts) {
    (self.drill, self.facts, self.baseline) = (drill, facts, baseline)
    let printsCount = facts.status.map { $0 != 0 } ?? false
    reported = Set(
      facts.tokens.indices.filter { index in
        let token = facts.tokens[index]
        return token.isReported || printsCount && token.isPrinted && !baseline.printed.contains(index)
      })
  }

  package var judgement: DrillJudgement {
    var faults = [
      hanging, storm, lost, unreported, triedAgain, doubled, reconnects, providerTokens, feedback,
    ]
    .compactMap(\.self)
    if isWaiting { faults.removeAll { $0.isUntold } }
    return DrillJudgement(verdict: verdict(faults), numbers: numbers, sentence: sentence(faults))
  }

  private func verdict(_ faults: [Fault]) -> DrillVerdict {
    if hanging != nil { return .hangs }
    if faults.contains(where: { !$0.isUntold }) { return .fail }
    if isWaiting { return .waiting }
    return faults.isEmpty ? .ok : .untold
  }

  private func sentence(_ faults: [Fault]) -> String {
    guard !faults.isEmpty else {
      if isWaiting {
        return "still waits before it tries \(Self.pushes(postponed.count)) again, as Apple advises"
      }
      return facts.faultHits == 0 && !drill.faults.isEmpty
        ? "the fault was not injected: nothing came that it is about" : ""
    }
    let finding = drill.advice.flatMap { rule in facts.findings.first { $0.rule == rule } }
    let status = facts.status.flatMap { $0 == 0 ? nil : "it ended with status \($0)" }
    return (finding.map { "\($0.rule.rawValue): " } ?? "")
      + (faults.map(\.sentence) + [status].compactMap(\.self)).joined(separator: "; ")
  }

  // MARK: Whether more is to be waited for

  /// Every push to a good token has come to its phone, or is told of where that is enough.
  package var hasAll: Bool { lostPlaces.isEmpty }

  /// A server that does right has done all: what is dead is given up as well, and told of where it has to be.
  package var isSettled: Bool {
    hasAll
      && dead.allSatisfy { index in
        if drill.right.reportsDeadTokens { return reported.contains(index) }
        // One that the feedback service has told of need not be tried.
        return facts.tokens[index].tries > 0 || drill.right.readsFeedback
      }
  }

  // MARK: Numbers

  /// Places of good tokens whose push did not come to its phone.
  private var missing: [Int] {
    facts.tokens.indices.filter { facts.tokens[$0].kind == .good && facts.tokens[$0].deliveries == 0 }
  }

  /// Those of them that are lost: where telling of it is enough, they were not told of.
  private var lostPlaces: [Int] { missing.filter { !(mayReport($0) && reported.contains($0)) } }

  private func mayReport(_ index: Int) -> Bool {
    switch drill.right.reports {
    case .none: false
    case .ofRejected: facts.tokens[index].rejections > 0
    case .ofAll: true
    }
  }

  private var doubledPlaces: [Int] {
    drill.right.mayDouble ? [] : facts.tokens.indices.filter { facts.tokens[$0].deliveries > 1 }
  }

  private var numbers: DrillNumbers {
    var numbers = DrillNumbers()
    for token in facts.tokens {
      numbers.sent += 1
      switch token.deliveries {
      case 0 where token.rejections > 0: numbers.refused += 1
      case 0: numbers.never += 1
      case 1: numbers.once += 1
      default: numbers.twice += 1
      }
    }
    numbers.reported = reported.count
    numbers.lost = lostPlaces.count
    numbers.doubled = doubledPlaces.count
    return numbers
  }

  // MARK: What may be wrong

  private var hasMadeReport: Bool { facts.madeReport || baseline.madeReport }

  /// It still ran, has rejected pushes to try again, and tries nothing in haste.
  private var isWaiting: Bool {
    facts.ending == .stillRan && drill.right.mayWait && !postponed.isEmpty
      && facts.tokens.allSatisfy { $0.quickRetries == 0 }
  }

  /// Places of pushes that were rejected, and neither delivered since nor told of.
  private var postponed: [Int] { lostPlaces.filter { facts.tokens[$0].rejections > 0 } }

  private var hanging: Fault? {
    guard facts.ending == .stillRan, !isWaiting else { return nil }
    let count = missing.count
    let left = count == 0 ? "" : ", with \(Self.pushes(count)) not delivered"
    return Fault(
      sentence:
        "\(drill.words.hangs): \(facts.subject.overdue) after \(Self.seconds(facts.nanoseconds))\(left)")
  }

  private var storm: Fault? {
    guard drill.right.pausesBeforeRetry else { return nil }
    let hasty = facts.tokens.filter { $0.quickRetries > 1 }
    guard let most = hasty.map(\.quickRetries).max() else { return nil }
    return Fault(
      sentence:
        "\(Self.pushes(hasty.count)) \(Self.were(hasty.count)) tried again within a second of a rejection up to "
        + "\(most) times: \(drill.words.remedy)")
  }

  private var lost: Fault? {
    let places = lostPlaces
    // What is still under way when CMD is ended is told with that.
    guard !places.isEmpty, facts.ending != .stillRan else { return nil }
    let isAllowed = places.allSatisfy(mayReport)
    let what =
      isAllowed && drill.right.reports != .none ? "neither delivered nor reported" : "never sent again"
    guard places.contains(where: { facts.tokens[$0].tries > 0 }) || places.count < facts.tokens.count else {
      return Fault(sentence: "\(facts.subject.name) sent nothing")
    }
    let subject = "\(Self.pushes(places.count)) \(drill.words.lost) \(Self.were(places.count))"
    return Fault(
      sentence: "\(subject) \(what): \(drill.words.remedy)", isUntold: isAllowed && !hasMadeReport)
  }

  private var doubled: Fault? {
    let count = doubledPlaces.count
    guard count > 0 else { return nil }
    return Fault(
      sentence:
        "\(Self.pushes(count)) \(Self.were(count)) delivered twice: what was taken is not to be sent again")
  }

  /// Tokens that are gone or bad.
  private var dead: [Int] { facts.tokens.indices.filter { facts.tokens[$0].kind != .good } }

  private var unreported: Fault? {
    guard drill.right.reportsDeadTokens, facts.ending != .stillRan else { return nil }
    let count = dead.count { !reported.contains($0) && facts.tokens[$0].tries > 0 }
    guard count > 0 else { return nil }
    return Fault(
      sentence: "\(Self.tokens(count)) that \(Self.were(count)) rejected \(Self.were(count)) not reported",
      isUntold: !hasMadeReport)
  }

  private var triedAgain: Fault? {
    guard drill.right.reportsDeadTokens else { return nil }
    let count = dead.count { facts.tokens[$0].tries > 1 }
    guard count > 0 else { return nil }
    return Fault(
      sentence: "\(Self.pushes(count)) to dead tokens \(Self.were(count)) tried again, which never works")
  }

  private var reconnects: Fault? {
    let allowed = Self.connectionsPerSecond + baseline.connections
    guard drill.right.pausesBeforeReconnect, facts.mostConnectionsInASecond > allowed else { return nil }
    return Fault(
      sentence: "\(facts.mostConnectionsInASecond) connections in a second: \(drill.words.remedy)")
  }

  private var providerTokens: Fault? {
    let (now, before) = (facts.providerTokens, baseline.providerTokens)
    // Without the fault nothing follows from it.
    guard facts.faultHits > 0 else { return nil }
    // Who has made one for each of several connections makes more where there happen to be more connections.
    let makesOneEach = before > 1 && before >= baseline.connections
    return switch drill.right.providerTokens {
    case .any: nil
    case .noMore where now > (makesOneEach ? max(before, facts.connections) : before):
      Fault(
        sentence: "\(now) provider tokens were used, \(before) in the baseline: \(drill.words.remedy)")
    case .more where now <= before && lostPlaces.isEmpty && facts.ending != .stillRan:
      Fault(sentence: "the provider token that has expired was used again: \(drill.words.remedy)")
    case .noMore, .more: nil
    }
  }

  private var feedback: Fault? {
    let (offered, read) = facts.feedback
    guard drill.right.readsFeedback, offered > 0, read == 0 else { return nil }
    let again = dead.count { facts.tokens[$0].tries > 0 }
    return Fault(
      sentence: "the feedback service had \(Self.tokens(offered)) and was not read"
        + (again > 0 ? ", and \(again) of them were pushed to" : "") + ": read it, and give these tokens up")
  }
}

/// Words with their numbers.
extension DrillJudge {
  package static func pushes(_ count: Int) -> String { "\(count) push\(count == 1 ? "" : "es")" }

  private static func tokens(_ count: Int) -> String { "\(count) token\(count == 1 ? "" : "s")" }

  private static func were(_ count: Int) -> String { count == 1 ? "was" : "were" }

  /// With one digit behind the point.
  package static func seconds(_ nanoseconds: Int64) -> String {
    let tenths = (max(0, nanoseconds) + 50_000_000) / 100_000_000
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
