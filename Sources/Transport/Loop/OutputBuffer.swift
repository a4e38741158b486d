/// Bytes that wait to be written to one connection. Holds no memory while empty; storage is lent by the loop.
struct OutputBuffer {
  /// Size of a first buffer, in bytes; the loop keeps some of these for reuse.
  static let chunk = 64 << 10
  /// Storage beyond this is given back in part when little of it is used, in bytes.
  static let roomyLimit = 1 << 20
  /// How many free chunks the loop keeps.
  static let spareLimit = 64

  private var storage: UnsafeMutableRawBufferPointer?
  private var head = 0
  private var tail = 0

  /// Bytes of storage, used or not.
  var capacity: Int { storage?.count ?? 0 }
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
    if head == tail { return release(to: loop) }
    if capacity > Self.roomyLimit, self.count < capacity / 4 { shrink(loop) }
  }

  /// A large answer of which little is left must not hold all of its memory until a slow peer has read the last byte.
  private mutating func shrink(_ loop: EventLoop) {
    guard let storage else { return }
    let fresh = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.capacity(for: count, growing: 0), alignment: 16)
    fresh.copyMemory(from: waiting)
    loop.memory.change(by: fresh.count - storage.count)
    storage.deallocate()
    (self.storage, head, tail) = (fresh, 0, count)
  }

  mutating func release(to loop: EventLoop) {
    (head, tail) = (0, 0)
    guard let storage else { return }
    self.storage = nil
    loop.memory.change(by: -storage.count)
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
      fresh = .allocate(byteCount: Self.capacity(for: needed, growing: capacity), alignment: 16)
    }
    loop.memory.change(by: fresh.count - capacity)
    if !waiting.isEmpty { fresh.copyMemory(from: waiting) }
    storage?.deallocate()
    storage = fresh
    (head, tail) = (0, waiting.count)
    return UnsafeMutableRawPointer(fresh.baseAddress.unsafelyUnwrapped + tail)
  }

  /// Whole chunks; what grows already gets half as much again, so that many small appends copy little.
  private static func capacity(for needed: Int, growing: Int) -> Int {
    let wanted = max(needed, growing + growing / 2)
    return (wanted + chunk - 1) / chunk * chunk
  }
}
