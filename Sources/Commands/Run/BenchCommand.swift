import Benchmark
import Platform

/// `bench`: measurements with a reference in the same run (`Documentation/speed.md`).
enum BenchCommand {
  private static let runs = Flag(
    "runs", ValueKind<Int>.number("N", 1...1000), default: "1", "measure everything N times, and show each")
  private static let quick = Flag(
    "quick", .toggle, "much smaller counts, where flags don't say them: figures are rough")
  static let flags: [any FlagDescription] = [runs, quick, CommonFlags.jsonObject]

  /// The flags of one benchmark.
  static func flags(of benchmark: any RepeatedBenchmark.Type) -> [any FlagDescription] {
    flags + benchmark.amounts.map(flag)
  }

  private static func flag(_ amount: BenchmarkAmount) -> Flag<Int> {
    Flag(
      amount.name, ValueKind<Int>.number("N", 0...1_000_000_000), default: "\(amount.standard)", amount.help)
  }

  /// What measures them, one after the other.
  static func run(
    _ benchmarks: any RepeatedBenchmark.Type...
  ) -> @Sendable (Settings) throws -> ExitStatus {
    { try measure(benchmarks, $0) }
  }

  /// Prints each section when it has been measured, or all of them in one document in the end.
  private static func measure(
    _ benchmarks: [any RepeatedBenchmark.Type], _ settings: Settings
  ) throws -> ExitStatus {
    var report = BenchmarkReport(
      runs: settings[runs] ?? 1, isQuick: settings.isOn(quick), processors: ProcessStatus.processors)
    for benchmark in benchmarks {
      let section = try benchmark.run(plan(of: benchmark, settings), report.runs) {
        Output.complain("measuring: \($0)")
      }
      report.sections.append(section)
      if !settings.isOn(CommonFlags.jsonObject) {
        try Output.line(BenchmarkText(runs: report.runs).text(section) + "\n")
      }
    }
    if settings.isOn(CommonFlags.jsonObject) {
      try Output.line(IndentedJSON.text(report.json))
    } else if report.isQuick {
      try Output.line("With --quick the counts are small and figures rough.")
    }
    return .success
  }

  private static func plan(of benchmark: any RepeatedBenchmark.Type, _ settings: Settings) -> BenchmarkPlan {
    let said = benchmark.amounts.filter { settings.source($0.name) != .standard }
      .compactMap { amount in settings[flag(amount)].map { (amount.name, $0) } }
    return BenchmarkPlan(isQuick: settings.isOn(quick), said: Dictionary(uniqueKeysWithValues: said))
  }
}
