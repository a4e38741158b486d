import Basics
import Console
import Credentials
import Platform
import PushModel

/// What is asked of `drill`.
package struct DrillOptions: Sendable {
  /// Default and limits of `--pushes`, as counts: each is a phone with two ends of a connection.
  package static let defaultPushes = 100
  package static let pushes = 10...1000
  /// Limits of `--timeout`, in milliseconds.
  package static let timeouts = DrillGroup.timeouts

  package var command: [String]
  package var pushes = defaultPushes
  /// Where what was recorded is kept; nil for nowhere.
  package var keep: String?
  /// Where all else lies as long as the drills run; nil for where this user has temporary files.
  package var scratch: String?
  /// Where the certificates and keys lie that another process has made for all; nil for some of its own.
  package var credentials: String?
  /// CMD knows only Apple's names.
  package var usesProxy = false
  /// How long CMD may take in each run, in milliseconds; nil for what the drill and the run without a fault say.
  package var timeout: Int64?

  package init(command: [String]) { self.command = command }

  /// How many tokens a run has.
  func pushes(of drill: Drill) -> Int { min(pushes * drill.times, drill.mostPushes) }

  /// How long CMD may take in a drill, in nanoseconds; without one, in the run without a fault.
  package func limit(of drill: Drill?, _ baseline: BaselineFacts?) -> Int64 {
    if let timeout { return timeout * 1_000_000 }
    guard let drill, let baseline else { return BaselineFacts.longestMilliseconds * 1_000_000 }
    return baseline.limit(drill)
  }
}

/// Runs CMD, without a fault and with each of the drills.
///
///     let runner = try DrillRunner(DrillOptions(command: ["./send-batch"]))
///     let (baseline, result) = try runner.baseline()
///     let verdict = try runner.run(drill, baseline).judgement.verdict
package final class DrillRunner {
  private let options: DrillOptions
  private let credentials: TemporaryCredentials
  private let folder: TemporaryFolder?
  private let signals: DrillSignals

  /// With `signals`, those of the process end a run: for a program that does nothing else meanwhile.
  package init(_ options: DrillOptions, signals: DrillSignals? = nil) throws {
    (self.options, self.signals) = (options, signals ?? DrillSignals(isDeaf: true))
    if let keep = options.keep { _ = PathCalls.makeFolder(keep, 0o755) }
    folder = try options.keep == nil ? TemporaryFolder(in: options.scratch) : nil
    credentials =
      try options.credentials.map(TemporaryCredentials.init(sharing:))
      ?? TemporaryCredentials(in: options.scratch)
  }

  deinit { folder?.remove() }

  /// The folder of its certificates and keys, for `DrillOptions.credentials`.
  package var credentialsPath: String { credentials.path }

  // MARK: The baseline

  /// The run without a fault.
  ///
  /// - Throws: `BaselineError` for a CMD that can't be drilled.
  package func baseline() throws -> (BaselineFacts, DrillResult) {
    let limit = options.limit(of: nil, nil)
    let run = try runOnce(DrillResult.baselineId, nil, pushes: options.pushes, limit: limit)
    guard let facts = run.baseline else {
      throw BaselineError(result: run.result(against: nil), output: LastLines.of(run.output))
    }
    return (facts, run.result(against: facts))
  }

  // MARK: A drill

  /// Why a drill is not for this provider; nil if it is.
  package static func reasonToSkip(
    _ drill: Drill, _ baseline: BaselineFacts, _ subject: DrillSubject = .command
  ) -> String? {
    if !baseline.interfaces.contains(drill.interface) {
      return "\(subject.name) does not speak \(drill.interface.words)"
    }
    guard drill.needsProviderToken, baseline.providerTokens == 0 else { return nil }
    return "\(subject.name) sends no provider tokens"
  }

  /// Runs it; one that fails is run once more, as what else the machine does may have been the cause.
  package func run(_ drill: Drill, _ baseline: BaselineFacts) throws -> DrillResult {
    let again = "\(drill.id)-again"
    // Of an earlier failure, it would stand beside what is seen now.
    DrillFolder.remove(path(again))
    let first = try attempt(drill, baseline, folder: drill.id)
    guard first.judgement.verdict.isFailure else { return first }
    var second = try attempt(drill, baseline, folder: again)
    second.attempts = 2
    if !second.judgement.verdict.isFailure {
      second.notes.append("failed at first: \(first.judgement.sentence)")
    }
    return second
  }

  private func attempt(_ drill: Drill, _ baseline: BaselineFacts, folder name: String) throws -> DrillResult {
    let run = try runOnce(
      name, drill, pushes: options.pushes(of: drill), limit: options.limit(of: drill, baseline))
    var result = run.result(against: baseline)
    result.again = again(drill)
    return result
  }

  private func again(_ drill: Drill) -> String {
    var words = ["apns-emulator", "drill", "--only", drill.id]
    if options.pushes != DrillOptions.defaultPushes { words += ["--pushes", "\(options.pushes)"] }
    if let timeout = options.timeout { words += ["--timeout", "\(timeout)ms"] }
    if options.usesProxy { words.append("--proxy") }
    return ShellWords.text(words + ["--"] + options.command)
  }

  private func path(_ name: String) -> String { "\(options.keep ?? folder?.path ?? "")/\(name)" }

  private func runOnce(_ name: String, _ drill: Drill?, pushes: Int, limit: Int64) throws -> DrillRun {
    let place = try DrillEmulator(credentials, in: DrillFolder(path(name)), signals)
    defer { place.end() }
    let stage = try DrillStage(place, pushes: pushes, drill?.tokens ?? .allGood)
    defer { stage.end() }
    var run = DrillRun(stage, drill)
    var variables = try place.variables(usesProxy: options.usesProxy)
    // No other program has the same: by it CMD's processes are known.
    variables["APNS_EMULATOR_RUN"] = "\(ProcessStatus.own)-\(UInt64.random(in: .min ... .max))"
    try run.run(options.command, variables, limit: limit)
    return run
  }
}

/// The end of what CMD said.
enum LastLines {
  /// As a count of lines, and of bytes of each.
  private static let (limit, width) = (8, 300)

  static func of(_ output: [UInt8]) -> [String] {
    output.split(separator: UInt8(ascii: "\n")).suffix(limit).map {
      String(decoding: $0.prefix(width), as: UTF8.self).visible
    }
  }
}
