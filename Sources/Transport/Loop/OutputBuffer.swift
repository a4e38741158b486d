/// Bytes that wait to be written to one connection. Holds no memory while empty; storage is lent by the loop.
struct OutputBuffer {
  /// Size of a first buffer, in bytes; the loop keeps some of these for reuse.
  static let chunk = 64 << 10
  /// How many free chunks the loop keeps.
  static let spareLimit = 64

  private var storage: UnsafeMutableRawBufferPointer?
  private var head = 0
  private var tail = 0

  var isEmpty: Bool { head == tail }
  var count: Int { tail - head }

  /// The bytes that wait.
  var waiting: UnsafeRawBufferPointer {
    guard let storage else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: storage[head..<tail])
  }

  /// Room for `size` bytes; `commit` says how many were used.
  mutating func reserve(_ size: Int, from loop: EventLoop) -> UnsafeMutableRawPointer {
    if let storage, let base = storage.baseAddress, storage.count - tail >= size { return base + tail }
    return grow(size, from: loop)
  }

  mutating func commit(_ count: Int) { tail += count }

  /// Forgets the first `count` bytes, and gives the storage back when nothing is left.
  mutating func consume(_ count: Int, to loop: EventLoop) {
    head += count
    if head == tail { release(to: loop) }
  }

  mutating func release(to loop: EventLoop) {
    (head, tail) = (0, 0)
    guard let storage else { return }
    self.storage = nil
    if storage.count == Self.chunk, loop.spareOutput.count < Self.spareLimit {
      loop.spareOutput.append(storage)
    } else {
      storage.deallocate()
    }
  }

  private mutating func grow(_ size: Int, from loop: EventLoop) -> UnsafeMutableRawPointer {
    let waiting = self.waiting
    let needed = waiting.count + size
    let fresh: UnsafeMutableRawBufferPointer
    if needed <= Self.chunk, storage == nil, let spare = loop.spareOutput.popLast() {
      fresh = spare
    } else {
      fresh = .allocate(byteCount: Self.capacity(for: needed), alignment: 16)
    }
    if !waiting.isEmpty { fresh.copyMemory(from: waiting) }
    storage?.deallocate()
    storage = fresh
    (head, tail) = (0, waiting.count)
    return UnsafeMutableRawPointer(fresh.baseAddress.unsafelyUnwrapped + tail)
  }

  private static func capacity(for needed: Int) -> Int {
    var capacity = chunk
    while capacity < needed { capacity *= 2 }
    return capacity
  }
}
