import Basics

/// What one connection has to say and has not said, and how much of that may leave now: no more than a commit lets go, by and
/// by where a fault wants it so, and as much as the system takes.
///
///     | owed again | may leave | covered by the commit that is under way | of turns that none covers yet |
///
/// *Owed again* is what the TLS layer was given and had no room for: it has made a record of it, and must get at least the
/// same bytes at the next try, whatever has made the output leave in other pieces meanwhile (SSL_write(3)).
struct OutputQueue: ~Copyable {
  /// Why no more leaves now.
  enum Stop {
    /// Nothing is left, and nothing holds the end behind it.
    case empty
    /// The rest waits for a commit, for the time of its piece, or for what the peer has to say.
    case held
    /// A piece has left; the next is due after so many nanoseconds.
    case piece(pause: Int64)
    /// The system has no room.
    case noRoom
    /// The peer is gone.
    case gone
    /// The TLS layer failed.
    case failed
  }

  /// Output that leaves in pieces until there is none. An object, so that others pay for a pointer.
  private final class Dribble {
    let bytes: Int
    let interval: Int64
    /// Fires when the next piece is due; nil while one is.
    var pause: LoopEvent?

    init(bytes: Int, interval: Int64) { (self.bytes, self.interval) = (bytes, interval) }
  }

  /// Most bytes that TLS makes one record of (RFC 8446 5.1).
  private static let recordLimit = 16 << 10

  private var buffer = OutputBuffer()
  private var gate = OutputGate.open
  /// In bytes, from the front.
  private var owedRetry = 0
  private var dribble: Dribble?
  /// Bytes that the system has taken, but for those past TLS.
  private(set) var bytesWritten = 0

  /// Bytes of memory held.
  var capacity: Int { buffer.capacity }
  var isEmpty: Bool { buffer.isEmpty }
  var count: Int { buffer.count }

  /// Adds what `write` writes to room for `size` bytes.
  @inline(__always)
  mutating func append(atMost size: Int, from loop: EventLoop, _ write: (inout OutputSpan<UInt8>) -> Void) {
    buffer.append(atMost: size, from: loop, write)
  }

  /// Adds bytes.
  mutating func append(_ bytes: Span<UInt8>, from loop: EventLoop) { buffer.append(bytes, from: loop) }

  /// Nothing of it will be said.
  mutating func release(to loop: EventLoop) {
    buffer.release(to: loop)
    dribble = nil
  }

  // MARK: What may leave

  /// Whether some of it, or the end behind it, waits for a commit.
  var isGated: Bool { gate.isClosed }
  /// Whether some of it does.
  var isHeldBack: Bool { buffer.count > gate.allowed }

  /// What comes from here on waits.
  mutating func hold() { gate.close(behind: buffer.count) }
  /// A commit covers all that is here.
  mutating func cover() { gate.cover(buffer.count) }
  /// What was covered may leave.
  mutating func uncover(hasMore: Bool) { gate.release(hasMore: hasMore) }
  /// Nothing waits for a commit any more.
  mutating func openGate() { gate = .open }

  /// What is here, and what joins it before it has left, leaves in pieces of so many bytes.
  mutating func startDribble(bytes: Int, everyNanoseconds interval: Int64) {
    dribble = Dribble(bytes: max(1, bytes), interval: interval)
  }

  /// The next piece waits for this timer, or is due.
  mutating func pauseDribble(_ timer: LoopEvent?) { dribble?.pause = timer }

  // MARK: Leaving

  /// Hands on what may leave, up to what the system takes.
  mutating func write(to layer: borrowing SocketLayer, pastTLS: Bool = false, on loop: EventLoop) -> Stop {
    if let dribble { return writePiece(dribble, to: layer, on: loop) }
    return write(atMost: .max, to: layer, pastTLS: pastTLS, on: loop)
  }

  private mutating func writePiece(
    _ dribble: Dribble, to layer: borrowing SocketLayer, on loop: EventLoop
  ) -> Stop {
    guard dribble.pause == nil else { return .held }
    let before = buffer.count
    let stop = write(atMost: dribble.bytes, to: layer, pastTLS: false, on: loop)
    if buffer.isEmpty { self.dribble = nil }
    if case .held = stop, !buffer.isEmpty, buffer.count < before { return .piece(pause: dribble.interval) }
    return stop
  }

  private mutating func write(
    atMost limit: Int, to layer: borrowing SocketLayer, pastTLS: Bool, on loop: EventLoop
  ) -> Stop {
    guard !buffer.isEmpty else { return gate.isClosed ? .held : .empty }
    let size = min(buffer.count, gate.allowed, max(limit, owedRetry))
    guard size >= max(1, owedRetry) else { return .held }
    let (count, refusal) = Self.pass(buffer.waiting.prefix(size), to: layer, pastTLS: pastTLS)
    if !pastTLS { note(count, refusal, of: size) }
    if count > 0 {
      gate.left(count)
      buffer.consume(count, to: loop)
    }
    switch refusal {
    case nil: return buffer.isEmpty && !gate.isClosed ? .empty : .held
    case .moved, .needsInput: return .held
    case .needsRoom: return .noRoom
    case .ended, .cut: return .gone
    case .failed: return .failed
    }
  }

  /// Hands on what was never here as far as the system takes it; answers how much. The rest is to be added next. Only for a
  /// queue that is empty and not to dribble.
  mutating func writeThrough(_ bytes: Span<UInt8>, to layer: borrowing SocketLayer) -> Int {
    guard dribble == nil else { return 0 }
    // Whatever keeps the system from taking more is met again when the rest is written.
    let (count, refusal) = Self.pass(bytes, to: layer, pastTLS: false)
    note(count, refusal, of: bytes.count)
    return count
  }

  /// Hands bytes on until something is in the way; answers how many went, and what it was.
  private static func pass(
    _ bytes: Span<UInt8>, to layer: borrowing SocketLayer, pastTLS: Bool
  ) -> (count: Int, refusal: SocketLayer.Outcome?) {
    var count = 0
    while count < bytes.count {
      let rest = bytes.dropping(count)
      let outcome = pastTLS ? layer.writeRaw(rest) : layer.write(rest)
      guard case .moved(let moved) = outcome else { return (count, outcome) }
      count += moved
    }
    return (count, nil)
  }

  /// So many of `size` bytes went through the TLS layer, and what was in the way of the others.
  private mutating func note(_ count: Int, _ refusal: SocketLayer.Outcome?, of size: Int) {
    bytesWritten += count
    if count > 0 { owedRetry = 0 }
    if case .needsRoom = refusal { owedRetry = min(size - count, Self.recordLimit) }
  }
}

/// How much of a connection's output may leave while a commit is under way. Counts bytes from the front of the output.
///
///     | free to leave | covered by the commit that is under way | of turns that none covers yet |
public struct OutputGate: Sendable {
  /// All may leave: nothing here waits for a commit.
  public static let open = OutputGate()

  /// How many bytes may leave.
  public private(set) var allowed = Int.max
  private var covered = 0

  /// Whether some of the output, or the end behind it, has to wait.
  public var isClosed: Bool { allowed != .max }

  /// What comes behind the first `count` bytes waits.
  public mutating func close(behind count: Int) {
    if !isClosed { allowed = count }
  }

  /// A commit covers the first `count` bytes. Of those that were queued before it was known that there is anything to wait for,
  /// nobody can say which are of an earlier turn: all wait.
  public mutating func cover(_ count: Int) {
    if !isClosed { allowed = 0 }
    covered = count
  }

  /// What was covered may leave; it opens for good if that was all.
  public mutating func release(hasMore: Bool) {
    if hasMore { allowed = covered } else { self = .open }
  }

  /// Bytes have left.
  public mutating func left(_ count: Int) {
    guard isClosed else { return }
    allowed -= count
    covered = max(0, covered - count)
  }
}

/// Bytes that wait to be written to one connection. Holds no memory while empty; storage is lent by the loop.
struct OutputBuffer: ~Copyable {
  /// Size of a first buffer, in bytes; the loop keeps some of these for reuse.
  static let chunk = 64 << 10
  /// Size of a first buffer where many connections have something to say at once, in bytes: a push to each of 19,000 phones
  /// must not take a chunk for each.
  static let modest = 4 << 10
  /// Storage beyond this is given back in part when little of it is used, in bytes.
  static let roomyLimit = 1 << 20

  private var storage = ByteBuffer()
  /// What lies before has been consumed.
  private var head = 0

  /// Bytes of storage, used or not.
  var capacity: Int { storage.capacity }
  var isEmpty: Bool { head == storage.count }
  var count: Int { storage.count - head }

  /// The bytes that wait.
  var waiting: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.dropping(head) }
  }

  /// Adds what `write` writes to room for `size` bytes.
  @inline(__always)
  mutating func append(atMost size: Int, from loop: EventLoop, _ write: (inout OutputSpan<UInt8>) -> Void) {
    makeRoom(size, from: loop)
    storage.append(atMost: size, write)
  }

  /// Adds bytes.
  mutating func append(_ bytes: Span<UInt8>, from loop: EventLoop) {
    makeRoom(bytes.count, from: loop)
    storage.append(bytes)
  }

  @inline(__always)
  private mutating func makeRoom(_ size: Int, from loop: EventLoop) {
    if storage.capacity &- storage.count < size { grow(size, from: loop) }
  }

  /// Forgets the first `count` bytes, and gives the storage back when nothing is left.
  mutating func consume(_ count: Int, to loop: EventLoop) {
    head += count
    if isEmpty { return release(to: loop) }
    if capacity > Self.roomyLimit, self.count < capacity / 4 { shrink(loop) }
  }

  mutating func release(to loop: EventLoop) {
    guard capacity > 0 else { return }
    loop.spareOutput.changeHands(from: capacity, to: 0)
    var old = ByteBuffer()
    swap(&old, &storage)
    head = 0
    loop.memory.change(by: -old.capacity)
    if old.capacity == Self.chunk { loop.spareOutput.keep(old) }
  }

  private mutating func grow(_ size: Int, from loop: EventLoop) {
    let needed = count + size
    if needed <= Self.chunk, capacity == 0, let spare = loop.spareOutput.take() {
      move(to: spare, loop)
    } else if needed <= Self.modest, capacity == 0, loop.spareOutput.areManyLent {
      move(to: ByteBuffer(capacity: Self.modest), loop)
    } else {
      move(to: ByteBuffer(capacity: Self.capacity(for: needed, growing: capacity)), loop)
    }
  }

  /// A large answer of which little is left must not hold all of its memory until a slow peer has read the last byte.
  private mutating func shrink(_ loop: EventLoop) {
    move(to: ByteBuffer(capacity: Self.capacity(for: count, growing: 0)), loop)
  }

  private mutating func move(to fresh: consuming ByteBuffer, _ loop: EventLoop) {
    loop.memory.change(by: fresh.capacity - capacity)
    loop.spareOutput.changeHands(from: capacity, to: fresh.capacity)
    fresh.append(waiting)
    storage = fresh
    head = 0
  }

  /// Whole chunks; what grows already gets half as much again, so that many small appends copy little.
  private static func capacity(for needed: Int, growing: Int) -> Int {
    let wanted = max(needed, growing + growing / 2)
    return (wanted + chunk - 1) / chunk * chunk
  }
}

/// Empty first buffers that the connections of a loop use one after the other.
@safe struct SpareOutput: ~Copyable {
  /// Most that are kept.
  static let limit = 64

  private let buffers = UnsafeMutablePointer<ByteBuffer>.allocate(capacity: limit)
  private(set) var count = 0
  /// Whole chunks that connections have, as a count.
  private var lent = 0

  /// Whether more connections have a chunk than are worth one.
  var areManyLent: Bool { lent >= Self.limit }

  /// A connection has a buffer of another size now.
  mutating func changeHands(from old: Int, to new: Int) {
    lent += (new == OutputBuffer.chunk ? 1 : 0) - (old == OutputBuffer.chunk ? 1 : 0)
  }

  deinit {
    unsafe buffers.deinitialize(count: count)
    unsafe buffers.deallocate()
  }

  mutating func take() -> ByteBuffer? {
    guard count > 0 else { return nil }
    count -= 1
    return unsafe (buffers + count).move()
  }

  /// Keeps one for the next connection, or frees it if there are enough.
  mutating func keep(_ buffer: consuming ByteBuffer) {
    guard count < Self.limit else { return }
    buffer.removeAll()
    unsafe (buffers + count).initialize(to: buffer)
    count += 1
  }
}
