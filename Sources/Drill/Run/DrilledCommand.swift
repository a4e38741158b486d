import Basics
import Platform
import Transport

/// CMD at work: started, heard, and ended with all that it has started.
///
///     running ─ it ends ───────────────────────────────→ ended: what it has left behind is killed
///        └── its time is over: SIGTERM ─ it ends, or 1 s ─↗
final class DrilledCommand {
  /// Most bytes of its output that are kept; the rest is read and forgotten.
  private static let outputLimit = 4 << 20
  private static let readSize = 64 << 10
  /// How long it may take to end after SIGTERM, in nanoseconds.
  private static let grace: Int64 = 1_000_000_000
  /// How long what was killed may take to go, in nanoseconds: only the system can hold it up.
  private static let lastWait: Int64 = 5_000_000_000

  private let family: ProcessFamily
  private let loop: EventLoop
  private var event: LoopEvent?
  private(set) var output: [UInt8] = []
  private var hasStopped: Instant?
  /// Processes that it left behind, as a count.
  private(set) var leftBehind = 0

  init(_ words: [String], variables: [String: String], on loop: EventLoop) throws {
    self.loop = loop
    do throws(SocketError) {
      family = try ProcessFamily(words, variables: variables, mark: "APNS_EMULATOR_RUN")
    } catch {
      throw DrillError("\(error)", isOfCommand: true)
    }
    let event = LoopEvent(loop, descriptor: family.output, .read) { [unowned self] in hear() }
    self.event = event
    event.start()
  }

  /// Looks whether it has ended; asked often.
  var hasEnded: Bool { family.hasEnded }

  /// Its time is over: it is asked to end, and made to a second later.
  func stop(at now: Instant) {
    guard let asked = hasStopped else {
      hasStopped = now
      return family.terminate()
    }
    if now.nanoseconds(since: asked) >= Self.grace { family.killAll() }
  }

  /// It has ended: ends what it has started, and answers its status as a shell tells it. To be called once.
  func finish() -> Int32 {
    hearRest()
    leftBehind = family.killAll()
    event?.cancel()
    event = nil
    return family.reap()
  }

  /// As `finish`, whatever it does.
  func abandon() {
    family.killAll()
    _ = loop.turn(until: { family.hasEnded }, within: Self.lastWait)
    _ = finish()
  }

  private func hearRest() {
    // What is left behind may write without an end.
    for _ in 0..<(Self.outputLimit / Self.readSize) where event?.isActive == true {
      guard hear() else { return }
    }
  }

  /// Answers whether there may be more at once.
  @discardableResult
  private func hear() -> Bool {
    guard let bytes = family.read(atMost: Self.readSize) else { return false }
    if bytes.isEmpty { event?.cancel() }
    output += bytes.prefix(Self.outputLimit - output.count)
    return !bytes.isEmpty
  }
}
