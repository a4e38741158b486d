import Capture
import Platform

/// Reads captures on a thread of its own, a few batches ahead of whoever uses them, so that two processors share what
/// `replay --speed max` costs.
///
///     free ─thread reads─→ ready ─take─→ lent ─give back─→ free
///
/// A batch belongs to the thread while it is read into, to this queue while it is free or ready, and to the caller of
/// `take` while it is lent. Everything mutable is touched only while `condition` is locked; hence `@unchecked Sendable`.
final class CaptureFeed: @unchecked Sendable {
  /// Batches that are read ahead.
  private static let depth = 16

  /// A piece of a capture.
  struct Delivery {
    var batch: CaptureBatch
    /// Which of the files it is from, counted from 0, and how many bytes of all of them were read.
    var fileIndex: Int
    var bytesRead: Int
  }

  /// What there is to take.
  enum Next {
    case delivery(Delivery)
    /// Nothing yet; `awaited` becomes readable when there is.
    case later
    case end
  }

  private let condition = ThreadCondition()
  private let wake: NumberPipe
  private var isAwaited = false
  private var free = (0..<depth).map { _ in CaptureBatch() }
  private var ready: [Delivery] = []
  private var ending: Result<Void, any Error>?
  private var isEnded = false

  /// Begins to read.
  init(_ source: sending CaptureSource) throws {
    guard let wake = NumberPipe() else { throw SocketError.last("open a pipe for", "reading the capture") }
    self.wake = wake
    // It ends by itself, and nobody waits for that.
    guard WorkerThread(handingOver: source, { [self] in read($0) }) != nil else {
      throw ReplayFailure.sentence("can't start a thread to read the capture")
    }
  }

  deinit { wake.close() }

  // MARK: The caller's side

  /// A descriptor for the caller's loop; `heard` when it is readable.
  var awaited: Int32 { wake.reader }
  func heard() { _ = wake.receive() }

  /// The next piece. Throws what kept it from being read.
  func take() throws -> Next {
    condition.lock()
    defer { condition.unlock() }
    if !ready.isEmpty { return .delivery(ready.removeFirst()) }
    guard let ending else {
      isAwaited = true
      return .later
    }
    try ending.get()
    return .end
  }

  /// The caller is done with a batch.
  func giveBack(_ batch: CaptureBatch) {
    condition.lock()
    free.append(batch)
    // Not for each batch: to wake a thread costs more than to read a little.
    if free.count >= Self.depth / 2 { condition.signal() }
    condition.unlock()
  }

  /// Lets the thread end when it next looks.
  func end() {
    condition.lock()
    isEnded = true
    condition.signal()
    condition.unlock()
  }

  // MARK: The thread's side

  private func read(_ source: CaptureSource) {
    do {
      while var batch = takeFree() {
        guard try source.next(&batch) else { return tell { ending = .success(()) } }
        let delivery = Delivery(batch: batch, fileIndex: source.fileIndex, bytesRead: source.bytesRead)
        tell { ready.append(delivery) }
      }
    } catch {
      tell { ending = .failure(error) }
    }
  }

  private func takeFree() -> CaptureBatch? {
    condition.lock()
    defer { condition.unlock() }
    while free.isEmpty, !isEnded { condition.wait() }
    return isEnded ? nil : free.removeLast()
  }

  /// Changes something while locked, and wakes the caller if it waits for that.
  private func tell(_ change: () -> Void) {
    condition.lock()
    change()
    if isAwaited { wake.send(1) }
    isAwaited = false
    condition.unlock()
  }
}
