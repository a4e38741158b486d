import PushModel

/// The lines that nearly all pushes of the gateway are, in one pass:
///
///     {"ns":N,"connection":N,"frame":"<base64>"}
///     {"ns":N,"connection":N,"count":N,"frames":"<base64>"}
///
/// written just so, as the encoder does. Whatever differs from it is left to `LineReading`.
struct FrameLine {
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  private let base: UnsafeRawPointer
  private let end: Int
  /// Where the walk is; behind the line once it was read.
  private(set) var position: Int

  /// A line in `end` bytes, the last of which is a newline.
  @inline(__always)
  init(_ base: UnsafeRawPointer, from start: Int, to end: Int) {
    (self.base, position, self.end) = (base, start, end)
  }

  /// What it says, its frame at the end of `text`; nil, and nothing added, if it is another line.
  @inline(__always)
  mutating func read(_ line: Int, into text: CaptureText) -> CaptureEntry? {
    guard take("{\"ns\":"), let nanoseconds = number(), take(",\"connection\":"), let connection = number(),
      let connection = UInt32(exactly: connection), let frames = frames(), let content = base64(into: text)
    else { return nil }
    guard take("\"}\n"), frames == 1 || text.count(framesIn: content) == Int(frames) else {
      text.removeLast(Int(content.count))
      return nil
    }
    var entry = CaptureEntry(
      kind: .frame, line: line, nanoseconds: Int64(truncatingIfNeeded: nanoseconds), connection: connection)
    (entry.content, entry.frames) = (content, frames)
    return entry
  }

  /// How many frames follow.
  @inline(__always)
  private mutating func frames() -> Int32? {
    if take(",\"frame\":\"") { return 1 }
    guard take(",\"count\":"), let count = number(), count > 1, take(",\"frames\":\"") else { return nil }
    return Int32(exactly: count)
  }

  @inline(__always)
  private mutating func take(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard end &- position >= count else { return false }
    for index in 0..<count
    where base.load(fromByteOffset: position &+ index, as: UInt8.self) != word.utf8Start[index] {
      return false
    }
    position &+= count
    return true
  }

  /// A number of at most 15 digits.
  @inline(__always)
  private mutating func number() -> UInt64? {
    guard let (first, count) = digits(), count > 0 else { return nil }
    guard count == 8 else { return first }
    guard let (second, more) = digits(), more < 8 else { return nil }
    return first &* Self.power(more) &+ second
  }

  /// What the next digits say, up to eight of them, and how many there are.
  @inline(__always)
  private mutating func digits() -> (value: UInt64, count: Int)? {
    guard position &+ 8 <= end else { return nil }
    let word = UInt64(littleEndian: (base + position).loadUnaligned(as: UInt64.self)) ^ (Self.ones &* 0x30)
    // A byte above 9 gets its highest bit; those before the first such byte are right.
    let foreign = ((word &+ Self.ones &* 0x76) | word) & (Self.ones &* 0x80)
    let count = foreign.trailingZeroBitCount / 8
    guard count > 0 else { return (0, 0) }
    position &+= count
    // Zeros go before them; then neighbours are joined to pairs, fours and eight.
    var value = word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    value = (value &* (10 &<< 8 &+ 1)) &>> 8 & 0x00ff_00ff_00ff_00ff
    value = (value &* (100 &<< 16 &+ 1)) &>> 16 & 0x0000_ffff_0000_ffff
    value = (value &* (10_000 &<< 32 &+ 1)) &>> 32
    return (value, count)
  }

  @inline(__always)
  private static func power(_ exponent: Int) -> UInt64 {
    switch exponent {
    case 0: 1
    case 1: 10
    case 2: 100
    case 3: 1000
    case 4: 10_000
    case 5: 100_000
    case 6: 1_000_000
    default: 10_000_000
    }
  }

  @inline(__always)
  private mutating func base64(into text: CaptureText) -> CaptureEntry.Piece? {
    let input = UnsafeRawBufferPointer(start: base + position, count: end &- position)
    var read = 0
    let piece = text.extend(atMost: Base64.decodedLimit(input.count) &+ Base64.slack) {
      Base64.decodePrefix(input, to: $0, &read)
    }
    position &+= read
    return piece
  }
}
