import Benchmark
import Testing

@Suite("A benchmark's table")
struct BenchmarkTextTests {
  private static func load(_ server: Double, _ generator: Double) -> BenchmarkLoad {
    BenchmarkLoad(
      server: ProcessorShare(total: server, busiest: server),
      generator: ProcessorShare(total: generator, busiest: generator), processors: 2)
  }

  private static func section(_ runs: [(sink: Double, offline: Double, idle: Double, lost: Double)])
    -> BenchmarkSection
  {
    var section = BenchmarkSection("gateway")
    for (index, run) in runs.enumerated() {
      var pass = BenchmarkPass(run: index + 1)
      pass.add("sink", run.sink, .perSecond, of: run.sink, load: load(99.6, 70.2))
      pass.add("offline", run.offline, .perSecond, of: run.sink, aim: .atLeast(0.6))
      pass.add("idle", run.idle, .kibibytes, aim: .atMost(10))
      pass.add("lost", run.lost, .count, aim: .atMost(0))
      section.add(pass)
    }
    return section
  }

  @Test("one run has neither a number nor a span")
  func oneRun() {
    let text = BenchmarkText(runs: 1).text(Self.section([(2_000_000, 1_500_000, 12.34, 0)]))
    #expect(
      text.split(separator: "\n") == [
        "               value  ratio  server  generator  bottleneck  aim         met",
        "sink     2,000,000/s   1.00   100 %       70 %  server",
        "offline  1,500,000/s   0.75                                 ≥ 0.60      yes",
        "idle        12.3 KiB                                        ≤ 10.0 KiB  no",
        "lost               0                                        0           yes",
      ])
  }

  @Test("of three runs each is shown, with the least and the largest ratio, and how many met the aim")
  func threeRuns() {
    let text = BenchmarkText(runs: 3).text(
      Self.section([(1000, 700, 9, 0), (1000, 500, 11, 0), (2000, 1300, 9.5, 1200)]))
    #expect(
      text.split(separator: "\n") == [
        "         run     value  ratio  server  generator  bottleneck      min       max  aim         met",
        "sink       1   1,000/s   1.00   100 %       70 %  server         1.00      1.00",
        "           2   1,000/s   1.00   100 %       70 %  server",
        "           3   2,000/s   1.00   100 %       70 %  server",
        "offline    1     700/s   0.70                                    0.50      0.70  ≥ 0.60      2 of 3",
        "           2     500/s   0.50",
        "           3   1,300/s   0.65",
        "idle       1   9.0 KiB                                        9.0 KiB  11.0 KiB  ≤ 10.0 KiB  2 of 3",
        "           2  11.0 KiB",
        "           3   9.5 KiB",
        "lost       1         0                                              0     1,200  0           2 of 3",
        "           2         0",
        "           3     1,200",
      ])
  }

  @Test("an aim is for the ratio where there is one, and met if it was in all runs")
  func aims() throws {
    let section = Self.section([(1000, 600, 10, 0), (1000, 599, 10.1, 0)])
    #expect(section.rows.map(\.isMet) == [nil, false, false, true])
    #expect(section.rows.map(\.runsMet) == [nil, 1, 1, 2])
    #expect(section.rows.map(\.span) == [1...1, 0.599...0.6, 10...10.1, 0...0])
  }

  @Test("numbers are grouped and rounded; what is none is a stroke")
  func numbers() {
    #expect(
      [0, 999, 1000, 1_234_567, -12, -123_456].map(NumberText.grouped)
        == ["0", "999", "1,000", "1,234,567", "-12", "-123,456"])
    #expect(
      [1.005, 0.996, -0.25, 12, .nan, .infinity].map { NumberText.fixed($0, 1) }
        == ["1.0", "1.0", "-0.3", "12.0", "–", "–"])
    #expect(NumberText.fixed(2.5, 0) == "3" && NumberText.fixed(0.05, 2) == "0.05")
    #expect(BenchmarkUnit.microseconds.text(1234.4) == "1,234 µs")
    #expect(BenchmarkUnit.seconds.text(0.5) == "0.50 s")
    #expect(BenchmarkUnit.perSecond.text(.nan) == "–/s")
  }
}
