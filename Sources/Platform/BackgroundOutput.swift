import Basics
import CLibrary

/// Lines for a descriptor that nobody may read: they wait in memory until a thread has written them, and what finds no room
/// is dropped and counted. Whoever adds lines never waits.
///
/// A thread, because nothing else is sure never to block on what was inherited: O_NONBLOCK belongs to the open file description,
/// which the parent's shell and its other children share; `poll` promises room that another writer may take first, and says
/// little about terminals; and opening `/proc/self/fd/2` again fails for sockets and for terminals of other users. A thread that
/// blocks harms nobody, and ends with the process.
///
/// Everything mutable is touched only while `condition` is locked, except `isTorn`, which is the thread's alone; hence
/// `@unchecked Sendable`.
public final class BackgroundOutput: @unchecked Sendable {
  /// Most bytes that may wait: some 4,000 lines of a log.
  public static let byteLimit = 1 << 20
  /// How long lines gather before more are written, in nanoseconds: a thread should not be woken for every turn of a loop.
  private static let gatheringTime: Int64 = 5_000_000

  private let condition = ThreadCondition()
  private var descriptor: Int32
  /// The descriptor was opened for this object, which closes it.
  private var isOwned: Bool
  /// A descriptor that takes the present one's place.
  private var successor: Int32?
  private var waiting: [UInt8] = []
  /// Bytes that the thread is writing, as a count.
  private var underWay = 0
  private var dropped = 0
  /// Of the last write; 0 if it went well.
  private var lastError: Int32 = 0
  private var isRunning = false
  private var threadIsIdle = false
  private var isEnded = false
  /// The last write stopped within a line.
  private var isTorn = false

  /// Writes to a descriptor that others may share and that stays theirs.
  public init(_ descriptor: Int32) { (self.descriptor, isOwned) = (descriptor, false) }

  /// Appends to a file, which is made for this user alone. Throws if it can't be opened.
  public init(appendingTo path: String) throws(SocketError) {
    (descriptor, isOwned) = (try Self.open(path), true)
  }

  deinit {
    if isOwned { close(descriptor) }
    if let successor { close(successor) }
  }

  private static func open(_ path: String) throws(SocketError) -> Int32 {
    // A pipe without a reader must not hold up whoever opens it.
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK
    let descriptor = DescriptorCalls.open(path, flags, 0o600)
    guard descriptor >= 0 else { throw SocketError.last("write", path) }
    return descriptor
  }

  // MARK: Adding

  /// Adds whole lines, as many as there is room for; answers how many were dropped since the beginning.
  @discardableResult
  public func add(_ lines: Span<UInt8>) -> Int {
    condition.lock()
    defer { condition.unlock() }
    let taken = lines.wholeLines(atMost: Self.byteLimit - waiting.count - underWay)
    waiting.append(lines.prefix(taken))
    dropped += lines.dropping(taken).lineCount
    if !waiting.isEmpty { wake() }
    return dropped
  }

  /// The same for text without the end of its last line.
  public func add(line: String) { add(Array("\(line)\n".utf8).span) }

  /// Lines that were dropped, as a count, and whether there is reason to think that others will get through.
  public var state: (dropped: Int, hasRoom: Bool) {
    condition.lock()
    defer { condition.unlock() }
    return (dropped, lastError == 0 && waiting.count + underWay < Self.byteLimit / 2)
  }

  /// The error number of the last write, 0 if it went well.
  public var failure: Int32 {
    condition.lock()
    defer { condition.unlock() }
    return lastError
  }

  private func wake() {
    if threadIsIdle { return condition.signal() }
    guard !isRunning else { return }
    isRunning = WorkerThread { self.run() } != nil
  }

  /// What follows goes to the file of this name as it is now: the one so far may have been moved away.
  public func reopen(_ path: String) throws(SocketError) {
    let fresh = try Self.open(path)
    condition.lock()
    defer { condition.unlock() }
    if let unused = successor { close(unused) }
    successor = fresh
  }

  /// Waits until all lines are written, at most so many nanoseconds; answers whether they are.
  @discardableResult
  public func drain(within nanoseconds: Int64) -> Bool {
    let end = SystemClock.now().adding(nanoseconds: nanoseconds)
    condition.lock()
    defer { condition.unlock() }
    while isRunning, waiting.count + underWay > 0 {
      let left = end.nanoseconds(since: SystemClock.now())
      guard left > 0 else { return false }
      condition.signal()
      condition.wait(atMost: left)
    }
    return waiting.isEmpty
  }

  /// Lets the thread go once it has written what waits.
  public func end() {
    condition.lock()
    isEnded = true
    condition.signal()
    condition.unlock()
  }

  // MARK: The thread

  private func run() {
    condition.lock()
    while let lines = next() {
      condition.unlock()
      let (lost, error) = write(lines)
      condition.lock()
      dropped += lost
      (underWay, lastError) = (0, error)
      condition.signal()
      if !isEnded, waiting.isEmpty { condition.wait(atMost: Self.gatheringTime) }
    }
    isRunning = false
    condition.signal()
    condition.unlock()
  }

  /// Waits for lines; nil at the end.
  private func next() -> [UInt8]? {
    threadIsIdle = true
    while waiting.isEmpty, !isEnded { condition.wait() }
    threadIsIdle = false
    guard !waiting.isEmpty else { return nil }
    takeSuccessor()
    let lines = waiting
    (waiting, underWay) = ([], lines.count)
    return lines
  }

  private func takeSuccessor() {
    guard let fresh = successor else { return }
    if isOwned { close(descriptor) }
    (descriptor, isOwned, successor, isTorn) = (fresh, true, nil, false)
  }

  /// Writes as long as it takes; answers how many lines could not be written, and why.
  private func write(_ lines: [UInt8]) -> (lost: Int, error: Int32) {
    let text = isTorn ? [newline] + lines : lines
    let (written, error) = WholeOutput.write(text.span, to: descriptor)
    if written == text.count {
      isTorn = false
    } else if written > 0 {
      isTorn = text[written - 1] != newline
    }
    return (text.span.dropping(written).lineCount, error)
  }
}

private let newline = UInt8(ascii: "\n")

extension Span<UInt8> {
  /// The bytes of as many whole lines from the beginning as fit.
  fileprivate func wholeLines(atMost limit: Int) -> Int {
    guard count > limit else { return count }
    var end = max(0, limit)
    while end > 0, self[end - 1] != newline { end -= 1 }
    return end
  }

  /// Ends of lines.
  fileprivate var lineCount: Int {
    var (lines, position) = (0, place(of: newline))
    while position < count {
      lines += 1
      position = place(of: newline, from: position + 1)
    }
    return lines
  }
}
