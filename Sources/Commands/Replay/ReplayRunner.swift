import Capture
import Platform
import PushModel
import Transport

/// Goes through the capture at its pace and hands each push to the lane of its connection. Reads on only as fast as the
/// lanes get rid of what they have, so that memory does not depend on the length of the capture.
final class ReplayRunner {
  /// How many bytes of frames go by between two looks at what the lanes hold.
  private static let heldInterval = 1 << 20

  let options: ReplayOptions
  let emulator: RunningEmulator
  let identities: ReplayIdentities
  let output: ReplayOutput
  let client: ClientLoop
  private let feed: CaptureFeed
  private let size: Int
  private var bytesRead = 0
  private let noBatch: CaptureBatch
  private var batch: CaptureBatch
  private var index = 0
  private var isAtEnd = false
  private var isWaitingForFile = false
  private var isPumping = false
  /// Recorded connections that are open.
  private(set) var connections: [UInt32: CapturedConnection] = [:]
  let lanes = ReplayLanes()
  private var failure: (any Error)?
  /// The lane of the last frame, where frames go as they are: most often it is the next one's too.
  private var latestNumber: UInt32 = 0
  private var latestLane: LegacyLane?
  private let isPlain: Bool
  /// Which file is being read, counted from 0.
  private var fileIndex = 0
  private var file: String { options.files[fileIndex] }
  private var session = ""
  /// When the recording's zero is now, and how far the recording got; nanoseconds.
  private var zero: Int64 = 0
  private var latest: Int64 = 0
  private var sinceLook = 0
  private var movedAt = SystemClock.monotonicNanoseconds()
  private let patience: Int64
  private var timer: LoopEvent?
  private var fileEvent: LoopEvent?
  private var watch: LoopEvent?
  var heads = RequestHeads()

  init(_ options: ReplayOptions, _ settings: Settings, _ emulator: RunningEmulator) throws {
    (self.options, self.emulator) = (options, emulator)
    noBatch = CaptureBatch()
    batch = noBatch
    isPlain = options.form != .http2 && options.mapping.tokens.isEmpty
    identities = try ReplayIdentities(settings, emulator)
    output = ReplayOutput(options)
    let source = CaptureSource(options.files, leavesTogether: isPlain)
    size = source.size
    patience = settings[ReplayCommand.timeout]?.nanoseconds ?? .max
    client = try ClientLoop()
    feed = try CaptureFeed(source)
  }

  deinit { feed.end() }

  /// Replays everything; answers what came of it.
  func run() throws -> ReplayReport {
    timer = LoopEvent(timerOn: client.loop) { [unowned self] in pump() }
    let fileEvent = LoopEvent(client.loop, descriptor: feed.awaited, .read) { [unowned self] in
      feed.heard()
      pump()
    }
    fileEvent.start()
    self.fileEvent = fileEvent
    lanes.onGone = { [unowned self] in pumpSoon() }
    watch = LoopEvent(timerOn: client.loop) { [unowned self] in look() }
    client.onSignal(SIGINT) { [unowned self] in client.stop() }
    zero = SystemClock.monotonicNanoseconds()
    timer?.start(afterNanoseconds: 0)
    look()
    client.run(limit: nil)
    if let failure {
      output.breakOff()
      throw failure
    }
    output.finish()
    if let failure = output.failure { throw failure }
    return output.report
  }

  private func fail(_ error: any Error) {
    failure = failure ?? error
    client.stop()
  }

  // MARK: Going on

  /// Hands out what is due, until the lanes have enough.
  func pump() {
    guard !isPumping, failure == nil else { return }
    isPumping = true
    defer { isPumping = false }
    do { try handOut() } catch { return fail(error) }
    latestLane?.advance()
    lanes.advance()
    if isAtEnd, lanes.isEmpty { client.stop() }
  }

  private func handOut() throws {
    while try loadNext() {
      guard !lanes.hasTooManyFinishing, hasRoom() else { return }
      let entry = batch.entries[index]
      guard isDue(entry) else { return }
      index += 1
      sinceLook += batch.content(entry).count
      if let lane = try handOut(entry), lane.isFull { return }
    }
  }

  /// Whether there is an entry; at the end every lane is told.
  private func loadNext() throws -> Bool {
    if index < batch.entries.count { return true }
    guard !isAtEnd else { return false }
    index = 0
    output.progress(bytesRead, of: size)
    if batch !== noBatch { feed.giveBack(batch) }
    batch = noBatch
    let next = try feed.take()
    isWaitingForFile = false
    switch next {
    case .delivery(let delivery):
      (batch, bytesRead, fileIndex) = (delivery.batch, delivery.bytesRead, delivery.fileIndex)
      return true
    case .later: isWaitingForFile = true
    case .end:
      isAtEnd = true
      lanes.finishAll()
    }
    return false
  }

  private func isDue(_ entry: CaptureEntry) -> Bool {
    latest = entry.nanoseconds
    guard case .factor(let factor) = options.speed else { return true }
    let due = zero + Int64(min(9e18, Double(entry.nanoseconds) / factor))
    let now = SystemClock.monotonicNanoseconds()
    if due <= now { return true }
    timer?.start(afterNanoseconds: due - now)
    // While it waits, nothing is late.
    movedAt = max(movedAt, due)
    return false
  }

  private func hasRoom() -> Bool {
    guard sinceLook >= Self.heldInterval else { return true }
    guard lanes.haveRoom() else { return false }
    sinceLook = 0
    return true
  }

  /// Ends the replay if nothing has been heard for too long, and moves the bar.
  private func look() {
    output.progress(bytesRead, of: size)
    output.flush()
    if let failure = output.failure { fail(failure) }
    if isWaitingForFile { movedAt = SystemClock.monotonicNanoseconds() }
    if SystemClock.monotonicNanoseconds() - movedAt > patience {
      fail(
        CommandFailure(
          "nothing was heard for \(patience / 1_000_000_000) s; \(output.report.total) pushes had an outcome")
      )
    }
    watch?.start(afterNanoseconds: 200_000_000)
  }

  // MARK: Entries

  private func tag(_ entry: CaptureEntry) -> Int { ReplayTag(file: fileIndex, entry).word }

  /// Answers the lane that got something.
  @inline(__always)
  private func handOut(_ entry: CaptureEntry) throws -> (any ReplayLane)? {
    switch entry.kind {
    case .frame where entry.connection == latestNumber && latestLane != nil:
      if entry.detail < 0 {
        latestLane?.push(batch.content(entry), count: Int(entry.frames), tag: tag(entry))
      } else {
        latestLane?.push(batch.content(entry), tag: tag(entry), recorded: batch.outcome(entry))
      }
      return latestLane
    case .frame, .request: return try push(entry)
    case .header: begin(batch.starts[Int(entry.detail)])
    case .opened:
      let connection = batch.connections[Int(entry.detail)]
      connections[connection.number] = connection
    case .closed:
      if entry.connection == latestNumber { latestLane = nil }
      connections[entry.connection] = nil
      lanes.finish(entry.connection)
    case .lost: output.lost(Int(entry.detail))
    }
    return nil
  }

  /// Another run of the emulator was recorded behind the first: its clock and its connections begin anew.
  private func begin(_ startedAt: String) {
    guard startedAt != session else { return }
    session = startedAt
    latestLane = nil
    lanes.finishAll()
    connections = [:]
    zero = SystemClock.monotonicNanoseconds()
  }

  private func push(_ entry: CaptureEntry) throws -> (any ReplayLane)? {
    guard let connection = connections[entry.connection] else {
      throw CommandFailure(
        "\(file), line \(entry.line): expected a push of a known connection, got one of \(entry.connection); "
          + "give rotated files together, the oldest first")
    }
    let push = RecordedPush(
      entry: entry, batch: batch, connection: connection,
      tag: tag(entry))
    guard let lane = try hand(push) else {
      output.untranslatable()
      return nil
    }
    (latestNumber, latestLane) = (entry.connection, isPlain ? lane as? LegacyLane : nil)
    return lane
  }

  // MARK: Lanes

  private func pumpSoon() {
    if !isPumping || isAtEnd { timer?.start(afterNanoseconds: 0) }
  }

  func progressed() {
    movedAt = SystemClock.monotonicNanoseconds()
    pump()
  }

  func failed(_ address: SocketAddress, _ why: String) {
    fail(RunningEmulator.unreachable(address, why))
  }
}
