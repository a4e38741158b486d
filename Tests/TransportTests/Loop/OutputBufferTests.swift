import Testing

@testable import Transport

@Suite("Output buffer")
struct OutputBufferTests {
  private func append(_ bytes: [UInt8], to buffer: inout OutputBuffer, _ loop: EventLoop) {
    buffer.append(bytes.span, from: loop)
  }

  private final class Holder {
    var buffer = OutputBuffer()
    var waiting: [UInt8] { Self.copy(of: buffer) }

    private static func copy(of buffer: borrowing OutputBuffer) -> [UInt8] { Array(buffer.waiting) }
  }

  /// Comes again and again, and is appended as a whole: byte by byte takes long without the optimizer.
  private static let period = (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  private func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    var bytes = Array(Self.period[(start % Self.period.count)...])
    while bytes.count < count { bytes += Self.period }
    return Array(bytes[..<count])
  }

  @Test("what goes in comes out in order, whatever the sizes of appends and consumptions")
  func order() throws {
    let loop = try #require(EventLoop())
    var buffer = OutputBuffer()
    defer { buffer.release(to: loop) }
    var (written, read) = (0, 0)
    for (add, take) in [(10, 4), (70_000, 6), (1, 60_000), (200_000, 10_001), (65_536, 65_536), (3, 3)] {
      append(pattern(add, from: written), to: &buffer, loop)
      written += add
      #expect(Array(buffer.waiting) == pattern(written - read, from: read))
      buffer.consume(take, to: loop)
      read += take
      #expect(buffer.count == written - read && Array(buffer.waiting) == pattern(written - read, from: read))
    }
    buffer.consume(written - read, to: loop)
    #expect(buffer.isEmpty && buffer.capacity == 0)
  }

  @Test("an empty buffer holds no memory, and its chunk serves the next connection")
  func reuse() throws {
    let loop = try #require(EventLoop())
    var first = OutputBuffer()
    append(pattern(100), to: &first, loop)
    let chunk = first.waiting.withUnsafeBytes { $0.baseAddress }
    first.consume(99, to: loop)
    #expect(loop.spareOutput.count == 0)
    first.consume(1, to: loop)
    #expect(loop.spareOutput.count == 1)
    var second = OutputBuffer()
    append(pattern(50), to: &second, loop)
    #expect(second.waiting.withUnsafeBytes { $0.baseAddress } == chunk && loop.spareOutput.count == 0)
    second.release(to: loop)
    #expect(second.isEmpty && loop.spareOutput.count == 1)
  }

  @Test("large buffers are given back to the system, and only so many chunks are kept")
  func bounded() throws {
    let loop = try #require(EventLoop())
    var large = OutputBuffer()
    append(pattern(OutputBuffer.chunk + 1), to: &large, loop)
    large.consume(large.count, to: loop)
    #expect(loop.spareOutput.count == 0)
    let many = (0..<SpareOutput.limit + 10).map { _ in Holder() }
    for holder in many { append([1], to: &holder.buffer, loop) }
    for holder in many { holder.buffer.release(to: loop) }
    #expect(loop.spareOutput.count == SpareOutput.limit)
  }

  @Test("thousands that have a little to say in one turn do not hold a chunk each")
  func crowd() throws {
    let loop = try #require(EventLoop())
    let many = (0..<1000).map { _ in Holder() }
    for holder in many { append(pattern(300), to: &holder.buffer, loop) }
    #expect(loop.memory.used <= 64 * OutputBuffer.chunk + 1000 * 4096)
    // Who has more to say after all gets room for it.
    append(pattern(5000, from: 300), to: &many[999].buffer, loop)
    #expect(many[999].waiting == pattern(5300))
    for holder in many { holder.buffer.release(to: loop) }
    #expect(loop.memory.used == 0)
  }

  @Test("the loop's budget knows all storage, which is whole chunks and shrinks as a large answer is read")
  func counted() throws {
    let loop = try #require(EventLoop())
    var small = OutputBuffer()
    var large = OutputBuffer()
    append([1], to: &small, loop)
    #expect(loop.memory.used == OutputBuffer.chunk)
    let count = 10 << 20
    append(pattern(count), to: &large, loop)
    #expect(loop.memory.used == OutputBuffer.chunk + count)
    let left = 100_000
    large.consume(count - left, to: loop)
    #expect(Array(large.waiting) == pattern(left, from: count - left))
    #expect(loop.memory.used == 3 * OutputBuffer.chunk)
    large.consume(left, to: loop)
    small.release(to: loop)
    #expect(loop.memory.used == 0)
  }

  @Test("while 64 connections have a chunk of 64 KiB, up to 4 KiB of the next are not given one")
  func modest() throws {
    let loop = try #require(EventLoop())
    let chunk = 65_536
    let many = (0..<66).map { _ in Holder() }
    // What was given back does not count.
    append([1], to: &many[0].buffer, loop)
    many[0].buffer.release(to: loop)
    // Filled to the last byte, which takes no other.
    for holder in many[..<63] { append([1], to: &holder.buffer, loop) }
    append(pattern(4096), to: &many[63].buffer, loop)
    #expect(loop.memory.used == 64 * chunk)
    append(pattern(chunk - 4096), to: &many[63].buffer, loop)
    #expect(loop.memory.used == 64 * chunk)
    append(pattern(4096), to: &many[64].buffer, loop)
    #expect(loop.memory.used == 64 * chunk + 4096)
    append(pattern(4097), to: &many[65].buffer, loop)
    #expect(loop.memory.used == 65 * chunk + 4096)
    for holder in many { holder.buffer.release(to: loop) }
    #expect(loop.memory.used == 0 && loop.spareOutput.count == 64)
  }

  @Test("a buffer of 1 MiB gives nothing back until it is empty, a larger one does")
  func roomy() throws {
    let loop = try #require(EventLoop())
    for (size, isGivenBack) in [(1 << 20, false), ((1 << 20) + 65_536, true)] {
      var large = OutputBuffer()
      append(pattern(size), to: &large, loop)
      large.consume(size - 1, to: loop)
      #expect(loop.memory.used == (isGivenBack ? 65_536 : size))
      large.release(to: loop)
    }
  }

  @Test("of a large answer a quarter may be left without giving any storage back, and not a byte less")
  func quarter() throws {
    let loop = try #require(EventLoop())
    var large = OutputBuffer()
    append(pattern(8 << 20), to: &large, loop)
    large.consume(6 << 20, to: loop)
    #expect(loop.memory.used == 8 << 20)
    large.consume(1, to: loop)
    #expect(loop.memory.used == 2 << 20)
    large.release(to: loop)
  }
}
