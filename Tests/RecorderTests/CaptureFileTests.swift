import Capture
import FoundationEssentials
import Platform
import Recorder
import TestSupport
import Testing

@Suite("File of a capture")
struct CaptureFileTests {
  /// A line of `count` bytes that hardly repeat themselves (a linear congruential generator; the system's is slow).
  private static func lines(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
    var state = random.next()
    var bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      for index in 0..<count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        buffer[index] = 0x20 + UInt8(truncatingIfNeeded: state >> 33) % 95
      }
      filled = count
    }
    bytes[count - 1] = UInt8(ascii: "\n")
    return bytes
  }

  private static func inFolder(_ body: (String) throws -> Void) throws {
    let folder = ScratchFolder()
    try withExtendedLifetime(folder) { try body(folder.file("capture.jsonl")) }
  }

  /// The large ones go past the cache, at any offset in a block.
  @Test("has what was appended, whatever the sizes")
  func appends() throws {
    var random = SystemRandomNumberGenerator()
    try Self.inFolder { path in
      let file = try CaptureFile(CaptureOptions(path: path))
      var expected: [UInt8] = []
      for size in [1, 100, 4096, 262_143, 1 << 20, 1, 300_000, 1 << 20, 270_336, 5] {
        let bytes = Self.lines(size + Int.random(in: 0..<5000, using: &random), &random)
        try file.append(bytes.span)
        expected += bytes
        #expect(file.size == expected.count)
      }
      #expect(FileManager.default.contents(atPath: path).map(Array.init) == expected)
    }
  }

  @Test("goes on behind the last whole line of an earlier run")
  func goesOn() throws {
    var random = SystemRandomNumberGenerator()
    try Self.inFolder { path in
      let first = Self.lines(1_000_001, &random)
      let second = Self.lines(2_000_003, &random)
      _ = FileManager.default.createFile(atPath: path, contents: Data(first + Array("torn".utf8)))
      let file = try CaptureFile(CaptureOptions(path: path))
      try file.append(second.span)
      #expect(FileManager.default.contents(atPath: path).map(Array.init) == first + second)
    }
  }

  /// A write past the cache that fails, or takes some and fails then: all of it, or a part that is no whole block.
  @Test("loses and repeats nothing when a write past the cache fails", arguments: [0, 4096, 8192, 5000])
  func fallsBack(taken: Int) throws {
    var random = SystemRandomNumberGenerator()
    try Self.inFolder { path in
      var calls = 0
      let file = try CaptureFile(CaptureOptions(path: path)) { path in
        UncachedOutput(path) { file, bytes, offset in
          calls += 1
          if calls == 1 { return file.write(bytes, at: offset) }
          guard calls == 2, taken > 0 else { return -1 }
          // The system may have written more than it says.
          _ = file.write(bytes, at: offset)
          return taken
        }
      }
      let parts = [300_001, 1_000_003, 400_000].map { Self.lines($0, &random) }
      for bytes in parts { try file.append(bytes.span) }
      let expected = parts.flatMap(\.self)
      #expect(file.size == expected.count)
      #expect(FileManager.default.contents(atPath: path).map(Array.init) == expected)
      // After a failure the ordinary way is kept to. Some file systems have no other.
      let tried = taken > 0 && taken % 4096 == 0 ? 3 : 2
      #expect(calls == (UncachedOutput(path) == nil ? 0 : tried))
    }
  }

  @Test(
    "lines that lie in memory as they will in the file go there uncopied",
    arguments: [1, 4096, 5000, 70_001])
  func uncopied(size: Int) throws {
    try Self.inFolder { path in
      var random = SystemRandomNumberGenerator()
      let before = Self.lines(size, &random)
      _ = FileManager.default.createFile(atPath: path, contents: Data(before))
      var encoder = CaptureEncoder(alignment: UncachedOutput.block)
      encoder.removeAll(forFileOf: before.count)
      for number in 0..<20_000 { encoder.lost(number, nanoseconds: 0) }
      let (first, blocks) = UncachedOutput.split(encoder.bytes.count, at: before.count)
      var written: [UnsafeRawPointer?] = []
      let file = try CaptureFile(CaptureOptions(path: path)) { path in
        UncachedOutput(path) { file, bytes, offset in
          bytes.withUnsafeBytes { written.append($0.baseAddress) }
          return file.write(bytes, at: offset)
        }
      }
      try file.append(encoder.bytes)
      #expect(FileManager.default.contents(atPath: path).map(Array.init) == before + Array(encoder.bytes))
      // Some file systems are written through the cache alone.
      let isUncached = UncachedOutput(path) != nil
      #expect(
        written == (isUncached ? [encoder.bytes.withUnsafeBytes { $0.baseAddress.map { $0 + first } }] : []))
      #expect(blocks.count > 0)
    }
  }

  @Test(
    "whole blocks are found behind what is there",
    arguments: [(0, 1 << 20, 0, 1 << 20), (1, 1 << 20, 4095, 1_044_480), (4096, 300_000, 0, 299_008)])
  func split(size: Int, count: Int, before: Int, blocks: Int) {
    let parts = UncachedOutput.split(count, at: size)
    #expect(parts.before == before)
    #expect(parts.blocks == before..<before + blocks)
  }

  @Test("little goes the ordinary way", arguments: [0, 1, 4096, 262_143])
  func little(count: Int) {
    #expect(UncachedOutput.split(count, at: 0).blocks.isEmpty)
  }
}
