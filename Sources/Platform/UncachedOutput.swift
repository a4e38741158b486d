import Basics

/// Writes whole blocks of a file past the system's cache. What is captured in bulk is not read soon, and passing through
/// the cache costs a processor three times what encoding it does.
public struct UncachedOutput: ~Copyable {
  /// What file systems ask of offsets, counts and memory, in bytes; more than any asks.
  public static let block = 4096
  /// Less goes through the cache: it is read soon, by whoever follows the file.
  private static let minimum = 256 << 10

  private let file: OpenFile
  private let put: Put
  private var memory = ByteBuffer(alignment: block)

  /// Writes at an offset as much as is taken, as `OpenFile` does.
  public typealias Put = (_ file: borrowing OpenFile, _ bytes: Span<UInt8>, _ offset: Int) -> Int

  /// Nil where files can't be written so. A test lets `put` fail.
  public init?(
    _ path: String,
    put: @escaping Put = { $0.write($1, at: $2) }
  ) {
    guard let file = OpenFile(uncached: path) else { return nil }
    self.file = file
    self.put = put
  }

  /// How so many bytes for a file of `size` bytes are parted: those before the first whole block, and the whole blocks.
  /// No blocks if they are not worth it.
  public static func split(_ count: Int, at size: Int) -> (before: Int, blocks: Range<Int>) {
    let before = (block - size % block) % block
    let length = max(0, count - before) / block * block
    return length < minimum ? (0, 0..<0) : (before, before..<before + length)
  }

  /// Writes whole blocks at an offset that is one of a block; false if not all of them were taken. They are copied first
  /// unless they lie in memory at a multiple of a block.
  public mutating func write(_ blocks: Span<UInt8>, at offset: Int) -> Bool {
    let address = unsafe blocks.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    if address % UInt(Self.block) == 0 { return writeAligned(blocks, at: offset) }
    memory.removeAll()
    memory.append(blocks)
    return writeAligned(memory.span, at: offset)
  }

  private func writeAligned(_ blocks: Span<UInt8>, at offset: Int) -> Bool {
    var written = 0
    while written < blocks.count {
      let count = put(file, blocks.dropping(written), offset + written)
      guard count > 0, count % Self.block == 0 else { return false }
      written += count
    }
    return true
  }
}
