/// How bytes of a peer or a file are read: by bounds-checked functions of this file, which is the only one where they are looked at by
/// more than one at a time.
extension Span where Element == UInt8 {
  /// No bytes.
  @inlinable public static var none: Span<UInt8> {
    @_lifetime(immortal) get { Span() }
  }

  // MARK: Whole numbers

  /// The number that begins at `offset`, most significant byte first. All of it must lie here: anything else traps.
  @inlinable @inline(__always)
  public func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: Int)
    -> Number
  {
    Number(bigEndian: native(type, at: offset))
  }

  /// The number that begins at `offset`, in the order of this processor. All of it must lie here: anything else traps.
  @inlinable @inline(__always)
  public func native<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: Int)
    -> Number
  {
    precondition(
      offset >= 0 && offset <= count &- MemoryLayout<Number>.size, "a number beyond the end of its bytes")
    return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type)
  }

  // MARK: Parts

  /// The byte at `position`, which is not negative; nil behind the last.
  @inlinable @inline(__always)
  public func byte(at position: Int) -> UInt8? {
    position < count ? self[position] : nil
  }

  /// The first byte; nil where there is none.
  @inlinable public var first: UInt8? { isEmpty ? nil : self[0] }

  /// The last byte; nil where there is none.
  @inlinable public var last: UInt8? { isEmpty ? nil : self[count &- 1] }

  /// What lies behind the first `size` bytes, which must be here.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func dropping(_ size: Int) -> Span<UInt8> { extracting(size..<count) }

  /// The first `size` bytes, or all if there are fewer.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func prefix(_ size: Int) -> Span<UInt8> { extracting(first: size) }

  // MARK: Comparing

  /// Whether both hold the same bytes. Looks at eight at a time: it passes by for every field of every request.
  @inlinable
  public func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else { return hasSameFewBytes(as: other) }
    var position = 0
    while position &+ 8 <= count {
      guard native(UInt64.self, at: position) == other.native(UInt64.self, at: position) else { return false }
      position &+= 8
    }
    // The last eight, some of which were compared before.
    return position == count
      || native(UInt64.self, at: count &- 8) == other.native(UInt64.self, at: count &- 8)
  }

  /// The same for less than eight bytes in both.
  @inlinable
  func hasSameFewBytes(as other: Span<UInt8>) -> Bool {
    guard count < 4 else {
      let last = count &- 4
      return native(UInt32.self, at: 0) == other.native(UInt32.self, at: 0)
        && native(UInt32.self, at: last) == other.native(UInt32.self, at: last)
    }
    for position in 0..<count where self[position] != other[position] { return false }
    return true
  }

  /// Whether these bytes begin with those of `other`.
  @inlinable
  public func hasPrefix(_ other: Span<UInt8>) -> Bool {
    count >= other.count && extracting(first: other.count).hasSameBytes(as: other)
  }

  /// Whether one of these bytes is `byte`.
  @inlinable
  public func holds(_ byte: UInt8) -> Bool { place(of: byte) < count }

  /// Where `byte` is first, from `start` on; the number of bytes if it is nowhere.
  @inlinable
  public func place(of byte: UInt8, from start: Int = 0) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let wanted = ones &* UInt64(byte)
    var position = start
    while position &+ 8 <= count {
      // A byte of zero is what borrows from the bit above it without having that set itself.
      let difference = native(UInt64.self, at: position) ^ wanted
      if (difference &- ones) & ~difference & (ones &* 0x80) != 0 { break }
      position &+= 8
    }
    while position < count, self[position] != byte { position &+= 1 }
    return position
  }

  /// Where `byte` is last; nil if it is nowhere.
  @inlinable
  public func lastPlace(of byte: UInt8) -> Int? {
    for position in stride(from: count &- 1, through: 0, by: -1) where self[position] == byte {
      return position
    }
    return nil
  }

  /// Whether these bytes spell a word.
  @inlinable @inline(__always)
  public func spells(_ word: StaticString) -> Bool {
    hasSameBytes(as: word.bytes)
  }

  /// Whether these bytes begin with a word.
  @inlinable @inline(__always)
  public func begins(with word: StaticString) -> Bool {
    hasPrefix(word.bytes)
  }

  /// Whether these bytes begin with a word whose letters are in lower case, in whichever case theirs are.
  @inlinable
  public func begins(inAnyCaseWith word: StaticString) -> Bool {
    word.withUTF8Buffer { word in
      guard count >= word.count else { return false }
      for index in 0..<word.count {
        let (ours, theirs) = unsafe (word[index], self[index])
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ours)
        guard ours == theirs || isLetter && ours == theirs | 0x20 else { return false }
      }
      return true
    }
  }

  // MARK: Copies

  /// As text; what is not UTF-8 becomes U+FFFD.
  @inlinable public var text: String {
    unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension Optional where Wrapped == Span<UInt8> {
  /// The bytes, or none where they are missing.
  @inlinable @inline(__always)
  public var orNone: Span<UInt8> {
    @_lifetime(copy self)
    get {
      switch self {
      case .some(let bytes): bytes
      case nil: Span()
      }
    }
  }

  /// What `read` makes of the bytes; nil without any.
  @inlinable @inline(__always)
  public func flatMap<Value>(_ read: (Span<UInt8>) -> Value?) -> Value? {
    if let self { read(self) } else { nil }
  }
}

extension StaticString {
  /// Its bytes as UTF-8, which stay for ever.
  @inlinable @inline(__always)
  public var bytes: Span<UInt8> {
    @_lifetime(immortal)
    get {
      unsafe _overrideLifetime(
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount).span, copying: ())
    }
  }
}

extension String {
  /// Lends its bytes as UTF-8.
  @inlinable @inline(__always)
  public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    var text = self
    return text.withUTF8 { unsafe body($0.span) }
  }
}

extension Array where Element == UInt8 {
  /// A copy of some bytes.
  @inlinable
  public init(_ bytes: Span<UInt8>) {
    guard !bytes.isEmpty else {
      self.init()
      return
    }
    self.init(capacity: bytes.count) { $0.append(bytes) }
  }

  /// A copy of bytes that may be missing.
  @inlinable
  public init?(_ bytes: Span<UInt8>?) {
    guard let bytes else { return nil }
    self.init(bytes)
  }

  /// Adds a copy of some bytes.
  ///
  /// The library's way writes a count of 0 where there are none: into memory that all empty arrays share, while other threads read it.
  @inlinable
  public mutating func append(_ bytes: Span<UInt8>) {
    guard !bytes.isEmpty else { return }
    append(addingCapacity: bytes.count) { $0.append(bytes) }
  }

  /// Adds a number, most significant byte first.
  @inlinable
  public mutating func append(bigEndian number: some FixedWidthInteger & BitwiseCopyable) {
    append(addingCapacity: number.bitWidth / 8) { $0.append(bigEndian: number) }
  }

  /// Writes a number, most significant byte first, over the bytes at `offset`. All of them must be here: anything else traps.
  @inlinable
  public mutating func replace(bigEndian number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
    var bytes = mutableSpan
    bytes.store(bigEndian: number, at: offset)
  }
}

extension MutableSpan where Element == UInt8 {
  /// Writes a number in the order of this processor. All of it must lie here: anything else traps.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(
    native number: Number, at offset: Int
  ) {
    var bytes = unsafe mutableBytes
    bytes.storeBytes(of: number, toByteOffset: offset, as: Number.self)
  }

  /// Writes a number, most significant byte first. All of it must lie here: anything else traps.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func store(bigEndian number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
    store(native: number.bigEndian, at: offset)
  }

  /// Writes a copy of some bytes over those from `start` on, all of which must be here: anything else traps.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func overwrite(at start: Int, with bytes: Span<UInt8>) {
    precondition(start >= 0 && bytes.count <= count &- start, "bytes beyond the end of their place")
    unsafe bytes.withUnsafeBytes { source in
      unsafe withUnsafeMutableBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: source)
      }
    }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Adds a copy of some bytes, for which there must be room.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func append(_ bytes: Span<UInt8>) {
    guard !bytes.isEmpty else { return }
    precondition(bytes.count <= freeCapacity, "more bytes than there is room for")
    unsafe bytes.withUnsafeBufferPointer { source in
      unsafe withUnsafeMutableBufferPointer { room, count in
        count = unsafe room[count...].update(fromContentsOf: source)
      }
    }
  }

  /// Adds a number in the order of this processor, or its first `size` bytes; there must be room for all of it.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(
    native number: Number, size: Int = MemoryLayout<Number>.size
  ) {
    let start = count
    append(repeating: 0, count: MemoryLayout<Number>.size)
    var bytes = mutableSpan
    bytes.store(native: number, at: start)
    removeLast(MemoryLayout<Number>.size &- size)
  }

  /// Adds a number, most significant byte first.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func append(bigEndian number: some FixedWidthInteger & BitwiseCopyable) {
    append(native: number.bigEndian)
  }
}

extension Span where Element == UInt64 {
  /// The bytes of these numbers, as they lie in memory.
  @inlinable public var memory: Span<UInt8> {
    @_lifetime(copy self) get { unsafe bytes._unsafeView(as: UInt8.self) }
  }
}

/// Lends the bytes of four numbers, as they lie in memory.
@inlinable @inline(__always)
public func withBytes<Result>(
  of words: (UInt64, UInt64, UInt64, UInt64), _ body: (Span<UInt8>) throws -> Result
) rethrows -> Result {
  unsafe try withUnsafeBytes(of: words) { unsafe try body($0.span) }
}

extension UnsafeRawBufferPointer {
  /// The bytes that a C library, or the system, has lent: to be asked for where they come from, and nowhere else.
  @inlinable @unsafe
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(assumingMemoryBound(to: UInt8.self).span, borrowing: self) }
  }
}
