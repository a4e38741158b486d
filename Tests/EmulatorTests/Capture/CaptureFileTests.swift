import FoundationEssentials
import Platform
import Testing

@testable import Emulator

@Suite("File of a capture")
struct CaptureFileTests {
  /// Lines of random lengths, `count` bytes in all.
  private static func lines(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: count)
    for index in bytes.indices { bytes[index] = UInt8.random(in: 0x20...0x7e, using: &random) }
    bytes[count - 1] = UInt8(ascii: "\n")
    return bytes
  }

  private static func inFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/capture-\(UInt64.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/capture.jsonl")
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
        try bytes.withUnsafeBytes { try file.append($0) }
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
      try second.withUnsafeBytes { try file.append($0) }
      #expect(FileManager.default.contents(atPath: path).map(Array.init) == first + second)
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
