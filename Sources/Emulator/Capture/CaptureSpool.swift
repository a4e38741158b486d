import Platform

/// Pushes on their way from the loop to the thread that writes them: memory that grows while the writer is busy, and is
/// swapped for an empty one when it is not.
///
/// Everything mutable is touched only while `condition` is locked, by the loop's thread and by the writer's; hence
/// `@unchecked Sendable`. Memory that `take` gives away is the writer's alone, until the next `take` gives it back.
final class CaptureSpool: @unchecked Sendable {
  /// Most bytes that may wait, whatever the disk does: then the loop waits, as nothing may be lost. Some turns of the
  /// fastest traffic; more would only cost page faults, since a slower disk is slower in the long run too.
  static let byteLimit = 8 << 20

  /// How long records of heavy traffic gather before they are taken, in nanoseconds, and how many bytes end that: to wake
  /// a thread for each turn, and to write little at a time, would take more from the loop than the copying does.
  private static let gatheringTime: Int64 = 10_000_000
  private static let gatheringLimit = 1 << 20

  private let condition = ThreadCondition()
  private var memory = CaptureMemory()
  private var isEnded = false
  private var writerWaits = false
  private var isGathering = false
  private var report = CaptureReport()

  // MARK: The loop's side

  /// Begins to add records; the writer takes none until `endAdding`.
  func beginAdding() { condition.lock() }

  /// Between `beginAdding` and `endAdding`: adds a record, waiting for the writer if too much waits already.
  @inline(__always)
  func add(_ head: CaptureHead, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
    if memory.count > Self.byteLimit { awaitRoom() }
    if !isEnded { memory.append(head, first, second) }
  }

  /// The same for a frame that was accepted.
  @inline(__always)
  func add(_ frame: UnsafeRawBufferPointer, connection: UInt32, nanoseconds: Int64) {
    if memory.count > Self.byteLimit { awaitRoom() }
    if !isEnded { memory.append(frame, connection: connection, nanoseconds: nanoseconds) }
  }

  /// Answers how the writer is doing.
  func endAdding() -> CaptureReport {
    memory.endRun()
    if writerWaits ? memory.count > 0 : isGathering && memory.count > Self.gatheringLimit {
      condition.signalSomething()
    }
    defer { condition.unlock() }
    return report
  }

  /// Lets the writer finish what is there and end.
  func end() {
    condition.lock()
    isEnded = true
    condition.signalSomething()
    condition.unlock()
  }

  private func awaitRoom() {
    memory.endRun()
    while memory.count > Self.byteLimit, !isEnded {
      condition.signalSomething()
      condition.waitForRoom()
    }
  }

  // MARK: The writer's side

  /// Gives `empty` for what has come meanwhile, waiting for it, and for more of it if traffic is heavy; nil when there
  /// will be nothing more.
  func take(inExchangeFor empty: CaptureMemory, _ report: CaptureReport, isHeavy: Bool) -> CaptureMemory? {
    condition.lock()
    defer { condition.unlock() }
    self.report = report
    if isHeavy { gather() }
    writerWaits = true
    while memory.count == 0, !isEnded { condition.waitForSomething() }
    writerWaits = false
    guard memory.count > 0 else { return nil }
    let full = memory
    memory = empty
    condition.signalRoom()
    return full
  }

  private func gather() {
    isGathering = true
    if memory.count <= Self.gatheringLimit, !isEnded {
      condition.waitForSomething(atMost: Self.gatheringTime)
    }
    isGathering = false
  }
}

/// How the writer is doing.
struct CaptureReport: Equatable, Sendable {
  /// Bytes written, to all files of this run.
  var bytes = 0
  /// Lines that could not be written.
  var lost = 0
  /// Why the last attempt failed; nil while all is well.
  var failure: String?
}
