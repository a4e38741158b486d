/// Bytes that grow at their end, in memory that is used again: the one place where such memory is made, moved and freed.
///
/// What it lends is valid until the next change. Holds no memory until something is appended, unless told otherwise.
public struct ByteBuffer: ~Copyable {
  public var base: UnsafeMutableRawPointer?
  public var used = 0
  public var held: Int
  private let factor: Int
  private let alignment: Int

  /// Bytes of memory held.
  @inlinable public var capacity: Int { held }
  /// Bytes in use.
  @inlinable public var count: Int { used }

  /// An empty buffer with room for `capacity` bytes, whose memory grows by `factor` when it is used up, and begins at a
  /// multiple of `alignment` bytes.
  public init(capacity: Int = 0, growingBy factor: Int = 2, alignment: Int = 16) {
    precondition(capacity >= 0 && factor > 1, "this would never grow")
    (held, self.factor, self.alignment) = (capacity, factor, alignment)
    base = capacity > 0 ? .allocate(byteCount: capacity, alignment: alignment) : nil
  }

  deinit { base?.deallocate() }

  /// What was appended.
  @inlinable public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// What was appended, to be changed in place.
  @inlinable public var mutableBytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: count)
  }

  /// What was appended, lent until the next change.
  @inlinable public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(bytes.span, borrowing: self) }
  }

  // MARK: Growing

  /// Adds a copy of `bytes`.
  @inlinable @inline(__always)
  public mutating func append(_ bytes: Span<UInt8>) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Adds a copy of `bytes`.
  @inlinable @inline(__always)
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    append(atMost: bytes.count) { end in
      end.copyMemory(from: source, byteCount: bytes.count)
      return bytes.count
    }
  }

  /// Adds one byte.
  @inlinable @inline(__always)
  public mutating func append(_ byte: UInt8) {
    append(atMost: 1) { end in
      end.storeBytes(of: byte, as: UInt8.self)
      return 1
    }
  }

  /// Adds what `write` writes to room for `size` bytes, as many as it says; nothing if it says nil. Answers what it said.
  @inlinable @inline(__always)
  @discardableResult
  public mutating func append(atMost size: Int, _ write: (UnsafeMutableRawPointer) -> Int?) -> Int? {
    reserve(size)
    guard let base, let added = write(base + count) else { return nil }
    used &+= added
    return added
  }

  /// Makes room for `size` more bytes; later appends up to that do not move anything.
  @inlinable @inline(__always)
  public mutating func reserve(_ size: Int) {
    if capacity &- count < size || base == nil { grow(size) }
  }

  public mutating func grow(_ size: Int) {
    var larger = max(1, capacity)
    while larger - count < size { larger *= factor }
    resize(to: larger)
  }

  /// Moves to memory of `size` bytes, in which what was appended must fit.
  public mutating func resize(to size: Int) {
    precondition(size >= count, "what was appended does not fit")
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
    if let base { fresh.copyMemory(from: base, byteCount: count) }
    base?.deallocate()
    (base, held) = (fresh, size)
  }

  // MARK: Forgetting

  /// Forgets everything but the first `size` bytes, and keeps the memory.
  public mutating func removeAll(from size: Int = 0) {
    precondition(size >= 0, "there is nothing before the first byte")
    used = min(used, size)
  }

  /// Forgets the first `size` bytes; the rest moves there.
  public mutating func removeFirst(_ size: Int) {
    precondition(0...count ~= size, "so much was not appended")
    guard let base else { return }
    used -= size
    base.copyMemory(from: base + size, byteCount: count)
  }

  /// Forgets everything, and gives the memory back.
  public mutating func free() {
    base?.deallocate()
    (base, held, used) = (nil, 0, 0)
  }
}

/// As a text.
extension ByteBuffer {
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Keeps the first `limit` bytes, each that is not visible ASCII or a blank replaced: for places where nothing else may
  /// stand.
  public mutating func makeVisible(limit: Int) {
    removeAll(from: limit)
    makeVisible(from: 0)
  }

  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Bytes of a peer: what is not visible ASCII or a blank is replaced.
  public mutating func append(visible bytes: [UInt8]) {
    let start = count
    bytes.withUnsafeBytes { append($0) }
    makeVisible(from: start)
  }

  /// Decimal digits, with zeros before them up to `width`.
  @inlinable @inline(__always)
  public mutating func append(_ number: Int64, width: Int = 1) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    var (size, limit): (Int, UInt64) = (1, 10)
    while rest >= limit, size < 19 {
      size &+= 1
      limit = limit &* 10
    }
    size = max(size, width)
    append(atMost: size) { digits in
      for place in stride(from: size &- 1, through: 0, by: -1) {
        digits.storeBytes(
          of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10), toByteOffset: place, as: UInt8.self)
        rest /= 10
      }
      return size
    }
  }

  private func makeVisible(from start: Int) {
    let bytes = mutableBytes
    for index in start..<count where bytes[index] < 0x20 || bytes[index] >= 0x7f {
      bytes[index] = UInt8(ascii: "?")
    }
  }
}

extension String {
  /// As text that cannot drive a terminal: control characters, which JSON allows above U+007E, and characters that nobody sees
  /// are written as numbers. For what a peer or a file has said.
  public var visible: String {
    var visible = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        visible.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: visible.append(scalar)
      }
    }
    return String(visible)
  }
}
