import Basics
import Testing

import SimulatedDevice

@Suite("Figures of a fleet")
struct FleetTallyTests {
  private let now = Instant(nanoseconds: 5_000_000_000)

  @Test("connections and their ends are counted, ends that never were connections too")
  func connections() {
    var tally = FleetTally(phones: 3)
    for _ in 0..<3 { tally.connected() }
    tally.disconnected(wasOnline: true, reason: "reset")
    tally.disconnected(wasOnline: false, reason: "refused")
    #expect((tally.online, tally.connects) == (2, 3))
    #expect(tally.endings == ["reset": 1, "refused": 1])
  }

  @Test("reasons beyond a limit are counted together: they may hold what a peer has sent")
  func reasons() {
    var tally = FleetTally(phones: 1)
    for number in 0..<100 { tally.disconnected(wasOnline: false, reason: "\(number)") }
    tally.disconnected(wasOnline: false, reason: "3")
    #expect(tally.endings.count == 21)
    #expect(tally.endings["3"] == 2)
    #expect(tally.endings["other reasons"] == 80)
  }

  @Test("what was stored while a phone was offline does not count as slow")
  func kept() {
    var tally = FleetTally(phones: 2)
    tally.notified(isKept: false, isFirst: true, latency: 1_000_000, at: now)
    tally.notified(isKept: true, isFirst: true, latency: 60_000_000_000, at: now.adding(nanoseconds: 500))
    #expect((tally.notifications, tally.kept, tally.reached) == (2, 1, 2))
    #expect((tally.latency.count, tally.latency.longest) == (1, 1_000_000))
    #expect(tally.spanNanoseconds == 500)
  }

  @Test("the summary says where latency is measured from, or that it is not known")
  func latency() throws {
    var tally = FleetTally(phones: 1)
    tally.notified(isKept: false, isFirst: true, latency: 1_230_000, at: now)
    let known = tally.lines(after: 61_500_000_000, latencySince: "here").joined(separator: "\n")
    #expect(known.contains("1 phone for 61.5 s"))
    #expect(known.contains("latency p50 1.23 ms, p99 1.23 ms, max 1.23 ms, from here"))
    let unknown = tally.lines(after: 0, latencySince: nil).joined(separator: "\n")
    #expect(unknown.contains("latency unknown") && !unknown.contains("p50"))
    let json = tally.json("summary", after: 500_000_000, latencySince: nil)
    #expect(
      json.member("latency")?.member("p50")?.text == "null"
        && json.member("latency")?.member("max")?.text == "null")
    #expect(json.member("seconds")?.text == "0.5")
    #expect(
      tally.json("summary", after: 0, latencySince: "here").member("latency")?.member("max")?.text
        == "1230000")
  }

  @Test("the time of sending is read from the payload in seconds or milliseconds")
  func stamps() {
    let expected = Timestamp(nanoseconds: 1_700_000_000_500_000_000)
    for number in ["1700000000.5", "1700000000500", "1700000000500.0"] {
      let payload = Array(#"{"aps":{},"sentAt":\#(number)}"#.utf8)
      #expect(SendStamp.time(in: payload, member: "sentAt") == expected, "\(number)")
    }
    for payload in [#"{"aps":{}}"#, #"{"sentAt":"soon"}"#, "no JSON", #"{"sentAt":1e300}"#] {
      #expect(SendStamp.time(in: Array(payload.utf8), member: "sentAt") == nil, "\(payload)")
    }
  }
}
