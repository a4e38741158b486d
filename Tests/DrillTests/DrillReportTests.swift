import Advice
import Basics
import Testing

import Drill

@Suite("What drills report")
struct DrillReportTests {
  private static func result(_ id: String, _ verdict: DrillVerdict, _ sentence: String = "") -> DrillResult {
    var numbers = DrillNumbers()
    (numbers.sent, numbers.once, numbers.twice, numbers.never) = (100, 12, 0, 87)
    (numbers.refused, numbers.reported, numbers.lost, numbers.doubled) = (1, 3, 87, 5)
    var result = DrillResult(id: id, DrillJudgement(verdict: verdict, numbers: numbers, sentence: sentence))
    (result.nanoseconds, result.status, result.attempts) = (740_000_000, 3, 2)
    result.evidence = DrillEvidence("binary-protocol", "what-follows-an-error")
    result.findings = [
      FindingFacts(rule: .lostAfterError, severity: .error, count: 87, sentence: "87 frames")
    ]
    (result.notes, result.again) = (["a note"], "apns-emulator drill --only \(id) -- ./send")
    return result
  }

  private static func report() -> DrillReport {
    var baseline = DrillResult(
      id: DrillResult.baselineId,
      DrillJudgement(verdict: .ok, numbers: DrillNumbers(), sentence: ""))
    baseline.nanoseconds = 400_000_000
    var report = DrillReport(command: ["./send", "it's all"], baseline: baseline)
    report.drills = [
      result("goaway-zero", .ok), result("binary-shutdown", .fail, "lost <87>"),
      result("shutdown", .untold, "who knows"),
      result("no-answer", .hangs, "hangs"), result("service-unavailable", .waiting, "waits"),
    ]
    report.skipped = [("binary-feedback", "no gateway")]
    return report
  }

  @Test("a row has the numbers below their names, then the verdict, and its sentence")
  func table() {
    let table = DrillTable(["binary-one-bad-token", "shutdown"])
    let row = table.line(Self.result("binary-one-bad-token", .fail, "87 pushes lost"))
    #expect(table.head == "drill                   sent    once   twice   never refused    took  verdict")
    #expect(
      row
        == "binary-one-bad-token     100      12       0      87       1   0.7 s  FAIL     87 pushes lost; a note"
    )
    var plain = Self.result("shutdown", .ok)
    plain.notes = []
    #expect(table.line(plain) == "shutdown                 100      12       0      87       1   0.7 s  ok")
  }

  @Test("what CMD makes people read has no signs that move a cursor")
  func visible() {
    #expect(!DrillTable([]).line(Self.result("x", .fail, "\u{1b}[2J")).contains("\u{1b}"))
  }

  @Test("a result comes through to the process that asked for it")
  func document() throws {
    let result = Self.result("binary-shutdown", .fail, "lost")
    let read = try #require(JSONReader.read(result.json.encoded).flatMap(DrillResult.init))
    #expect(read.json.text == result.json.text)
    #expect(read.judgement == result.judgement && read.status == 3 && read.attempts == 2)
    #expect(read.findings.first?.rule == .lostAfterError && read.findings.first?.count == 87)
    for broken in [
      "null", "[]", #"{"id":"a"}"#, #"{"id":"a","sentence":"","verdict":"fine","nanoseconds":1}"#,
    ] {
      #expect(JSONReader.read(Array(broken.utf8)).flatMap(DrillResult.init) == nil, "\(broken)")
    }
  }

  @Test("a report passes unless one fails or hangs")
  func passed() {
    var report = Self.report()
    #expect(!report.isPassed)
    report.drills.removeAll { $0.judgement.verdict == .fail }
    #expect(!report.isPassed)
    report.drills.removeAll { $0.judgement.verdict == .hangs }
    #expect(report.isPassed && !report.drills.isEmpty)
  }

  @Test("a report whose baseline failed is no success, though it has no drill")
  func failedBaseline() {
    let report = DrillReport(
      command: ["false"], baseline: Self.result(DrillResult.baselineId, .fail, "nothing came"))
    #expect(!report.isPassed && report.junit.contains("tests=\"1\" failures=\"1\""))
  }

  @Test("below the table stand the commands that repeat what failed, and what was left out")
  func summary() {
    let lines = Self.report().summary.split(separator: "\n")
    #expect(lines.first == "3 of 5 drills passed, 1 untold: CMD makes no report")
    #expect(lines.contains("binary-feedback was left out: no gateway"))
    #expect(
      lines.suffix(2) == [
        "  apns-emulator drill --only binary-shutdown -- ./send",
        "  apns-emulator drill --only no-answer -- ./send",
      ])
  }

  @Test("the document for programs has baseline, drills and those that were left out")
  func json() {
    let json = Self.report().json
    #expect(json.strings("command") == ["./send", "it's all"])
    #expect(json.member("baseline")?.string("id") == "baseline")
    guard case .array(let drills)? = json.member("drills"), case .array(let skipped)? = json.member("skipped")
    else {
      Issue.record("no lists")
      return
    }
    #expect(drills.map { $0.string("verdict") } == ["ok", "FAIL", "untold", "hangs", "waiting"])
    #expect(skipped.map { $0.string("id") } == ["binary-feedback"])
  }

  @Test("for a CI each drill is a test case")
  func junit() {
    let text = Self.report().junit
    #expect(text.contains("<testsuite name=\"drills\" tests=\"7\" failures=\"2\" errors=\"0\" skipped=\"1\""))
    #expect(text.contains("lost &lt;87&gt;; again: apns-emulator drill --only binary-shutdown -- ./send"))
    #expect(text.contains("<skipped message=\"no gateway\"/>"))
  }

  @Test(
    "words stand as a shell takes them",
    arguments: [
      (["ls", "-l", "a b"], "ls -l 'a b'"), (["it's"], #"'it'\''s'"#), ([""], "''"),
      (["$HOME", "a=b"], "'$HOME' a=b"),
    ])
  func shell(words: [String], text: String) { #expect(ShellWords.text(words) == text) }
}
