import Basics
import Benchmark
import Commands
import Platform

/// `bench` and the words behind it, with their flags: `apns-emulator` lists them, and this program carries them out.
enum BenchmarkCommands {
  private static let runs = Flag(
    "runs", ValueKind<Int>.number("N", 1...1000), default: "1", "measure everything N times, and show each")
  private static let quick = Flag(
    "quick", .toggle, "use much smaller counts, unless flags name them; figures are rough")
  private static let json = CommonFlags.jsonObject
  private static let flags: [any FlagDescription] = [runs, quick, json]

  private static let all: [any RepeatedBenchmark.Type] = [
    GatewayBenchmark.self, ProviderBenchmark.self, CaptureBenchmark.self, ClusterBenchmark.self,
  ]
  /// What is measured where nobody says what.
  private static let withoutNATS = Array(all.dropLast())

  static let table = CommandTable.benchmarks.map { name, summary in
    guard let one = all.first(where: { name == "bench \($0.name)" }) else {
      return CommandDescription(name, summary, flags: flags) { try measure(withoutNATS, $0) }
    }
    return CommandDescription(name, summary, flags: flags + one.amounts.map(flag)) { try measure([one], $0) }
  }

  private static func flag(_ amount: BenchmarkAmount) -> Flag<Int> {
    Flag(
      amount.name, ValueKind<Int>.number("N", 0...1_000_000_000), default: "\(amount.standard)", amount.help)
  }

  /// Measures them one after the other. Prints each section when it has been measured, or all of them in one document in the end.
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
      if !settings.isOn(json) {
        try Output.line(BenchmarkText(runs: report.runs).text(section) + "\n")
      }
    }
    if settings.isOn(json) {
      try Output.line(IndentedJSON.text(report.json))
    } else if report.isQuick {
      try Output.line("With --quick the counts are small, so the figures are rough.")
    }
    return .success
  }

  private static func plan(of benchmark: any RepeatedBenchmark.Type, _ settings: Settings) -> BenchmarkPlan {
    let said = benchmark.amounts.filter { settings.source($0.name) != .standard }
      .compactMap { amount in settings[flag(amount)].map { (amount.name, $0) } }
    return BenchmarkPlan(isQuick: settings.isOn(quick), said: Dictionary(uniqueKeysWithValues: said))
  }
}
