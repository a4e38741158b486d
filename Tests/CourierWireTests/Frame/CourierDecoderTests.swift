import CourierWire
import Testing

@Suite("Courier decoder")
struct CourierDecoderTests {
  private let stream = Array(Vectors.all.joined())

  @Test("reads every example of the documentation from one piece")
  func whole() throws {
    var decoder = CourierDecoder()
    #expect(try decoder.frames(in: stream) == Vectors.allFrames)
    #expect(decoder.heldByteCount == 0)
  }

  @Test("reads the same byte by byte, and holds nothing between frames")
  func byteByByte() throws {
    var decoder = CourierDecoder()
    var frames: [CopiedFrame] = []
    for byte in stream {
      let found = try decoder.frames(in: [byte])
      frames += found
      if !found.isEmpty { #expect(decoder.heldByteCount == 0) }
    }
    #expect(frames == Vectors.allFrames)
  }

  @Test("reads the same split at every place")
  func everySplit() throws {
    for split in 0...stream.count {
      var decoder = CourierDecoder()
      let first = try decoder.frames(in: stream[..<split])
      #expect(try first + decoder.frames(in: stream[split...]) == Vectors.allFrames)
      #expect(decoder.heldByteCount == 0)
    }
  }

  @Test("reads each example alone, split at every pair of places")
  func everyPairOfSplits() throws {
    for (vector, frame) in zip(Vectors.all, Vectors.allFrames) {
      for first in 0...vector.count {
        for second in first...vector.count {
          var decoder = CourierDecoder()
          var frames = try decoder.frames(in: vector[..<first])
          frames += try decoder.frames(in: vector[first..<second])
          frames += try decoder.frames(in: vector[second...])
          #expect(frames == [frame])
        }
      }
    }
  }

  @Test("skips a command byte of 0 anywhere between frames")
  func nothings() throws {
    let padded = [0, 0, 0] + Vectors.keepAlive + [0] + Vectors.setState + [0, 0]
    let expected = [CopiedFrame(command: 0x0c, body: []), Vectors.allFrames[12]]
    for split in 0...padded.count {
      var decoder = CourierDecoder()
      let first = try decoder.frames(in: padded[..<split])
      #expect(try first + decoder.frames(in: padded[split...]) == expected)
      #expect(decoder.heldByteCount == 0)
    }
  }

  @Test("hands out unknown commands for the caller to skip")
  func unknownCommand() throws {
    var decoder = CourierDecoder()
    let frames = try decoder.frames(in: bytes("fe 00000002 ffff") + Vectors.keepAlive)
    #expect(frames == [CopiedFrame(command: 0xfe, body: [255, 255]), CopiedFrame(command: 12, body: [])])
  }

  @Test("refuses a frame longer than its limit as soon as the length is known")
  func tooLong() throws {
    let header = bytes("09 00004001")
    for split in 0...header.count {
      var decoder = CourierDecoder()
      #expect(throws: CourierProtocolError(.frameTooLong, "")) {
        _ = try decoder.frames(in: header[..<split], limit: 0x4000)
        _ = try decoder.frames(in: header[split...], limit: 0x4000)
      }
    }
  }

  @Test("takes a frame of exactly its limit, and an announced 4 GiB costs nothing")
  func limits() throws {
    var decoder = CourierDecoder()
    let body = [UInt8](repeating: 7, count: 0x4000)
    #expect(try decoder.frames(in: bytes("09 00004000") + body, limit: 0x4000).first?.body == body)
    #expect(throws: CourierProtocolError(.frameTooLong, "")) {
      _ = try decoder.frames(in: bytes("09 ffffffff"), limit: CourierLimits.frameAfterConnect)
    }
    #expect(decoder.heldByteCount <= CourierLimits.headerByteCount)
  }

  @Test("holds no more than about twice of what has arrived, however much was announced")
  func memoryFollowsArrival() throws {
    var decoder = CourierDecoder()
    var arrived = 0
    for piece in [bytes("09 00004000")] + [[UInt8]](repeating: [1, 2, 3], count: 1000) {
      _ = try decoder.frames(in: piece)
      arrived += piece.count
      #expect(decoder.heldByteCount <= max(2 * arrived, 16))
    }
  }

  @Test("holds no more of a frame than all of it has, whatever pieces it comes in")
  func memoryOfOneFrame() throws {
    let frame = bytes("09 00000064") + [UInt8](repeating: 7, count: 100)
    for count in 1..<frame.count {
      var decoder = CourierDecoder()
      _ = try decoder.frames(in: frame[..<count])
      #expect(decoder.heldByteCount <= 105, "\(count) bytes have come")
    }
  }

  @Test("applies each frame's own limit within one piece")
  func changingLimit() throws {
    var decoder = CourierDecoder()
    let large = bytes("09 00008000") + [UInt8](repeating: 0, count: 0x8000)
    var counts: [Int?] = []
    let stream = Vectors.connect + large
    var input = stream.span
    counts.append(try decoder.next(&input, limit: CourierLimits.frameBeforeConnect) { $0.body.count })
    counts.append(try decoder.next(&input, limit: CourierLimits.frameAfterConnect) { $0.body.count })
    counts.append(try decoder.next(&input, limit: CourierLimits.frameAfterConnect) { $0.body.count })
    #expect(counts == [Vectors.connect.count - 5, 0x8000, nil])
  }
}
