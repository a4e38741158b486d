/// Bytes that grow at their end, in memory that is used again: the one place where such memory is made, moved and freed.
///
/// What it lends is valid until the next change. Holds no memory until something is appended, unless told otherwise.
public struct ByteBuffer: ~Copyable {
  private static let alignment = 16

  private var base: UnsafeMutableRawPointer?
  private let factor: Int
  /// Bytes of memory held.
  public private(set) var capacity: Int
  /// Bytes in use.
  public private(set) var count = 0

  /// An empty buffer with room for `capacity` bytes, whose memory grows by `factor` when it is used up.
  public init(capacity: Int = 0, growingBy factor: Int = 2) {
    precondition(capacity >= 0 && factor > 1, "this would never grow")
    (self.capacity, self.factor) = (capacity, factor)
    base = capacity > 0 ? .allocate(byteCount: capacity, alignment: Self.alignment) : nil
  }

  deinit { base?.deallocate() }

  /// What was appended.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// What was appended, to be changed in place.
  public var mutableBytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: count)
  }

  // MARK: Growing

  /// Adds a copy of `bytes`.
  @inline(__always)
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    append(atMost: bytes.count) { end in
      end.copyMemory(from: source, byteCount: bytes.count)
      return bytes.count
    }
  }

  /// Adds one byte.
  @inline(__always)
  public mutating func append(_ byte: UInt8) {
    append(atMost: 1) { end in
      end.storeBytes(of: byte, as: UInt8.self)
      return 1
    }
  }

  /// Adds what `write` writes to room for `size` bytes, as many as it says; nothing if it says nil. Answers what it said.
  @inline(__always)
  @discardableResult
  public mutating func append(atMost size: Int, _ write: (UnsafeMutableRawPointer) -> Int?) -> Int? {
    reserve(size)
    guard let base, let added = write(base + count) else { return nil }
    count &+= added
    return added
  }

  /// Makes room for `size` more bytes; later appends up to that do not move anything.
  @inline(__always)
  public mutating func reserve(_ size: Int) {
    if capacity &- count < size || base == nil { grow(size) }
  }

  private mutating func grow(_ size: Int) {
    var larger = max(1, capacity)
    while larger - count < size { larger *= factor }
    resize(to: larger)
  }

  /// Moves to memory of `size` bytes, in which what was appended must fit.
  public mutating func resize(to size: Int) {
    precondition(size >= count, "what was appended does not fit")
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Self.alignment)
    if let base { fresh.copyMemory(from: base, byteCount: count) }
    base?.deallocate()
    (base, capacity) = (fresh, size)
  }

  // MARK: Forgetting

  /// Forgets everything but the first `size` bytes, and keeps the memory.
  public mutating func removeAll(from size: Int = 0) {
    precondition(size >= 0, "there is nothing before the first byte")
    count = min(count, size)
  }

  /// Forgets the first `size` bytes; the rest moves there.
  public mutating func removeFirst(_ size: Int) {
    precondition(0...count ~= size, "so much was not appended")
    guard let base else { return }
    count -= size
    base.copyMemory(from: base + size, byteCount: count)
  }

  /// Forgets everything, and gives the memory back.
  public mutating func free() {
    base?.deallocate()
    (base, capacity, count) = (nil, 0, 0)
  }
}
