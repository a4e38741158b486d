import Basics
import Testing

import CourierWire

@Suite("Reading the packed form")
struct PackDecoderTests {
  private func read(_ hex: String..., cache: Int = 4096, limit: Int = 70_000) throws -> [[UInt8]] {
    var decoder = PackDecoder(cacheByteCount: cache)
    return try decoder.frames(in: hex.map(bytes), limit: limit)
  }

  private func code(_ hex: String..., cache: Int = 4096, limit: Int = 70_000) -> CourierProtocolError.Code? {
    var decoder = PackDecoder(cacheByteCount: cache)
    do {
      _ = try decoder.frames(in: hex.map(bytes), limit: limit)
      return nil
    } catch {
      return (error as? CourierProtocolError)?.code
    }
  }

  @Test("data, text, integers and truth values become items; numbers get the width of the plain form")
  func values() throws {
    // Command 0x14 has a state of one byte and an interval of four; command 0x0c's items have no width.
    #expect(try read("14 08 01 81 02 a37fffffff") == [Vectors.setState])
    #expect(try read("0c 06 01 44 57694669") == [bytes("0c 00000007 01 0004 57694669")])
    #expect(try read("0c 04 05 02 1234") == [bytes("0c 00000005 05 0002 1234")])
    #expect(try read("0c 06 05 a10100 06 e1") == [bytes("0c 00000009 05 0002 0100 06 0001 01")])
    #expect(try read("0c 02 05 80") == [bytes("0c 00000004 05 0001 00")])
    #expect(try read("14 06 02 a300000001") == [bytes("14 00000007 02 0004 00000001")])
  }

  @Test("a number that does not fit its width, or is negative, is refused")
  func numbers() {
    #expect(code("0b 04 08 a10100") == .itemMalformed)
    #expect(code("0b 07 04 a4 0100000000") == .itemMalformed)
    #expect(code("0b 03 08 a801") == .itemMalformed)
  }

  @Test("a value enters the cache of its direction and is named by its age; the oldest go when it is full")
  func valueCache() throws {
    let (one, two, three) = ("01" + "00", "02" + "01", "03" + "02")
    // Three values of three bytes, 35 each with what an entry costs.
    let fill = "0c 0c 41 02 \(one) 42 02 \(two) 43 02 \(three)"
    #expect(
      try read(fill, "0c 06 81 00 82 01 83 02", cache: 105).last
        == bytes("0c 0000000f 01 0002 0302 02 0002 0201 03 0002 0100"))
    #expect(code(fill, "0c 02 81 02", cache: 105) == nil)
    #expect(code(fill, "0c 02 81 02", cache: 104) == .itemMalformed, "the first had to go")
    #expect(code(fill, "0c 02 81 01", cache: 104) == nil)
    #expect(code(fill, "0c 02 81 03") == .itemMalformed)
    #expect(code("0c 04 41 02 0100", "0c 02 81 00", cache: 35) == nil, "it fits alone")
    #expect(code("0c 04 41 02 0100", cache: 34) == .itemMalformed, "it does not fit at all")
    // Reading it does not make it younger.
    #expect(
      try read(fill, "0c 04 81 02 82 02").last == bytes("0c 0000000a 01 0002 0100 02 0002 0100"))
  }

  @Test("an id above 15 is a new key at first and an index later; the oldest of 32 goes")
  func keyCache() throws {
    #expect(
      try read("0c 05 10 1c 81 20 82") == [bytes("0c 00000008 1c 0001 01 1c 0001 02")])
    let keys = (16..<48).map { "10 " + Hex.encode([UInt8($0)]) + " 81" }.joined()
    #expect(try read("0c 60" + keys, "0c 02 3f 82").last == bytes("0c 00000004 10 0001 02"))
    #expect(try read("0c 63" + keys + "10 30 81", "0c 02 3f 82").last == bytes("0c 00000004 11 0001 02"))
    #expect(code("0c 02 20 81") == .itemMalformed)
  }

  @Test("a key may have 255 bytes")
  func longKey() {
    let key = String(repeating: "61", count: 255)
    #expect(code("0c ff04 1fef01 \(key) 81") == nil)
    #expect(code("0c ff05 1ff001 \(key)61 81") == .itemMalformed)
  }

  @Test("structures are read for what they put into the caches, and their values are not looked at")
  func structures() throws {
    // {"aa": [1, "b"], "cc": data cached} as item 3, then the cached value by reference and a key by index.
    let dictionary = "03 c2 11 6161 d2 81 41 62 51 6363 02 0102"
    #expect(
      try read("0a 0f" + dictionary, "0c 04 81 00 20 81").last == bytes("0c 00000005 01 0002 0102"),
      "a key of two bytes is no item")
    #expect(try read("0a 0f" + dictionary).last == bytes("0a 00000003 03 0000"))
    let deep = String(repeating: "d1", count: 16)
    #expect(code("0a 12 03" + deep + "81") == nil)
    #expect(code("0a 13 03 d1" + deep + "81") == .itemMalformed)
    #expect(code("0a 06 03 df ffffff7f") == .itemOverrun, "more elements than bytes")
  }

  @Test("messages without items are read between others, however they are cut")
  func empty() throws {
    let packed = bytes("0c00 14080181 02a37fffffff 0c00 0c00 0d00")
    let plain = [
      bytes("0c 00000000"), Vectors.setState, bytes("0c 00000000"), bytes("0c 00000000"),
      bytes("0d 00000000"),
    ]
    for size in 1...packed.count {
      var decoder = PackDecoder()
      let pieces = stride(from: 0, to: packed.count, by: size).map {
        Array(packed[$0..<min($0 + size, packed.count)])
      }
      let frames = try decoder.frames(in: pieces, limit: 1000)
      #expect(frames == plain, "in pieces of \(size)")
    }
  }

  @Test("what ends outside its message, or means nothing, is refused")
  func malformed() {
    #expect(code("0c 01 01") == .itemOverrun)
    #expect(code("0c 02 01 3e") == .itemOverrun)
    #expect(code("0c 02 01 a7") == .itemOverrun)
    #expect(code("0c 01 1f") == .itemOverrun)
    for tag in ["60", "7f", "b0", "bf", "e2", "f0", "ff"] {
      #expect(code("0c 02 01 \(tag)") == .itemMalformed, "\(tag)")
    }
    #expect(code("0c ff ffffffff") == .itemMalformed, "a length without an end")
  }

  @Test("no message is longer than the limit, packed or unpacked, and nothing more is kept of it")
  func limits() throws {
    #expect(code("0c ff 2d", limit: 299) == .frameTooLong)
    #expect(code("0c ff 2d", limit: 300) == nil)
    // A value of 60 bytes, named a hundred times in 200 bytes, makes 6,300.
    let value = "41 3c" + String(repeating: "00", count: 60)
    let references = "0c c8" + String(repeating: "8100", count: 100)
    #expect(try read("0c 3e" + value, references, limit: 6300).last?.count == 6305)
    #expect(code("0c 3e" + value, references, limit: 6299) == .frameTooLong)
    // An item's length has two bytes in the plain form.
    let longest = String(repeating: "00", count: 65_535)
    let frame = try read("0c ff85fe03 01 3fc0ff03 \(longest)").last
    #expect(frame?.count == 65_543 && frame?.starts(with: bytes("0c 00010002 01 ffff")) == true)
    #expect(code("0c ff86fe03 01 3fc1ff03 \(longest)00") == .frameTooLong)
  }

  @Test("random bytes and damaged examples never do more than fail", arguments: 1...20)
  func random(seed: UInt64) {
    var choices = SeededChoices(seed: seed)
    for _ in 0..<200 {
      var input = PackVectors.all.flatMap(\.packed)
      if Bool.random(using: &choices) {
        input = (0..<Int.random(in: 0...200, using: &choices)).map { _ in
          UInt8.random(in: 0...255, using: &choices)
        }
      } else {
        for _ in 0...Int.random(in: 0...3, using: &choices) {
          input[Int.random(in: 0..<input.count, using: &choices)] = .random(in: 0...255, using: &choices)
        }
      }
      var whole = PackDecoder(cacheByteCount: 300)
      var bytewise = PackDecoder(cacheByteCount: 300)
      let frames = try? whole.frames(in: [input], limit: 500)
      let others = try? bytewise.frames(in: input.map { [$0] }, limit: 500)
      if frames != others { Issue.record("pieces matter: \(Hex.encode(input))") }
    }
  }
}
