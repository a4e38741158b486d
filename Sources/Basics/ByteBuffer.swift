/// Bytes that grow at their end, in memory that is used again: the one place where such memory is made, moved and freed.
///
/// What it lends is over before the next change: the compiler sees to that. Holds no memory until something is appended, unless told
/// otherwise.
@safe public struct ByteBuffer: ~Copyable {
  /// Owned; the first `count` bytes are in use.
  @usableFromInline var room = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
  @usableFromInline var used = 0
  private let factor: Int
  private let alignment: Int

  /// Bytes of memory held.
  @inlinable public var capacity: Int { unsafe room.count }
  /// Bytes in use.
  @inlinable public var count: Int { used }

  /// An empty buffer with room for `capacity` bytes, whose memory grows by `factor` when it is used up, and begins at a
  /// multiple of `alignment` bytes.
  public init(capacity: Int = 0, growingBy factor: Int = 2, alignment: Int = 16) {
    precondition(capacity >= 0 && factor > 1, "this would never grow")
    (self.factor, self.alignment) = (factor, alignment)
    if capacity > 0 { resize(to: capacity) }
  }

  deinit { unsafe room.deallocate() }

  /// What was appended, lent until the next change.
  @inlinable public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(room.extracting(..<count).span, borrowing: self) }
  }

  /// What was appended, to be changed in place.
  @inlinable public var mutableSpan: MutableSpan<UInt8> {
    @_lifetime(&self)
    mutating get { unsafe _overrideLifetime(room.extracting(..<count).mutableSpan, mutating: &self) }
  }

  // MARK: Growing

  /// Adds a copy of `bytes`.
  @inlinable @inline(__always)
  public mutating func append(_ bytes: Span<UInt8>) { append(atMost: bytes.count) { $0.append(bytes) } }

  /// Adds one byte.
  @inlinable @inline(__always)
  public mutating func append(_ byte: UInt8) { append(atMost: 1) { $0.append(byte) } }

  /// Adds what `write` writes to room for `size` bytes. Answers what it does.
  @inlinable @inline(__always)
  @discardableResult
  public mutating func append<Answer>(atMost size: Int, _ write: (inout OutputSpan<UInt8>) -> Answer)
    -> Answer
  {
    reserve(size)
    let end = unsafe room.extracting(count..<count &+ size)
    var output = unsafe OutputSpan(buffer: end, initializedCount: 0)
    let answer = write(&output)
    used &+= unsafe output.finalize(for: end)
    return answer
  }

  /// Writes a number in the order of this processor over the bytes at `offset`. All of them must be here: anything else traps.
  @inlinable @inline(__always)
  public mutating func replace(native number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
    var bytes = mutableSpan
    bytes.store(native: number, at: offset)
  }

  /// Makes room for `size` more bytes; later appends up to that do not move anything.
  @inlinable @inline(__always)
  public mutating func reserve(_ size: Int) {
    if capacity &- count < size { grow(size) }
  }

  @usableFromInline
  mutating func grow(_ size: Int) {
    var larger = max(1, capacity)
    while larger - count < size { larger *= factor }
    resize(to: larger)
  }

  /// Moves to memory of `size` bytes, in which what was appended must fit.
  public mutating func resize(to size: Int) {
    precondition(size >= count, "what was appended does not fit")
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: alignment)
    let fresh = unsafe memory.bindMemory(to: UInt8.self)
    _ = unsafe fresh.update(fromContentsOf: room[..<count])
    unsafe room.deallocate()
    unsafe room = fresh
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
    used = unsafe room.update(fromContentsOf: room[size..<count])
  }

  /// Forgets everything, and gives the memory back.
  public mutating func free() {
    used = 0
    resize(to: 0)
  }
}

/// As a text.
extension ByteBuffer {
  public var text: String { span.text }

  /// Keeps the first `limit` bytes, each that is not visible ASCII or a blank replaced: for places where nothing else may
  /// stand.
  public mutating func makeVisible(limit: Int) {
    removeAll(from: limit)
    makeVisible(from: 0)
  }

  public mutating func append(_ text: String) { text.withBytes { append($0) } }

  /// Bytes of a peer: what is not visible ASCII or a blank is replaced.
  public mutating func append(visible bytes: [UInt8]) {
    let start = count
    append(bytes.span)
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
      digits.append(repeating: UInt8(ascii: "0"), count: size)
      var place = size
      while rest > 0 {
        place &-= 1
        digits[place] &+= UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
    }
  }

  private mutating func makeVisible(from start: Int) {
    var bytes = mutableSpan
    for index in start..<bytes.count where bytes[index] < 0x20 || bytes[index] >= 0x7f {
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
