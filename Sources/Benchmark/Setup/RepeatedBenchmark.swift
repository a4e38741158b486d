/// How much of something a benchmark does: a flag of `bench` says another number.
package struct BenchmarkAmount: Sendable {
  /// The flag, without the dashes.
  package let name: String
  /// As much as makes figures firm.
  package let standard: Int
  /// As much as takes a few seconds; figures are rough then.
  let quick: Int
  package let help: String

  init(_ name: String, _ standard: Int, quick: Int, _ help: String) {
    (self.name, self.standard, self.quick, self.help) = (name, standard, quick, help)
  }
}

/// How much of everything one invocation does.
package struct BenchmarkPlan: Sendable {
  let isQuick: Bool
  private let said: [String: Int]

  /// `said` has the numbers of those amounts that were given, by their names.
  package init(isQuick: Bool, said: [String: Int]) { (self.isQuick, self.said) = (isQuick, said) }

  subscript(_ amount: BenchmarkAmount) -> Int {
    said[amount.name] ?? (isQuick ? amount.quick : amount.standard)
  }
}

/// Loads that are measured beside references, all of them in each run.
package protocol RepeatedBenchmark: SendableMetatype {
  /// The word behind `bench`.
  static var name: String { get }
  /// What can be said of how much it does, in the order of the help.
  static var amounts: [BenchmarkAmount] { get }

  /// Makes what all runs need. `progress` hears what is being done.
  init(_ plan: BenchmarkPlan, _ progress: (String) -> Void) throws
  /// One run: each load soon after what it is compared with.
  func measure(into pass: inout BenchmarkPass) throws
}

extension RepeatedBenchmark {
  /// Measures everything so many times over, and leaves none of it out. `progress` hears what is being done.
  package static func run(
    _ plan: BenchmarkPlan, _ runs: Int, progress: @escaping (String) -> Void
  ) throws -> BenchmarkSection {
    let benchmark = try Self(plan, progress)
    var section = BenchmarkSection(name)
    for run in 1...max(1, runs) {
      var pass = BenchmarkPass(run: run) { progress(runs > 1 ? "run \(run) of \(runs): \($0)" : $0) }
      try benchmark.measure(into: &pass)
      section.add(pass)
    }
    return section
  }
}
