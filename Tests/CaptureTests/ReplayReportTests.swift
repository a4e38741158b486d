import Capture
import Testing

@Suite("Replay report")
struct ReplayReportTests {
  @Test("every push is among the pairs of outcomes, silent ones too")
  func pairs() {
    var report = ReplayReport()
    report.addSilences(3)
    report.add(old: "accepted", new: "accepted", areEqual: true)
    report.add(old: "status 8", new: "accepted", areEqual: false)
    report.addUnanswered(old: "accepted", why: "no answer")
    #expect(report.pairs == ["accepted → accepted": 4, "status 8 → accepted": 1, "accepted → no answer": 1])
    #expect(report.pairs.values.reduce(0, +) == report.total)
  }

  @Test("tokens that are unknown now and were not then are counted, by either protocol")
  func unknownTokens() {
    var report = ReplayReport()
    report.add(old: "200", new: "400 BadDeviceToken", areEqual: false)
    report.add(old: "accepted", new: "status 8", areEqual: false)
    report.add(old: "status 8", new: "400 BadDeviceToken", areEqual: true)
    report.add(old: "200", new: "410 Unregistered", areEqual: false)
    #expect(report.unknownTokens == 2 && report.different == 3)
  }

  @Test("only differences and silence where an answer was due are not clean")
  func cleanliness() {
    var report = ReplayReport()
    report.addSilences(1)
    report.addUntranslatable()
    #expect(report.isClean)
    report.addUnanswered(old: "200", why: "no answer")
    #expect(!report.isClean)
  }
}
