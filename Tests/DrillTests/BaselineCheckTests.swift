import Basics
import PushModel
import Testing

import Drill

@Suite("The run without a fault")
struct BaselineCheckTests {
  private static func problem(
    _ rejection: Rejection? = nil, console: Int = 0, strangers: Int = 0,
    _ change: (inout RunFacts) -> Void = { _ in }
  ) -> String? {
    BaselineCheck(Facts.run(100, .allGood, change), (console, strangers), rejection).problem
  }

  @Test("all delivered once and status 0 is what drills need")
  func fine() { #expect(Self.problem() == nil) }

  @Test("what was seen is told, and what CMD has to do")
  func told() throws {
    let nothing = try #require(
      Self.problem { facts in
        facts.ending = .ended(3)
        facts.interfaces = []
        for place in facts.tokens.indices { facts.tokens[place] = TokenFacts() }
      })
    #expect(
      nothing.hasPrefix(
        "it ended with status 3, and sent nothing: CMD has to send one push to each token"))
    let failed = try #require(Self.problem { $0.ending = .ended(1) })
    #expect(failed.hasPrefix("it ended with status 1, with 100 pushes delivered of 100: "))
    let endless = try #require(Self.problem { ($0.ending, $0.nanoseconds) = (.stillRan, 90_000_000_000) })
    #expect(endless.hasPrefix("it still ran after 90.0 s"))
    let rejected = try #require(Self.problem(.topicDisallowed) { $0.lose(0..<100, rejected: true) })
    #expect(
      rejected.hasPrefix(
        "100 of 100 pushes were not delivered; the first that was rejected got TopicDisallowed: "))
    let twice = try #require(Self.problem { $0.tokens[1].deliveries = 2 })
    #expect(twice.hasPrefix("1 of 100 tokens got more than one push"))
  }

  @Test("a server is told what it has to do, and that it was not done")
  func server() throws {
    let nothing = try #require(
      Self.problem { facts in
        (facts.subject, facts.ending, facts.nanoseconds) = (.server, .stillRan, 300_000_000)
        for place in facts.tokens.indices { facts.tokens[place] = TokenFacts() }
      })
    #expect(
      nothing.hasPrefix(
        "it was not done after 0.3 s, and sent nothing: the server has to send one push to each token"))
    let idle = try #require(
      Self.problem { facts in
        facts.subject = .server
        for place in facts.tokens.indices { facts.tokens[place] = TokenFacts() }
      })
    #expect(idle.hasPrefix("it was done, and sent nothing: "))
  }

  @Test("pushes to others, by the console, or by a process that CMD has left behind, are told")
  func elsewhere() throws {
    let strangers = try #require(
      Self.problem(strangers: 100) { facts in
        for place in facts.tokens.indices { facts.tokens[place] = TokenFacts() }
      })
    #expect(strangers.contains("sent nothing to these tokens (but 100 pushes to others)"))
    let console = try #require(Self.problem(console: 100) { $0.interfaces = [] })
    #expect(console.hasPrefix("pushes came by the console"))
    let left = try #require(
      Self.problem {
        $0.lose(10..<100)
        $0.leftBehind = 1
      })
    #expect(left.contains("it left processes behind, which were ended"))
  }
}

@Suite("What is looked for while CMD runs")
struct DrillLookTests {
  private static let file = DrillTokenFile(
    kinds: [.good, .good, .bad], tokens: [0x0a, 0x1b, 0xff].map { [UInt8](repeating: $0, count: 32) })

  private static func hex(_ byte: UInt8) -> String { String(repeating: Hex.encode([byte]), count: 32) }

  @Test("tokens are found in an output wherever they stand, in either case")
  func output() {
    let text = "error: <\(Self.hex(0x1b).uppercased())>, then 00\(Self.hex(0xff))00\n0a0a0a \(Self.hex(0x0b))"
    #expect(Self.file.places(in: Array(text.utf8)) == [1, 2])
    #expect(Self.file.places(in: []) == [])
    #expect(Self.file.places(in: [UInt8](repeating: 0xff, count: 200)) == [])
  }

  @Test("a report's lines begin with tokens; the rest of a line is anything")
  func report() {
    let text = "\(Self.hex(0x0a)) 410 Unregistered\r\n\n\(Self.hex(0x1b))\tlike \(Self.hex(0xff))\nno token\n"
    #expect(Self.file.places(ofLines: Array(text.utf8)) == [0, 1])
  }

  @Test("the most connections within a second are found, whenever it is looked")
  func connections() {
    var meter = ConnectionMeter()
    func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    for (time, total) in [(0, 0), (10, 1), (500, 5), (900, 6), (1005, 7), (1600, 9), (4000, 12)]
      as [(Int64, Int)]
    {
      meter.note(total: total, at(time))
    }
    // From 10 ms to 1005 ms: 1 + 4 + 1 + 1.
    #expect(meter.most == 7 && meter.total == 12)
    meter.note(total: 40, at(9000))
    #expect(meter.most == 28)
  }
}
