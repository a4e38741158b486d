import Advice
import Basics
import Broker
import Credentials
import Emulator
import Platform
import PushModel
import Transport

/// One run of CMD on a stage of its own: what was seen of it.
struct DrillRun {
  /// How often CMD is looked at, in nanoseconds: a time is as exact as that.
  private static let look: Int64 = 10_000_000
  /// How long deliveries may take to be at rest behind CMD's end, in nanoseconds.
  private static let restLimit: Int64 = 15_000_000_000
  /// How long a connection may stay open that CMD has left, in nanoseconds: of one that stands still by a fault nobody hears.
  private static let lingerLimit: Int64 = 1_000_000_000

  private let stage: DrillStage
  private let drill: Drill?
  private let signals: DrillSignals
  private var tally: DrillTally
  private var rules: [String] = []
  private var connections = ConnectionMeter()
  private(set) var facts = RunFacts()
  /// The first rejection, for the baseline.
  var firstRejection: Rejection? { tally.firstRejection }
  var elsewhere: (console: Int, strangers: Int) { tally.elsewhere }
  /// What CMD said.
  private(set) var output: [UInt8] = []

  init(_ stage: DrillStage, _ drill: Drill?, _ signals: DrillSignals) {
    (self.stage, self.drill, self.signals) = (stage, drill, signals)
    tally = DrillTally(stage.file)
  }

  private var loop: EventLoop { stage.emulator.loop }
  private var journal: Journal { stage.emulator.broker.journal }

  /// Runs CMD to its end, or for so many nanoseconds, and until all that it has sent is where it belongs.
  mutating func run(_ words: [String], _ variables: [String: String], limit: Int64) throws {
    let offered = stage.emulator.broker.feedback.count
    rules = try drill.map(stage.inject) ?? stage.countConnections()
    let command = try DrilledCommand(words, variables: variables, on: loop)
    do {
      try watch(command, limit: limit)
      try rest()
    } catch {
      command.abandon()
      throw error
    }
    output = command.output
    facts.leftBehind = command.leftBehind
    facts.feedback = (offered, max(0, offered - stage.emulator.broker.feedback.count))
    gather()
    try TextFile.write(stage.folder.output, output)
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

  /// One turn of the loop, and a look at what has come of it.
  private mutating func turn() throws {
    let timer = LoopEvent(timerOn: loop) {}
    timer.start(afterNanoseconds: Self.look)
    loop.runTurn()
    timer.cancel()
    tally.read(journal)
    if drill?.right.pausesBeforeReconnect ?? true {
      connections.note(
        total: rules.reduce(0) { $0 + (stage.emulator.faultEngine[$1]?.seen ?? 0) }, SystemClock.now())
    }
    if let failure = stage.emulator.failure { throw failure }
    try signals.check()
  }

  /// Until nothing has come any more for a while, and all that has come has its end.
  private mutating func rest() throws {
    let began = SystemClock.now()
    let quiet = (drill?.quietMilliseconds ?? 150) * 1_000_000
    var (last, since) = (journal.nextId, began)
    while true {
      try turn()
      let now = SystemClock.now()
      if journal.nextId != last { (last, since) = (journal.nextId, now) }
      let calm = now.nanoseconds(since: since)
      let isLinked = calm < Self.lingerLimit && hasConnections
      if calm >= quiet, !isLinked, tally.hasAll(of: journal) { return }
      if now.nanoseconds(since: began) >= Self.restLimit { return }
    }
  }

  private var hasConnections: Bool {
    ["gateway", "provider", "feedback"].contains {
      stage.emulator.listeners[$0]?.openConnections.isEmpty == false
    }
  }

  // MARK: What was seen

  private mutating func gather() {
    facts.tokens = tally.tokens
    facts.interfaces = tally.interfaces
    facts.connections = max(tally.connections.count, connections.total)
    facts.mostConnectionsInASecond = connections.most
    facts.providerTokens = Int(clamping: stage.emulator.tokenVerifier.verifiedCount)
    facts.faultHits = rules.reduce(0) { $0 + (stage.emulator.faultEngine[$1]?.hits ?? 0) }
    stage.emulator.advice.nothingMoreComes()
    facts.findings = stage.emulator.advice.findings().map {
      FindingFacts(rule: $0.rule, severity: $0.severity, count: $0.count, sentence: $0.sentence)
    }
    readReports()
  }

  private mutating func readReports() {
    for place in stage.file.places(in: output) { facts.tokens[place].isPrinted = true }
    guard PathCalls.exists(stage.folder.report) else { return }
    facts.madeReport = true
    // One that can't be read says nothing.
    let text = (try? TextFile.readPlain(stage.folder.report, limit: TextFile.limit)) ?? []
    for place in stage.file.places(ofLines: text) { facts.tokens[place].isReported = true }
  }
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

/// The first signal that has come, for whoever runs drills to look at.
package final class DrillSignals {
  package private(set) var received: Signal?
  private let isDeaf: Bool

  /// A deaf one leaves the signals of the process to others.
  package init(isDeaf: Bool = false) { self.isDeaf = isDeaf }

  /// Throws once one has come.
  func check() throws(DrillInterrupted) {
    if let received { throw DrillInterrupted(signal: received) }
  }

  /// Has the signals that end a process end a run, as long as the emulator is there.
  func listen(_ emulator: Emulator) {
    guard !isDeaf else { return }
    for signal in [Signal.interrupt, .terminate, .hangUp] {
      emulator.onSignal(signal) { [self] in received = received ?? signal }
    }
  }
}

/// A signal has ended the run.
package struct DrillInterrupted: Error {
  package let signal: Signal

  package init(signal: Signal) { self.signal = signal }
}
