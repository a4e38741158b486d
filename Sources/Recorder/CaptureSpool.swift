import Basics
import Platform

/// Pushes on their way from the loop to the thread that writes them: memory that grows while the writer is busy, and is
/// swapped for an empty one when it is not.
///
/// Everything mutable is touched only while `condition` is locked, by the loop's thread and by the writer's; hence
/// `@unchecked Sendable`. Memory that `take` swaps out is the writer's alone, until the next `take` swaps it back.
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
  private var wantsReopening = false
  /// Where records begin that are not committed; nil if there are none. The writer takes what lies before.
  private var heldFrom: CaptureMemory.Place?
  /// Where those begin that the commit does not cover either; nil while there is none.
  private var coveredTo: CaptureMemory.Place?
  private var report = CaptureReport()
  /// How many pushes were added.
  private var pushes = 0

  // MARK: The loop's side

  /// Begins to add records; the writer takes none until `endAdding`.
  func beginAdding() { condition.lock() }

  /// Between `beginAdding` and `endAdding`: adds a record, waiting for the writer if too much waits already.
  @inline(__always)
  func add(_ head: CaptureHead, _ first: Span<UInt8>, _ second: Span<UInt8> = .none) {
    if memory.size > Self.byteLimit { awaitRoom() }
    guard !isEnded else { return }
    if head.kind.isPush { pushes &+= 1 }
    memory.append(head, first, second)
  }

  /// The same for a frame that was accepted.
  @inline(__always)
  func add(_ frame: Span<UInt8>, connection: UInt32, nanoseconds: Int64) {
    if memory.size > Self.byteLimit { awaitRoom() }
    guard !isEnded else { return }
    pushes &+= 1
    memory.append(frame, connection: connection, nanoseconds: nanoseconds)
  }

  /// Between `beginAdding` and `endAdding`: what follows may yet turn out never to have been accepted.
  func hold() {
    guard heldFrom == nil else { return }
    memory.endRun()
    heldFrom = memory.end
  }

  /// Between `beginAdding` and `endAdding`: a commit begins, which covers all that was added.
  func cover() {
    memory.endRun()
    coveredTo = memory.end
  }

  /// Answers how the writer is doing.
  @discardableResult
  func endAdding() -> CaptureReport {
    memory.endRun()
    wakeWriter()
    defer { condition.unlock() }
    return report
  }

  /// What was covered is committed. Answers how the writer is doing.
  func release() -> CaptureReport {
    condition.lock()
    heldFrom = coveredTo.flatMap { $0 == memory.end ? nil : $0 }
    coveredTo = nil
    return endAdding()
  }

  /// What was held never was.
  func discardHeld() {
    condition.lock()
    if let heldFrom { memory.removeAll(from: heldFrom) }
    (heldFrom, coveredTo) = (nil, nil)
    endAdding()
  }

  /// How many pushes were added, and how many of them the writer is done with: they are in the file, or lost.
  var progress: (recorded: Int, written: Int) {
    condition.lock()
    defer { condition.unlock() }
    return (pushes, report.pushes)
  }

  /// How much the writer may take, in bytes.
  private var free: Int { heldFrom?.size ?? memory.size }

  private func wakeWriter() {
    if writerWaits ? free > 0 : isGathering && free > Self.gatheringLimit {
      condition.signal()
    }
  }

  /// Lets the writer finish what is there and end.
  func end() { tell { isEnded = true } }

  /// Lets the writer look for a new file of the old name, behind everything that is there.
  func reopen() { tell { wantsReopening = true } }

  private func tell(_ change: () -> Void) {
    condition.lock()
    change()
    condition.signal()
    condition.unlock()
  }

  private func awaitRoom() {
    // A commit ends, so what is held has a bound: what connections could read meanwhile.
    memory.endRun()
    while memory.size > Self.byteLimit, free > 0, !isEnded {
      condition.signal()
      condition.wait()
    }
  }

  // MARK: The writer's side

  /// Swaps `records`, which is empty, with what has come meanwhile, waiting for it, and for more of it if traffic is heavy; that
  /// is nothing if the file is to be opened again. False when there will be nothing more.
  func take(_ records: inout CaptureMemory, _ report: CaptureReport, isHeavy: Bool) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    self.report = report
    if isHeavy { gather() }
    writerWaits = true
    while free == 0, !wantsReopening, !isEnded { condition.wait() }
    writerWaits = false
    guard free > 0 || wantsReopening else { return false }
    swap(&memory, &records)
    if let heldFrom { keepBack(&records, from: heldFrom) }
    condition.signal()
    return true
  }

  /// What is not committed stays here.
  private func keepBack(_ full: inout CaptureMemory, from start: CaptureMemory.Place) {
    memory.append(full, from: start)
    full.removeAll(from: start)
    heldFrom = CaptureMemory.Place()
    coveredTo = coveredTo.map { $0 - start }
  }

  /// Whether the file is to be opened again, once everything taken before is written.
  func takeReopening() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    defer { wantsReopening = false }
    return wantsReopening
  }

  private func gather() {
    isGathering = true
    if free <= Self.gatheringLimit, !isEnded, !wantsReopening {
      condition.wait(atMost: Self.gatheringTime)
    }
    isGathering = false
  }
}

/// How the writer is doing.
struct CaptureReport: Equatable, Sendable {
  /// Bytes written, to all files of this run.
  var bytes = 0
  /// Pushes that it is done with.
  var pushes = 0
  /// Pushes that could not be written.
  var lost = 0
  /// Why the last attempt failed; nil while all is well.
  var failure: String?
}
