import Advice
import Basics
import Broker
import Credentials
import Emulator
import Platform
import PushModel
import Transport

/// One run of a provider on a stage of its own: what was seen of it.
struct DrillRun {
  /// How often the provider is looked at, in nanoseconds: a time is as exact as that.
  private static let look: Int64 = 10_000_000
  /// How long deliveries may take to be at rest behind the provider's end, in nanoseconds.
  private static let restLimit: Int64 = 15_000_000_000
  /// How long a connection may stay open that CMD has left, in nanoseconds: of one that stands still by a fault nobody hears.
  private static let lingerLimit: Int64 = 1_000_000_000
  /// How long nothing has to come from a server that has done all, in nanoseconds: less might be a pause of its own.
  private static let calm: Int64 = 1_000_000_000

  private let stage: DrillStage
  private let drill: Drill?
  private var tally: DrillTally
  private var rules: [String] = []
  private var connections = ConnectionMeter()
  /// What there was before: tokens of the feedback service, and provider tokens, as counts.
  private var before = (feedback: 0, providerTokens: UInt64(0))
  private(set) var facts = RunFacts()
  /// The first rejection, for the baseline.
  var firstRejection: Rejection? { tally.firstRejection }
  var elsewhere: (console: Int, strangers: Int) { tally.elsewhere }
  /// What CMD said.
  private(set) var output: [UInt8] = []

  init(_ stage: DrillStage, _ drill: Drill?) {
    (self.stage, self.drill) = (stage, drill)
    tally = DrillTally(stage.file, since: stage.place.emulator.broker.journal.nextId)
  }

  private var emulator: Emulator { stage.place.emulator }
  private var loop: EventLoop { emulator.loop }
  private var journal: Journal { emulator.broker.journal }

  private mutating func begin() throws {
    before = (emulator.broker.feedback.count, emulator.tokenVerifier.verifiedCount)
    rules = try drill.map(stage.inject) ?? stage.countConnections()
  }

  /// One turn of the loop, and a look at what has come of it.
  private mutating func turn() throws {
    let timer = LoopEvent(timerOn: loop) {}
    timer.start(afterNanoseconds: Self.look)
    loop.runTurn()
    timer.cancel()
    tally.read(journal)
    if drill?.right.pausesBeforeReconnect ?? true {
      connections.note(
        total: rules.reduce(0) { $0 + (emulator.faultEngine[$1]?.seen ?? 0) }, SystemClock.now())
    }
    try stage.place.check()
  }

  /// Until nothing has come any more for a while, and all that has come has its end. Connections that the provider has left are waited
  /// for.
  private mutating func rest(tillConnectionsEnd: Bool) throws {
    let began = SystemClock.now()
    let quiet = (drill?.quietMilliseconds ?? 150) * 1_000_000
    var silence = Silence(journal, began)
    while true {
      try turn()
      let now = SystemClock.now()
      let calm = silence.length(journal, now)
      let isLinked = tillConnectionsEnd && calm < Self.lingerLimit && stage.place.hasProviders
      if calm >= quiet, !isLinked, tally.hasAll(of: journal) { return }
      if now.nanoseconds(since: began) >= Self.restLimit { return }
    }
  }

  // MARK: A command

  /// Runs CMD to its end, or for so many nanoseconds, and until all that it has sent is where it belongs.
  mutating func run(_ words: [String], _ variables: [String: String], limit: Int64) throws {
    try begin()
    let command = try DrilledCommand(words, variables: variables, on: loop)
    do {
      try watch(command, limit: limit)
      try rest(tillConnectionsEnd: true)
    } catch {
      command.abandon()
      throw error
    }
    output = command.output
    facts.leftBehind = command.leftBehind
    gather()
    try TextFile.write(stage.place.folder.output, output)
  }

  private mutating func watch(_ command: DrilledCommand, limit: Int64) throws {
    let began = SystemClock.now()
    let deadline = began.adding(nanoseconds: limit)
    var isOverdue = false
    while !command.hasEnded {
      let now = SystemClock.now()
      if now >= deadline {
        if !isOverdue { facts.nanoseconds = now.nanoseconds(since: began) }
        isOverdue = true
        command.stop(at: now)
      }
      try turn()
    }
    if !isOverdue { facts.nanoseconds = SystemClock.now().nanoseconds(since: began) }
    let status = command.finish()
    facts.ending = isOverdue ? .stillRan : .ended(status)
  }

  // MARK: A server

  /// Has a server send, until it has done all, which it says or which is seen, or for so many nanoseconds.
  mutating func run(_ served: ServedRun, against baseline: BaselineFacts?, limit: Int64) throws {
    facts.subject = .server
    try begin()
    try stage.place.endProviders()
    served.began(tokens: stage.file.tokens, udids: stage.udids)
    try watch(served, baseline, limit: limit)
    // One whose time is over goes on sending.
    if facts.ending != .stillRan { try rest(tillConnectionsEnd: false) }
    gather()
    noteNotSent(served)
  }

  private mutating func watch(_ served: ServedRun, _ baseline: BaselineFacts?, limit: Int64) throws {
    let began = SystemClock.now()
    var silence = Silence(journal, began)
    while true {
      try turn()
      guard !served.isAbandoned else { throw DrillAbandoned() }
      let now = SystemClock.now()
      let calm = silence.length(journal, now)
      facts.nanoseconds = now.nanoseconds(since: began)
      if served.isComplete { return }
      if calm >= Self.calm, tally.hasAll(of: journal) {
        if judge(served, baseline).isSettled {
          facts.nanoseconds = silence.began.nanoseconds(since: began)
          return
        }
        // Looked at again a while later: a report is a file.
        silence.beginAgain(now)
      }
      if facts.nanoseconds >= limit {
        if !judge(served, baseline).hasAll { facts.ending = .stillRan }
        return
      }
    }
  }

  /// What would be said of it now.
  private mutating func judge(_ served: ServedRun, _ baseline: BaselineFacts?) -> DrillJudge {
    facts.tokens = tally.tokens
    readReports()
    noteNotSent(served)
    return DrillJudge(drill ?? .baseline, facts, baseline ?? BaselineFacts(facts))
  }

  private mutating func noteNotSent(_ served: ServedRun) {
    guard let places = served.notSent else { return }
    facts.madeReport = true
    for place in places { facts.tokens[place].isReported = true }
  }

  // MARK: What was seen

  private mutating func gather() {
    facts.tokens = tally.tokens
    facts.interfaces = tally.interfaces
    facts.connections = max(tally.connections.count, connections.total)
    facts.mostConnectionsInASecond = connections.most
    facts.providerTokens = Int(clamping: emulator.tokenVerifier.verifiedCount - before.providerTokens)
    facts.faultHits = rules.reduce(0) { $0 + (emulator.faultEngine[$1]?.hits ?? 0) }
    facts.feedback = (before.feedback, max(0, before.feedback - emulator.broker.feedback.count))
    emulator.advice.nothingMoreComes()
    facts.findings = emulator.advice.findings().map {
      FindingFacts(rule: $0.rule, severity: $0.severity, count: $0.count, sentence: $0.sentence)
    }
    readReports()
  }

  private mutating func readReports() {
    for place in stage.file.places(in: output) { facts.tokens[place].isPrinted = true }
    let report = stage.place.folder.report
    guard PathCalls.exists(report) else { return }
    facts.madeReport = true
    // One that can't be read says nothing.
    let text = (try? TextFile.readPlain(report, limit: TextFile.limit)) ?? []
    for place in stage.file.places(ofLines: text) { facts.tokens[place].isReported = true }
  }
}

/// What is said of it.
extension DrillRun {
  /// What runs with a fault need to know of this one, which had none; nil if the provider can't be drilled.
  var baseline: BaselineFacts? { problem == nil ? BaselineFacts(facts) : nil }

  /// Of the run without a fault.
  private var problem: String? {
    drill == nil ? BaselineCheck(facts, elsewhere, firstRejection).problem : nil
  }

  /// `baseline` is what the run without a fault has shown; nil if this is that one.
  func result(against baseline: BaselineFacts?) -> DrillResult {
    let judge = DrillJudge(drill ?? .baseline, facts, baseline ?? BaselineFacts(facts))
    var judgement = judge.judgement
    if let problem { (judgement.verdict, judgement.sentence) = (.fail, problem) }
    var result = DrillResult(id: drill?.id ?? DrillResult.baselineId, judgement)
    (result.nanoseconds, result.findings, result.evidence) = (
      facts.nanoseconds, facts.findings, drill?.evidence
    )
    guard facts.subject == .command else { return result }
    result.status = facts.status
    let left = facts.leftBehind
    if left > 0, facts.status != nil {
      result.notes = [
        "CMD left \(left) process\(left == 1 ? "" : "es") behind, which \(left == 1 ? "was" : "were") ended"
      ]
    }
    return result
  }
}

/// How long nothing has come.
private struct Silence {
  private var next: UInt64
  private(set) var began: Instant
  private var looked: Instant

  init(_ journal: Journal, _ now: Instant) { (next, began, looked) = (journal.nextId, now, now) }

  /// In nanoseconds.
  mutating func length(_ journal: Journal, _ now: Instant) -> Int64 {
    if journal.nextId != next { (next, began, looked) = (journal.nextId, now, now) }
    return now.nanoseconds(since: looked)
  }

  /// What was silence until now counts no more; it began when it began.
  mutating func beginAgain(_ now: Instant) { looked = now }
}

/// How many connections there were, and most of them within a second, from looks at a count that grows.
package struct ConnectionMeter: Sendable {
  private static let second: Int64 = 1_000_000_000

  /// Connections so far, and most of them within a second, as counts.
  package private(set) var total = 0
  package private(set) var most = 0

  /// How many there were at a look, for those of the last second at which there were more than before.
  private var steps: [(at: Instant, before: Int)] = []

  package init() {}

  package mutating func note(total now: Int, _ moment: Instant) {
    steps.removeAll { moment.nanoseconds(since: $0.at) > Self.second }
    guard now > total else { return }
    steps.append((moment, total))
    total = now
    most = max(most, total - (steps.first?.before ?? total))
  }
}
