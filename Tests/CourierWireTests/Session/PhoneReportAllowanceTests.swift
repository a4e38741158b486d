import Basics
import CourierWire
import Testing

/// How often a device may tell of its phone unasked.
struct PhoneReportAllowanceTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  /// What a report of so many bytes counts as.
  private func weight(_ byteCount: Int) -> Int64 {
    PhoneReportAllowance.weight(PhoneReport(document: [UInt8](repeating: 0x20, count: byteCount)))
  }

  /// How many of so many bytes are taken, one each `interval` nanoseconds, until one is too many; at most `most`.
  private func taken(_ byteCount: Int, every interval: Int64, most: Int = 5000) -> Int {
    var allowance = PhoneReportAllowance()
    let weight = weight(byteCount)
    for number in 0..<most
    where !allowance.takes(weight, at: start.adding(nanoseconds: Int64(number) * interval)) {
      return number
    }
    return most
  }

  @Test(
    "one that keeps to the interval, or is twice as fast, is never too much", arguments: [0, 70_000, 500_000])
  func steady(byteCount: Int) {
    let interval = weight(byteCount) * PhoneReportAllowance.interval
    #expect(taken(byteCount, every: interval) == 5000)
    #expect(taken(byteCount, every: interval / 2) == 5000)
  }

  @Test("one that is three times as fast comes to its end, and without a pause after 200")
  func fast() {
    #expect((400...700).contains(taken(0, every: PhoneReportAllowance.interval / 3)))
    #expect(taken(0, every: 0) == 200)
    #expect(taken(PhoneReportAllowance.unit, every: 0) == 100)
  }

  @Test("values count besides bytes, as each costs as much as many of these")
  func values() {
    let report = { (text: String, count: Int) in
      PhoneReport(events: Array("[\(Array(repeating: text, count: count).joined(separator: ","))]".utf8))
    }
    // The same number of bytes each.
    let (cheap, costly) = (report(String(repeating: "1", count: 63), 3000), report("[]", 64_000))
    #expect(PhoneReportAllowance.weight(cheap) < 8 && PhoneReportAllowance.weight(costly) > 100)
    // 1024 of them are as much as another report.
    #expect(PhoneReportAllowance.weight(report("1", 1023)) == 1)
    #expect(PhoneReportAllowance.weight(report("1", 1024)) == 2)
    // What ours tells at most at once.
    let usual = report(#"{"event":"presented","at":"","topic":"","detail":"","rule":"","evidence":""}"#, 200)
    #expect(PhoneReportAllowance.weight(usual) == 2)
  }

  @Test("an order lets one more come")
  func order() {
    var allowance = PhoneReportAllowance()
    let first = (0..<200).allSatisfy { _ in allowance.takes(1, at: start) }
    allowance.expectOne()
    let (next, another) = (allowance.takes(1, at: start), allowance.takes(1, at: start))
    #expect(first && next && !another)
  }
}
