import Basics
import LegacyWire
import Testing

@Suite("Legacy decoder")
struct LegacyDecoderTests {
  static let good: [[UInt8]] = [
    Example.simple, Example.enhanced, Example.enhancedWithoutStorage, Example.full, Example.idFirst,
    Example.minimal,
  ]

  @Test("reads command 0 of the documentation")
  func simple() throws {
    let heard = try #require(Recorder.hearing(Example.simple).heard.first)
    #expect(Example.simple.count == 59)
    #expect(heard.command == .simple)
    #expect(heard.token == Example.token)
    #expect(heard.payload == Example.payload)
    #expect(heard.identifier == 0)
    #expect(heard.expiration == nil)
    #expect(heard.priority == .immediate && !heard.saysPriority)
  }

  @Test("reads command 1 of the documentation")
  func enhanced() throws {
    let heard = Recorder.hearing(Example.enhanced + Example.enhancedWithoutStorage).heard
    try #require(heard.count == 2)
    #expect(heard[0].identifier == 42)
    #expect(heard[0].expiration == 1_700_000_000)
    #expect(heard[1].identifier == 43)
    #expect(heard[1].expiration == 0)
    #expect(heard.map(\.payload) == [Example.payload, Example.payload])
    #expect(heard.allSatisfy { !$0.saysPriority })
  }

  @Test("reads command 2 with items in any order and the optional ones absent")
  func frames() throws {
    let heard = Recorder.hearing(Example.full + Example.idFirst + Example.minimal).heard
    try #require(heard.count == 3)
    #expect(heard.map(\.identifier) == [42, 42, 0])
    #expect(heard.map(\.expiration) == [1_700_000_000, 1_700_000_000, nil])
    #expect(
      heard.allSatisfy {
        $0.token == Example.token && $0.payload == Example.payload && $0.priority == .immediate
      }
    )
    #expect(heard.map(\.saysPriority) == [true, true, false])
    #expect(heard.map(\.frame) == [Example.full, Example.idFirst, Example.minimal])
  }

  @Test(
    "tells how much of its input it has not looked at, where it was told to stop", arguments: [0, 7, 200])
  func unread(cut: Int) {
    let first = Example.enhanced
    let stream = first + Example.full + Example.minimal
    var decoder = LegacyDecoder()
    let head = Array(stream[..<min(cut, first.count - 1)])
    _ = decoder.receive(head.span) { _ in .goOn }
    #expect(decoder.unread == 0)
    _ = decoder.receive(Array(stream[head.count...]).span) { _ in .stop }
    #expect(decoder.unread == stream.count - first.count)
    _ = decoder.receive([UInt8](repeating: 1, count: 10).span) { _ in .goOn }
    #expect(decoder.unread == 10, "all that comes later")
  }

  @Test("gives the same notifications at every split and byte by byte")
  func everySplit() {
    let stream = Self.good.flatMap { $0 }
    let whole = Recorder.hearing(stream)
    #expect(whole.heard.map(\.frame) == Self.good)
    for cut in 0...stream.count {
      #expect(Recorder.hearing(stream, cuts: [cut]).heard == whole.heard, "cut at \(cut)")
    }
    let single = Recorder.hearing(stream, cuts: Array(0..<stream.count))
    #expect(single.heard == whole.heard)
    #expect(single.decoder.heldBytes == 0)
  }

  struct Malformed: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var failure: LegacyParseFailure.Code
    var identifier: UInt32 = 0
    var testDescription: String { name }
  }

  static let malformed: [Malformed] = [
    Malformed(name: "unknown command", bytes: [0x47], failure: .unknownCommand(0x47)),
    Malformed(
      name: "error packet sent back", bytes: Example.bytes("08080000002a"), failure: .unknownCommand(8)),
    Malformed(name: "frame length 0", bytes: Example.bytes("02 00000000"), failure: .frameLength(0)),
    Malformed(name: "frame length of 4 GB", bytes: Example.bytes("02 ffffffff"), failure: .frameLength(.max)),
    Malformed(
      name: "item overruns", bytes: Example.bytes("02 0000000b 0300040000002a 01 0020 00"),
      failure: .itemOverruns(id: 1, length: 32, left: 1), identifier: 42),
    Malformed(
      name: "bytes left over", bytes: Example.bytes("02 00000009 0300040000002a 0100"),
      failure: .truncatedItem(left: 2), identifier: 42),
    Malformed(
      name: "unknown item", bytes: Example.bytes("02 0000000b 0300040000002a 060001ff"),
      failure: .unknownItem(6),
      identifier: 42),
    Malformed(name: "item 0", bytes: Example.bytes("02 00000003 000000"), failure: .unknownItem(0)),
    Malformed(
      name: "duplicate item", bytes: Example.bytes("02 0000000e 0300040000002a 0300040000002b"),
      failure: .duplicateItem(3), identifier: 42),
    Malformed(
      name: "identifier of 3 bytes", bytes: Example.bytes("02 00000006 030003000000"),
      failure: .itemLength(id: 3, length: 3)),
    Malformed(
      name: "expiry of 8 bytes", bytes: Example.bytes("02 0000000b 0400080000000000000000"),
      failure: .itemLength(id: 4, length: 8)),
    Malformed(
      name: "empty priority", bytes: Example.bytes("02 00000003 050000"),
      failure: .itemLength(id: 5, length: 0)
    ),
    Malformed(
      name: "priority 1", bytes: Example.bytes("02 0000000b 0300040000002a 05000101"), failure: .priority(1),
      identifier: 42),
  ]

  @Test(
    "answers a malformed frame once, with the identifier read before, at every split", arguments: malformed)
  func malformedFrames(_ each: Malformed) {
    for cut in 0...each.bytes.count {
      var recorder = Recorder.hearing(Example.full + each.bytes, cuts: [Example.full.count + cut])
      #expect(recorder.failure?.code == each.failure)
      #expect(recorder.failure?.identifier == each.identifier)
      recorder.failure = nil
      recorder.feed(Example.full)
      #expect(recorder.heard.map(\.frame) == [Example.full], "nothing later is processed")
      #expect(recorder.failure == nil)
    }
  }

  /// The first frame is laid out as usual, the second is not.
  @Test("stops when the owner says so and ignores the rest, also of later input", arguments: [1, 2])
  func stops(last: Int) {
    var decoder = LegacyDecoder()
    var count = 0
    for piece in [Example.full + Example.idFirst + Example.minimal, Example.full] {
      let failure = decoder.receive(piece.span) { _ in
        count += 1
        return count == last ? .stop : .goOn
      }
      #expect(failure == nil)
    }
    #expect(count == last)
  }

  @Test("holds at most one frame, and refuses an impossible length before its bytes come")
  func bounded() {
    var recorder = Recorder()
    recorder.feed(Example.bytes("01 0000002a 6553f100 ffff"))
    for _ in 0..<100 { recorder.feed([UInt8](repeating: 0xff, count: 1000)) }
    #expect(recorder.decoder.heldBytes <= LegacyLimits.frame)
    var refused = Recorder()
    refused.feed(Example.bytes("02 0fffffff"))
    #expect(refused.failure?.code == .frameLength(0x0fff_ffff))
    #expect(refused.decoder.heldBytes == 0)
  }

  /// 131,094 bytes: a token and a payload of 65,535 each, identifier, expiry and priority, with 3 bytes before each.
  @Test("a frame may be as long as all five items at their longest")
  func longestFrame() {
    #expect(Recorder.hearing(Example.bytes("02 00020016")).failure == nil)
    #expect(Recorder.hearing(Example.bytes("02 00020017")).failure?.code == .frameLength(131_095))
  }

  @Test("keeps 1,024 bytes of what is no frame, to show it")
  func keptOfMalformed() {
    var decoder = LegacyDecoder()
    _ = decoder.receive([UInt8](repeating: 0x47, count: 3000).span) { _ in .goOn }
    #expect(decoder.malformedFrame.count == 1024)
  }
}
