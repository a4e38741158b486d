/// Bytes of a text that grows at its end, in memory that is used again for the next text.
public struct TextBuffer: ~Copyable {
  private static let firstCapacity = 256

  private var base = UnsafeMutablePointer<UInt8>.allocate(capacity: firstCapacity)
  private var capacity = firstCapacity
  public private(set) var count = 0

  public init() {}

  deinit { base.deallocate() }

  /// What was written, lent until the next change.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  public mutating func removeAll() { count = 0 }

  /// Keeps the first `limit` bytes, each that is not visible ASCII or a blank replaced: for places where nothing else may
  /// stand.
  public mutating func makeVisible(limit: Int) {
    count = min(count, limit)
    for index in 0..<count { base[index] = Self.visible(base[index]) }
  }

  // MARK: Writing

  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Bytes of a peer: what is not visible ASCII or a blank is replaced.
  public mutating func append(visible bytes: [UInt8]) {
    let start = count
    bytes.withUnsafeBytes { append($0) }
    for index in start..<count { base[index] = Self.visible(base[index]) }
  }

  public mutating func append(_ byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  /// Decimal digits, with zeros before them up to `width`.
  public mutating func append(_ number: Int64, width: Int = 1) {
    if number < 0 { append(UInt8(ascii: "-")) }
    let start = count
    var rest = number.magnitude
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0 || count - start < width
    var digits = UnsafeMutableBufferPointer(start: base + start, count: count - start)
    digits.reverse()
  }

  private static func visible(_ byte: UInt8) -> UInt8 {
    byte >= 0x20 && byte < 0x7f ? byte : UInt8(ascii: "?")
  }

  private mutating func reserve(_ more: Int) {
    guard count + more > capacity else { return }
    while capacity < count + more { capacity *= 2 }
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
  }
}
