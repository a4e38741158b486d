import PushModel

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
  var waiting: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage.bytes[head...]) }

  /// Adds what `write` writes to room for `size` bytes, as many as it says.
  @inline(__always)
  mutating func append(atMost size: Int, from loop: EventLoop, _ write: (UnsafeMutableRawPointer) -> Int) {
    if storage.capacity &- storage.count < size { grow(size, from: loop) }
    storage.append(atMost: size, write)
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
struct SpareOutput: ~Copyable {
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
    buffers.deinitialize(count: count)
    buffers.deallocate()
  }

  mutating func take() -> ByteBuffer? {
    guard count > 0 else { return nil }
    count -= 1
    return (buffers + count).move()
  }

  /// Keeps one for the next connection, or frees it if there are enough.
  mutating func keep(_ buffer: consuming ByteBuffer) {
    guard count < Self.limit else { return }
    buffer.removeAll()
    (buffers + count).initialize(to: buffer)
    count += 1
  }
}
