import Advice
import Basics
import Console

/// How one drill went, or the baseline.
package struct DrillResult: Sendable {
  /// `baseline`, or the drill's.
  package var id: String
  package var judgement: DrillJudgement
  /// How long CMD ran, in nanoseconds.
  package var nanoseconds: Int64 = 0
  /// How CMD ended, as a shell tells it; nil for one that had to be ended.
  package var status: Int32?
  /// How often the drill was run: a failure is tried once more before it is said.
  package var attempts = 1
  package var evidence: DrillEvidence?
  package var findings: [FindingFacts] = []
  /// What else there is to say, such as of processes that were left behind.
  package var notes: [String] = []
  /// The command line that runs this drill again; empty where there is no need.
  package var again = ""

  package init(id: String, _ judgement: DrillJudgement) { (self.id, self.judgement) = (id, judgement) }

  package static let baselineId = "baseline"
}

/// As `--json` shows it, and as a process that runs one drill tells the one that has started it.
extension DrillResult {
  package var json: JSONValue { outcome.json }

  package var outcome: DrillOutcome {
    let numbers = judgement.numbers
    var outcome = DrillOutcome()
    (outcome.id, outcome.verdict, outcome.sentence) = (id, judgement.verdict.rawValue, judgement.sentence)
    outcome.isPassed = !judgement.verdict.isFailure
    outcome.counts = (
      numbers.sent, numbers.once, numbers.twice, numbers.never, numbers.refused, numbers.reported,
      numbers.lost, numbers.doubled
    )
    (outcome.nanoseconds, outcome.status, outcome.attempts) = (nanoseconds, status, attempts)
    outcome.evidence = evidence.map { DrillPlace(page: $0.page, heading: $0.heading) }
    outcome.advice = findings.map { ($0.rule.rawValue, $0.severity.rawValue, $0.count, $0.sentence) }
    (outcome.notes, outcome.again) = (notes, again)
    return outcome
  }

  /// nil for anything but what `json` writes.
  package init?(_ json: JSONValue) {
    guard let id = json.string("id"), let sentence = json.string("sentence"),
      let verdict = json.string("verdict").flatMap(DrillVerdict.init(rawValue:)),
      let nanoseconds = json.member("nanoseconds")?.integer
    else { return nil }
    self.init(
      id: id, DrillJudgement(verdict: verdict, numbers: DrillNumbers(json), sentence: sentence))
    (self.nanoseconds, attempts) = (nanoseconds, json.count("attempts"))
    status = json.member("status")?.integer.flatMap { Int32(exactly: $0) }
    if let place = json.member("evidence"), let page = place.string("page"),
      let heading = place.string("heading")
    {
      evidence = DrillEvidence(path: page, heading)
    }
    if case .array(let advice)? = json.member("advice") { findings = advice.compactMap(FindingFacts.init) }
    (notes, again) = (json.strings("notes") ?? [], json.string("again") ?? "")
  }
}

extension DrillNumbers {
  fileprivate init(_ json: JSONValue) {
    (sent, once, twice) = (json.count("sent"), json.count("once"), json.count("twice"))
    (never, refused, reported) = (json.count("never"), json.count("refused"), json.count("reported"))
    (lost, doubled) = (json.count("lost"), json.count("doubled"))
  }
}

extension FindingFacts {
  fileprivate init?(_ json: JSONValue) {
    guard let rule = json.string("id").flatMap(AdviceRule.init(rawValue:)),
      let severity = json.string("severity").flatMap(Severity.init(rawValue:))
    else { return nil }
    self.init(
      rule: rule, severity: severity, count: UInt64(json.count("count")),
      sentence: json.string("sentence") ?? "")
  }
}

extension JSONValue {
  /// A member that is a count; 0 for anything else.
  fileprivate func count(_ name: String) -> Int {
    member(name)?.integer.flatMap { Int(exactly: $0) }.map { max(0, $0) } ?? 0
  }
}
