import Basics
import LegacyWire
import Testing

import Capture

@Suite("What a sender of the binary protocol remembers")
struct LegacyWindowTests {
  private static let token = [UInt8](0..<32)
  private static let payload = Array("{}".utf8)

  private static func framed(_ identifier: UInt32) -> [UInt8] {
    LegacyEncoder.frame(token: token, payload: payload, identifier: identifier)
  }
  private static let simple = LegacyEncoder.simple(token: token, payload: payload)

  private var window = LegacyWindow()
  private var told: [Int: CapturedOutcome] = [:]

  private mutating func add(_ frame: [UInt8], recorded: CapturedOutcome? = nil) {
    let tag = window.count
    window.append(frame.span, tag: tag, recorded: recorded)
  }

  private mutating func end(_ packet: LegacyErrorPacket?) -> Bool {
    var told: [Int: CapturedOutcome] = [:]
    let said = window.connectionEnded(packet) { told[$0.tag] = $0.outcome }
    self.told.merge(told) { $1 }
    return said
  }

  @Test("an error settles its frame and those before it; the rest is sent again")
  mutating func error() {
    for number: UInt32 in 1...4 { add(Self.framed(number)) }
    _ = window.takeBurst(limit: .max)
    let said1 = end(LegacyErrorPacket(status: 8, identifier: 3))
    #expect(said1)
    let silences = window.takeSilences()
    #expect(silences == 2)
    #expect(told == [2: CapturedOutcome(status: 8, identifier: 3)])
    let rest = Array(window.takeBurst(limit: .max).bytes)
    #expect(rest == Self.framed(4))
  }

  @Test("the answer to a fence settles everything before it")
  mutating func fence() {
    add(Self.simple)
    add(Self.framed(0xfe0c_e001))
    _ = window.takeBurst(limit: .max)
    let fence = window.makeFence()
    // Its identifier is none of the frames'.
    #expect(fence[1..<5] != [0xfe, 0x0c, 0xe0, 0x01])
    let identifier = fence[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
    let said2 = end(LegacyErrorPacket(status: 5, identifier: identifier))
    #expect(said2)
    #expect(window.isEmpty)
    let silences = window.takeSilences()
    #expect(silences == 2)
  }

  /// `Documentation/binary-protocol.md#statuses`, 10.
  @Test("shutdown names the last that was accepted")
  mutating func shutdown() {
    for number: UInt32 in 1...3 { add(Self.framed(number)) }
    _ = window.takeBurst(limit: .max)
    let said3 = end(LegacyErrorPacket(status: 10, identifier: 2))
    #expect(said3)
    let silences = window.takeSilences()
    #expect(silences == 2)
    #expect(window.count == 1)
  }

  @Test("a close without a packet is the only command 0's; one frame among several is looked for one by one")
  mutating func closed() {
    add(Self.framed(1))
    add(Self.simple)
    _ = window.takeBurst(limit: .max)
    let said4 = end(nil)
    #expect(said4)
    #expect(told[1]?.isClosed == true)
    told = [:]
    window = LegacyWindow()
    for _ in 0..<3 { add(Self.simple) }
    _ = window.takeBurst(limit: .max)
    let said5 = end(nil)
    #expect(said5)
    #expect(told.isEmpty)
    let (bytes, needsFence) = window.takeBurst(limit: .max)
    #expect(Array(bytes) == Self.simple)
    #expect(needsFence)
  }

  @Test("before a frame that was refused and can't be told from others comes a fence")
  mutating func recordedRejection() {
    add(Self.simple)
    add(Self.simple, recorded: CapturedOutcome(status: 8))
    let (bytes, needsFence) = window.takeBurst(limit: .max)
    #expect(Array(bytes) == Self.simple)
    #expect(needsFence)
  }

  /// Frames that are kept together, with tags from 0.
  private mutating func addJoined(_ frames: [[UInt8]]) {
    let tag = window.count
    window.append(Array(frames.joined()).span, count: frames.count, tag: tag)
  }

  @Test("of frames that are kept together, an error finds its own")
  mutating func joinedError() {
    addJoined([Self.framed(1), Self.simple, Self.framed(3), Self.framed(4)])
    addJoined([Self.framed(5), Self.framed(6)])
    #expect(window.count == 6)
    _ = window.takeBurst(limit: .max)
    let said = end(LegacyErrorPacket(status: 8, identifier: 5))
    #expect(said)
    let silences = window.takeSilences()
    #expect(silences == 4)
    #expect(told == [4: CapturedOutcome(status: 8, identifier: 5)])
    let rest = Array(window.takeBurst(limit: .max).bytes)
    #expect(rest == Self.framed(6))
  }

  @Test("the answer to a fence settles frames that are kept together")
  mutating func joinedFence() {
    addJoined([Self.framed(1), Self.framed(2), Self.simple])
    _ = window.takeBurst(limit: .max)
    addJoined([Self.framed(4), Self.framed(5)])
    let identifier = window.makeFence()[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
    let said = end(LegacyErrorPacket(status: 5, identifier: identifier))
    #expect(said)
    let silences = window.takeSilences()
    #expect(silences == 3)
    #expect(window.count == 2)
    let rest = Array(window.takeBurst(limit: .max).bytes)
    #expect(rest == Self.framed(4) + Self.framed(5))
  }

  @Test("a packet with the fence's identifier and another status is about the frame that has it")
  mutating func fenceOrFrame() {
    let next = window.makeFence()[1..<5].reduce(0) { $0 << 8 | UInt32($1) } + 1
    addJoined([Self.framed(1), Self.framed(next), Self.framed(3)])
    _ = window.takeBurst(limit: .max)
    let fence = window.makeFence()[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
    #expect(fence == next)
    let said = end(LegacyErrorPacket(status: 8, identifier: next))
    #expect(said)
    #expect(told == [1: CapturedOutcome(status: 8, identifier: next)])
    #expect(window.count == 1)
  }

  @Test("a connection that ends for no reason settles nothing")
  mutating func lost() {
    add(Self.framed(1))
    add(Self.framed(2))
    _ = window.takeBurst(limit: .max)
    let said6 = end(nil)
    #expect(!said6)
    #expect(window.count == 2)
    #expect(window.hasUnsent)
  }

  @Test(
    "whatever is sent and refused, each frame gets the outcome that the service gave it", arguments: 0..<300)
  func anyTraffic(seed: UInt64) {
    var traffic = Traffic(seed: seed)
    traffic.run()
    #expect(traffic.told == traffic.expected)
  }

  @Test("the same for frames that are kept together, whose silence is only counted", arguments: 0..<300)
  func anyJoinedTraffic(seed: UInt64) {
    var traffic = Traffic(seed: seed, joins: true)
    traffic.run()
    #expect(traffic.told.filter { !$0.value } == traffic.expected.filter { !$0.value })
    #expect(traffic.told.count + traffic.silences == traffic.expected.count)
  }
}

/// A sender with random frames against a service with a verdict for each, which stops at the first that it refuses.
private struct Traffic {
  private var random: SeededChoices
  private var window = LegacyWindow()
  private var frames: [[UInt8]] = []
  private(set) var told: [Int: Bool] = [:]
  private(set) var expected: [Int: Bool] = [:]
  private(set) var silences = 0

  init(seed: UInt64, joins: Bool = false) {
    random = SeededChoices(seed: seed &* 0x9e37_79b9_7f4a_7c15 | 1)
    for tag in 0..<Int.random(in: 1...40, using: &random) {
      let isGood = Int.random(in: 0..<4, using: &random) > 0
      let frame = makeFrame(tag, isGood: isGood)
      expected[tag] = isGood
      frames.append(frame)
      if joins { continue }
      // The recording may have said anything.
      let recorded: CapturedOutcome? = Bool.random(using: &random) ? nil : CapturedOutcome(status: 8)
      window.append(frame.span, tag: tag, recorded: recorded ?? .silence)
    }
    if joins { join() }
  }

  /// Adds all frames in runs of random lengths.
  private mutating func join() {
    var tag = 0
    while tag < frames.count {
      let end = min(frames.count, tag + Int.random(in: 1...7, using: &random))
      window.append(Array(frames[tag..<end].joined()).span, count: end - tag, tag: tag)
      tag = end
    }
  }

  /// The token's first byte says whether it is good; identifiers are often the same, or absent.
  private mutating func makeFrame(_ tag: Int, isGood: Bool) -> [UInt8] {
    let token = [isGood ? 1 : 0] + [UInt8](repeating: UInt8(tag), count: 31)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return LegacyEncoder.simple(token: token, payload: [0x7b, 0x7d])
    case 1: return LegacyEncoder.frame(token: token, payload: [0x7b, 0x7d])
    default:
      return LegacyEncoder.enhanced(
        identifier: UInt32.random(in: 0...5, using: &random), expiration: 0, token: token,
        payload: [0x7b, 0x7d])
    }
  }

  mutating func run() {
    var rounds = 0
    while !window.isEmpty, rounds < 1000 {
      rounds += 1
      var wire: [UInt8] = []
      var needsFence = false
      while window.hasUnsent, !needsFence {
        let burst = window.takeBurst(limit: 300)
        wire += burst.bytes
        needsFence = burst.needsFence
      }
      wire += window.makeFence()
      var told: [Int: Bool] = [:]
      _ = window.connectionEnded(Self.answer(wire)) { told[$0.tag] = $0.outcome.isAccepted }
      self.told.merge(told) { $1 }
      silences += window.takeSilences()
    }
  }

  /// What a service says of a connection's bytes.
  private static func answer(_ wire: [UInt8]) -> LegacyErrorPacket? {
    var decoder = LegacyDecoder()
    var packet: LegacyErrorPacket?
    _ = decoder.receive(wire.span) { notification in
      if notification.token?.count == 32, notification.token?.first == 1 { return .goOn }
      if notification.command != .simple {
        packet = LegacyErrorPacket(status: 8, identifier: notification.identifier)
      }
      return .stop
    }
    return packet
  }
}
