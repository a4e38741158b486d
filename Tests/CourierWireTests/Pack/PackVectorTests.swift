import Basics
import Testing

import CourierWire

/// The hex examples of `Documentation/device-protocol.md#packed-form`, each beside the same command in the plain form.
enum PackVectors {
  private static let token = Vectors.baseTokenHex
  private static let topic = Vectors.topicHex

  /// As one connection from the server sees them: what the first three cache, the later ones name.
  static let connection: [(plain: [UInt8], packed: [UInt8])] = [
    (
      bytes(
        """
        08 00000048  01 0001 00  03 0020 \(token)  04 0002 1000  05 0002 0002  06 0004 0000000c
        08 0002 3c00  0a 0008 0000018bcfe56800
        """),
      bytes("08 38 01 80 43 20 \(token) 04 a11000 05 82 06 8c 08 a13c00 0a a5018bcfe56800")
    ),
    (
      bytes("0a 0000004b  01 0020 \(token)  02 0014 \(topic)  03 0002 7b7d  04 0004 00001001  1c 0002 0001"),
      bytes("0a 23 81 00 42 14 \(topic) 03 02 7b7d 04 a11001 10 1c 81")
    ),
    (
      bytes("0a 0000004b  01 0020 \(token)  02 0014 \(topic)  03 0002 7b7d  04 0004 00001002  1c 0002 0001"),
      bytes("0a 0e 81 01 82 00 03 02 7b7d 04 a11002 20 81")
    ),
  ]
  static let keepAlive = (plain: Vectors.keepAlive, packed: bytes("0c 00"))
  static let acknowledgement = (plain: Vectors.shortAcknowledgement, packed: bytes("0b 06 04 a11001 08 80"))
  static let all = connection + [keepAlive, acknowledgement]
}

extension PackDecoder {
  /// All commands of some pieces, as frames of the plain form.
  mutating func frames(
    in pieces: [[UInt8]], limit: Int = CourierLimits.frameAfterConnect
  ) throws -> [[UInt8]] {
    var frames: [[UInt8]] = []
    for piece in pieces {
      var input = piece.span
      while let command = try next(&input, limit: limit) {
        let length = withUnsafeBytes(of: UInt32(command.body.count).bigEndian) { Array($0) }
        frames.append([command.commandByte] + length + command.body)
      }
    }
    return frames
  }
}

@Suite("The packed form, as in the documentation")
struct PackVectorTests {
  @Test("a number that fits its bits is one byte, others go on in groups of seven")
  func numbers() throws {
    for (number, bits, hex) in [
      (62, 6, "3e"), (63, 6, "3f00"), (64, 6, "3f01"), (300, 8, "ff2d"), (0, 4, "00"), (15, 4, "0f00"),
      (15 + 128, 4, "0f8001"), (255 + (1 << 28) - 1, 8, "ffffffff7f"),
    ] {
      var output: [UInt8] = []
      PackEncoder.append(number, tag: 0, bits: bits, to: &output)
      #expect(output == bytes(hex))
      var reader = PackReader(output, command: 0)
      #expect(try reader.number(try reader.byte(), bits: bits) == number)
      #expect(reader.isAtEnd)
    }
  }

  @Test("the examples are read")
  func reading() throws {
    var decoder = PackDecoder()
    #expect(try decoder.frames(in: PackVectors.all.map(\.packed)) == PackVectors.all.map(\.plain))
  }

  @Test("the examples are read in any pieces", arguments: [1, 2, 3, 7, 1000])
  func pieces(size: Int) throws {
    let all = PackVectors.all.flatMap(\.packed)
    let pieces = stride(from: 0, to: all.count, by: size).map { Array(all[$0..<min($0 + size, all.count)]) }
    var decoder = PackDecoder()
    #expect(try decoder.frames(in: pieces) == PackVectors.all.map(\.plain))
  }

  @Test("the examples are written, one by one and together")
  func writing() {
    var encoder = PackEncoder()
    for (plain, packed) in PackVectors.all { #expect(encoder.pack(plain) == packed) }
    var other = PackEncoder()
    #expect(other.pack(PackVectors.all.flatMap(\.plain)) == PackVectors.all.flatMap(\.packed))
  }

  @Test("an integer up to 31 is one byte, a larger one follows its length")
  func integers() {
    var encoder = PackEncoder()
    #expect(encoder.pack(bytes("14 00000004 01 0001 1f")) == bytes("14 02 01 9f"))
    #expect(encoder.pack(bytes("14 00000004 01 0001 20")) == bytes("14 03 01 a020"))
  }

  @Test("an id up to 15 is in its tag; a larger one is a new key, and an index while it is among the last 32")
  func keys() {
    var encoder = PackEncoder()
    #expect(encoder.pack(bytes("0c 00000003 0f 0000")) == bytes("0c 02 0f 00"))
    for id in 16..<48 {
      let hex = Hex.encode([UInt8(id)])
      #expect(encoder.pack(bytes("0c 00000003 \(hex) 0000")) == bytes("0c 03 10 \(hex) 00"))
    }
    #expect(encoder.pack(bytes("0c 00000003 10 0000")) == bytes("0c 02 3f 00"))
    #expect(encoder.pack(bytes("0c 00000003 30 0000")) == bytes("0c 03 10 30 00"))
    #expect(encoder.pack(bytes("0c 00000003 10 0000")) == bytes("0c 03 10 10 00"), "the oldest had to go")
  }

  @Test("the protocol's name says the sizes of both caches, up to 16 KiB each; 4096 bytes if it does not")
  func names() throws {
    let plain = try #require(PackName("apns-pack-v1"))
    #expect(plain.outgoing == 4096 && plain.incoming == 4096)
    let largest = try #require(PackName("apns-pack-v1:16384:0"))
    #expect(largest.outgoing == 16_384 && largest.incoming == 0)
    for other in [
      "apns-pack-v1:16385:0", "apns-pack-v1:0:16385", "apns-pack-v1:1", "apns-pack-v1:1:2:3",
      "apns-pack-v1::", "apns-pack-v1:+1:1", "apns-pack-v2", "",
    ] {
      #expect(PackName(other) == nil, "\(other)")
    }
  }

  @Test("whatever is written is read as it was", arguments: [4096, 130, 0])
  func roundTrip(cache: Int) throws {
    let frames = Vectors.all + Vectors.all.reversed()
    var (encoder, decoder) = (PackEncoder(cacheByteCount: cache), PackDecoder(cacheByteCount: cache))
    #expect(try decoder.frames(in: frames.map { encoder.pack($0) }) == frames)
  }
}
