import Basics
import CourierWire
import Testing

import DeviceDriver

/// What waits to be told of a phone.
struct PhoneNewsTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func event(_ number: Int) -> [UInt8] { Array("{\"n\":\(number)}".utf8) }
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("goes together in one report, and then nothing waits")
  func together() {
    var news = PhoneNews()
    #expect(news.isEmpty && news.wait(at: now) == 0)
    news.add(event(1))
    news.add(event(2))
    let report = news.takeReport([7], at: now)
    #expect(text(report.events) == #"[{"n":1},{"n":2}]"# && report.document == [7])
    #expect(report.number == nil && report.lost == nil && report.problem == nil)
    #expect(news.isEmpty)
    news.noteChange()
    #expect(!news.isEmpty)
    #expect(news.takeReport([8], at: now).events == [])
  }

  @Test("the next report waits 50 ms, and longer if the last was long")
  func pace() {
    var news = PhoneNews()
    _ = news.takeReport([], at: now)
    #expect(news.wait(at: now) == 50_000_000)
    #expect(news.wait(at: now.adding(nanoseconds: 20_000_000)) == 30_000_000)
    #expect(news.wait(at: now.adding(nanoseconds: 60_000_000)) == 0)
    _ = news.takeReport([UInt8](repeating: 0, count: 200_000), at: now)
    #expect(news.wait(at: now) == 200_000_000)
  }

  @Test("of more than 200 events the newest are told, and how many were not")
  func bounded() {
    var news = PhoneNews()
    for number in 1...205 { news.add(event(number)) }
    let report = news.takeReport([], at: now)
    #expect(report.lost == 5)
    #expect(text(report.events).hasPrefix(#"[{"n":6},"#) && text(report.events).hasSuffix(#"{"n":205}]"#))
    news.add(event(206))
    #expect(news.takeReport([], at: now).lost == nil)
  }

  @Test("events that no report would hold are left out too")
  func long() {
    var news = PhoneNews()
    for _ in 0..<100 { news.add([UInt8](repeating: 0x31, count: 4096)) }
    let report = news.takeReport([], at: now)
    #expect(report.events.count <= CourierLimits.phoneEventsByteCount)
    #expect(report.lost == 37)
  }

  @Test("a phone whose description is too long is told of without it, and why")
  func longDocument() {
    var news = PhoneNews()
    news.add(event(1))
    let report = news.takeReport([UInt8](repeating: 0, count: CourierLimits.phoneByteCount + 1), at: now)
    #expect(report.document == [] && text(report.events) == #"[{"n":1}]"#)
    #expect(report.problem?.contains("262145 bytes") == true)
  }
}
