/// How much a benchmark does.
public protocol BenchmarkOptions: Sendable {
  /// As much as makes figures firm.
  init()
  /// As much as takes a few seconds; figures are rough then.
  static var quick: Self { get }
}

/// Loads that are measured beside references, all of them in each run.
public protocol RepeatedBenchmark {
  associatedtype Options: BenchmarkOptions
  /// The word behind `bench`.
  static var name: String { get }

  init(_ options: Options) throws
  /// Makes what all runs need. `progress` hears what is being done.
  mutating func prepare(_ progress: (String) -> Void) throws
  /// One run: each load soon after what it is compared with.
  func measure(into pass: inout BenchmarkPass, _ progress: (String) -> Void) throws
}

extension RepeatedBenchmark {
  /// Measures everything so many times over, and leaves none of it out. `progress` hears what is being done.
  public mutating func run(_ runs: Int, progress: (String) -> Void) throws -> BenchmarkSection {
    try prepare(progress)
    var section = BenchmarkSection(Self.name)
    for run in 1...max(1, runs) {
      var pass = BenchmarkPass(run: run)
      try measure(into: &pass) { progress(runs > 1 ? "run \(run) of \(runs): \($0)" : $0) }
      section.add(pass)
    }
    return section
  }
}
