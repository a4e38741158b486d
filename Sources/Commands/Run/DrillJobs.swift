import Basics
import Drill
import Platform
import Transport

/// Drills side by side, each in a process of this program: an emulator's loop is one thread's, and what one CMD does to its process
/// group is none of the others' affair.
final class DrillJobs {
  /// Tells such a process what the baseline was.
  private static let baselineName = "APNS_EMULATOR_DRILL_BASELINE"
  /// Tells it where all that it makes lies, which goes with this process's, however that one ends.
  private static let folderName = "APNS_EMULATOR_DRILL_FOLDER"
  /// Tells it where certificates and keys lie: making some takes longer than most drills.
  private static let credentialsName = "APNS_EMULATOR_DRILL_CREDENTIALS"
  /// Tells its processes from those of others.
  private static let jobName = "APNS_EMULATOR_DRILL_JOB"
  /// How long one may take to end its CMD and itself when it is asked to, in nanoseconds.
  private static let grace: Int64 = 5_000_000_000

  /// What the process that has started this one says of the baseline; nil for a process that a person has started.
  static var givenBaseline: BaselineFacts? {
    ProcessEnvironment.variables[baselineName].flatMap { JSONReader.read(Array($0.utf8)) }
      .flatMap(BaselineFacts.init)
  }

  static var givenFolder: String? { ProcessEnvironment.variables[folderName] }
  static var givenCredentials: String? { ProcessEnvironment.variables[credentialsName] }

  private let options: DrillOptions
  private let credentials: String
  private let folder: TemporaryFolder
  private let baseline: BaselineFacts
  private let jobs: Int
  private let loop: EventLoop
  private var running: [Job] = []
  private var signal: Signal?

  /// - Parameter credentials: the folder of those of the baseline, which stays until the last job has ended.
  init(_ options: DrillOptions, _ baseline: BaselineFacts, credentials: String, jobs: Int) throws {
    guard let loop = EventLoop() else { throw CommandFailure("the system has no event interface") }
    (self.options, self.baseline, self.jobs, self.loop) = (options, baseline, jobs, loop)
    self.credentials = credentials
    folder = try TemporaryFolder()
  }

  deinit { folder.remove() }

  /// In the order of `drills`, whichever ends first.
  func run(_ drills: [Drill], _ output: DrillOutput) throws -> [DrillResult] {
    let signals = [Signal.interrupt, .terminate, .hangUp].map { signal in
      LoopEvent(loop, signal: signal) { [unowned self] in self.signal = self.signal ?? signal }
    }
    for event in signals { event.start() }
    defer { for event in signals { event.cancel() } }
    var waiting = drills[...]
    var results: [String: DrillResult] = [:]
    do {
      while !waiting.isEmpty || !running.isEmpty {
        while running.count < jobs, let next = waiting.popFirst() {
          output.began(next.id)
          running.append(try start(next))
        }
        _ = loop.turn(until: { signal != nil || running.contains(where: \.hasEnded) }, within: .max)
        if let signal { throw DrillInterrupted(signal: signal) }
        for job in running where job.hasEnded {
          let result = try job.finish()
          results[result.id] = result
          try output.ended(result)
        }
        running.removeAll { $0.isFinished }
      }
    } catch {
      endAll()
      throw error
    }
    return drills.compactMap { results[$0.id] }
  }

  private func start(_ drill: Drill) throws -> Job {
    var words = [
      OwnProgram.path, "drill", "--json", "--only", drill.id, "--pushes", "\(options.pushes)",
    ]
    if let keep = options.keep { words += ["--keep", keep] }
    if let timeout = options.timeout { words += ["--timeout", "\(timeout)ms"] }
    if options.usesProxy { words.append("--proxy") }
    let variables = [
      Self.baselineName: baseline.json.text, Self.folderName: folder.path,
      Self.credentialsName: credentials,
      Self.jobName: "\(ProcessStatus.own)-\(drill.id)",
    ]
    return Job(
      drill.id,
      try ProcessFamily(words + ["--"] + options.command, variables: variables, mark: Self.jobName), on: loop)
  }

  private func endAll() {
    for job in running { job.family.terminate() }
    _ = loop.turn(until: { running.allSatisfy(\.hasEnded) }, within: Self.grace)
    running = []
  }

  /// One process. Its CMD's output is not among what it says.
  private final class Job {
    private static let readSize = 64 << 10
    /// Most bytes that it may say.
    private static let outputLimit = 1 << 20

    let family: ProcessFamily
    private let id: String
    private var event: LoopEvent?
    private var said: [UInt8] = []
    private(set) var isFinished = false

    init(_ id: String, _ family: ProcessFamily, on loop: EventLoop) {
      (self.id, self.family) = (id, family)
      let event = LoopEvent(loop, descriptor: family.output, .read) { [unowned self] in hear() }
      self.event = event
      event.start()
    }

    /// Once it has said all.
    var hasEnded: Bool { event?.isActive != true && family.hasEnded }

    private func hear() {
      guard let bytes = family.read(atMost: Self.readSize) else { return }
      if bytes.isEmpty { event?.cancel() }
      said += bytes.prefix(Self.outputLimit - said.count)
    }

    func finish() throws -> DrillResult {
      isFinished = true
      let status = family.reap()
      let lines = said.split(separator: UInt8(ascii: "\n"))
      let result = lines.last.flatMap { JSONReader.read(Array($0)) }.flatMap(DrillResult.init)
      guard let result else {
        let words = lines.last.map { ": " + String(decoding: $0.prefix(300), as: UTF8.self).visible } ?? ""
        throw CommandFailure("the process of drill \(id) ended with status \(status) and no verdict\(words)")
      }
      return result
    }
  }
}
