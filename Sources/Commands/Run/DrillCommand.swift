import Basics
import Drill
import Platform

/// `drill`: what a provider does when something goes wrong (`Documentation/drills.md`); exit 1 if a drill fails, 2 if the run without a
/// fault does.
package enum DrillCommand {
  private static let only = Flag("only", .text("ID"), "run this drill alone; --list names all").repeatable
  private static let list = Flag("list", .toggle, "list the drills, and run none")
  private static let pushes = Flag(
    "pushes", ValueKind<Int>.number("N", DrillOptions.pushes), default: "\(DrillOptions.defaultPushes)",
    "how many tokens CMD is to push to")
  private static let jobs = Flag(
    "jobs", ValueKind<Int>.number("N", 1...64), default: "1", "run so many drills side by side")
  private static let timeout = Flag(
    "timeout", .interval,
    "how long CMD may take in each run (default: what the drill waits for, and five first runs)")
  private static let junit = Flag("junit", .file, "write a report in JUnit's format, for CI")
  private static let keep = Flag(
    "keep", .folder, "keep the capture, the log and the output of CMD of each drill in this folder")
  private static let proxy = Flag(
    "proxy", .toggle, "set HTTPS_PROXY too, for programs that know only Apple's names")

  static let flags: [any FlagDescription] =
    [only, list, pushes, jobs, timeout, CommonFlags.jsonObject, junit, keep, proxy] + DrillServeCommand.flags
  /// With these there is nothing to run.
  static let flagsWithoutCommand = [list.name, DrillServeCommand.serve.name]
  /// These are for a command alone.
  private static let flagsOfCommands = [only.name, jobs.name, timeout.name, junit.name]

  static func run(_ settings: Settings) throws -> ExitStatus {
    if settings.isOn(list) {
      for line in DrillCatalogue.list { try Output.line(line) }
      return .success
    }
    try DrillServeCommand.check(settings, notFor: flagsOfCommands)
    let drills: [Drill]
    do { drills = try DrillCatalogue.chosen(settings.all(only)) } catch {
      throw UsageError("\(error)", command: "drill")
    }
    let options = try options(settings)
    SignalMask.ignoreSignalsOfWriting()
    SocketCalls.raiseOpenFileLimit()
    do {
      return try run(drills, settings, options)
    } catch let interrupted as DrillInterrupted {
      throw CommandFailure(
        "drill was interrupted", status: ExitStatus(rawValue: 128 + interrupted.signal.number))
    } catch let error as DrillError {
      throw CommandFailure("\(error)", status: error.isOfCommand ? .usage : .failure)
    }
  }

  private static func run(
    _ drills: [Drill], _ settings: Settings, _ options: DrillOptions
  ) throws -> ExitStatus {
    let isJSON = settings.isOn(CommonFlags.jsonObject)
    if settings.isOn(DrillServeCommand.serve) {
      return try DrillServeCommand.run(settings, options, isJSON: isJSON)
    }
    if let baseline = DrillJobs.givenBaseline { return try runAlone(drills, options, baseline) }
    return try DrillSeries(
      drills, options, jobs: settings[jobs] ?? 1, DrillOutput(drills, isJSON: isJSON), junit: settings[junit]
    ).run()
  }

  private static func options(_ settings: Settings) throws -> DrillOptions {
    var options = DrillOptions(command: settings.foreign)
    options.pushes = settings[pushes] ?? DrillOptions.defaultPushes
    options.timeout = try settings[timeout].map(milliseconds)
    (options.keep, options.usesProxy) = (settings[keep], settings.isOn(proxy))
    (options.scratch, options.credentials) = (DrillJobs.givenFolder, DrillJobs.givenCredentials)
    return options
  }

  /// Within the bounds that the console API has for a server.
  private static func milliseconds(_ timeout: Interval) throws -> Int64 {
    let milliseconds = timeout.nanoseconds / 1_000_000
    let limits = DrillOptions.timeouts
    guard limits.contains(milliseconds) else {
      throw UsageError(
        "--timeout is \(limits.lowerBound)ms to \(limits.upperBound / 1000)s, not \(milliseconds)ms",
        command: "drill")
    }
    return milliseconds
  }

  /// One of several processes, which tells the one that has started it.
  private static func runAlone(
    _ drills: [Drill], _ options: DrillOptions, _ baseline: BaselineFacts
  ) throws -> ExitStatus {
    let runner = try DrillRunner(options, signals: DrillSignals())
    for drill in drills { try Output.line(runner.run(drill, baseline).json.text) }
    return .success
  }
}

/// The baseline, then all drills that are for what it has shown of CMD.
struct DrillSeries {
  private let drills: [Drill]
  private let options: DrillOptions
  private let jobs: Int
  private let output: DrillOutput
  private let junit: String?

  init(_ drills: [Drill], _ options: DrillOptions, jobs: Int, _ output: DrillOutput, junit: String?) {
    (self.drills, self.options, self.jobs) = (drills, options, jobs)
    (self.output, self.junit) = (output, junit)
  }

  func run() throws -> ExitStatus {
    let runner = try DrillRunner(options, signals: DrillSignals())
    output.began(DrillResult.baselineId)
    let (baseline, result): (BaselineFacts, DrillResult)
    do { (baseline, result) = try runner.baseline() } catch let error as BaselineError {
      return try fail(error)
    }
    try output.ended(result)
    var report = DrillReport(command: options.command, baseline: result)
    report.skipped = drills.compactMap { drill in
      DrillRunner.reasonToSkip(drill, baseline).map { (drill.id, $0) }
    }
    let chosen = drills.filter { drill in !report.skipped.contains { $0.id == drill.id } }
    report.drills = try run(chosen, baseline, runner)
    try finish(report)
    if chosen.isEmpty, let (_, because) = report.skipped.first {
      throw CommandFailure("no drill was run: \(because)", status: .usage)
    }
    return report.isPassed ? .success : .failure
  }

  private func run(
    _ drills: [Drill], _ baseline: BaselineFacts, _ runner: DrillRunner
  ) throws -> [DrillResult] {
    output.count = drills.count
    if jobs > 1, drills.count > 1 {
      return try DrillJobs(options, baseline, credentials: runner.credentialsPath, jobs: jobs)
        .run(drills, output)
    }
    return try drills.map { drill in
      output.began(drill.id)
      let result = try runner.run(drill, baseline)
      try output.ended(result)
      return result
    }
  }

  private func fail(_ error: BaselineError) throws -> ExitStatus {
    try output.ended(error.result)
    for line in error.output { Output.status("  \(line)\n") }
    try finish(DrillReport(command: options.command, baseline: error.result))
    throw CommandFailure("the run without a fault failed: \(error.result.judgement.sentence)", status: .usage)
  }

  private func finish(_ report: DrillReport) throws {
    try output.finish(report)
    guard let junit else { return }
    try FileReplacement(junit).write(Array(report.junit.utf8), permissions: 0o644)
  }
}

/// What `drill` says: a row as soon as it is known, or one document at the end; and on standard error which drill is running.
final class DrillOutput {
  private let table: DrillTable
  private let isJSON: Bool
  private let hasTerminal = StandardDescriptors.isTerminal(StandardDescriptors.error)
  private var hasHead = false
  private var running: [String] = []
  private var done = 0
  /// Drills that will run, as a count.
  var count = 0

  init(_ drills: [Drill], isJSON: Bool) {
    (table, self.isJSON) = (DrillTable(drills.map(\.id)), isJSON)
  }

  func began(_ id: String) {
    running.append(id)
    let place = id == DrillResult.baselineId ? "" : "drill \(done + running.count) of \(count): "
    let line = "\(place)\(running.joined(separator: ", "))"
    Output.status(hasTerminal ? "\r\u{1b}[K\(line) " : "\(line)\n")
  }

  func ended(_ result: DrillResult) throws {
    running.removeAll { $0 == result.id }
    if result.id != DrillResult.baselineId { done += 1 }
    if hasTerminal { Output.status("\r\u{1b}[K") }
    guard !isJSON else { return }
    if !hasHead { try Output.line(table.head) }
    hasHead = true
    try Output.line(table.line(result))
  }

  func finish(_ report: DrillReport) throws {
    if isJSON { return try tell(report.json.text) }
    if !report.baseline.judgement.verdict.isFailure { try tell("\n" + report.summary) }
  }

  private func tell(_ text: String) throws { try Output.line(text) }
}
