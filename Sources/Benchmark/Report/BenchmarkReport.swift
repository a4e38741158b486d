/// The rows that one run of a benchmark found, in the order in which it measured.
package struct BenchmarkPass {
  /// Counted from 1.
  let run: Int
  /// Hears what is being done.
  let progress: (String) -> Void
  private(set) var rows: [BenchmarkRow] = []

  package init(run: Int, progress: @escaping (String) -> Void = { _ in }) {
    (self.run, self.progress) = (run, progress)
  }

  /// Adds what was measured; `reference` is in the same unit, and of the same run.
  package mutating func add(
    _ name: String, _ value: Double, _ unit: BenchmarkUnit, of reference: Double? = nil,
    load: BenchmarkLoad? = nil, aim: BenchmarkAim? = nil
  ) {
    let figure = BenchmarkFigure(run: run, value: value, reference: reference, load: load)
    rows.append(BenchmarkRow(name, unit, aim: aim, [figure]))
  }
}

/// What one benchmark found in all its runs.
package struct BenchmarkSection: Sendable {
  /// The word behind `bench`.
  let name: String
  package private(set) var rows: [BenchmarkRow] = []

  package init(_ name: String) { self.name = name }

  /// Adds another run's figures to those of the runs before.
  package mutating func add(_ pass: BenchmarkPass) {
    for row in pass.rows {
      if let index = rows.firstIndex(where: { $0.name == row.name }) {
        rows[index].add(row.figures)
      } else {
        rows.append(row)
      }
    }
  }
}

/// What an invocation of `bench` found, and how it measured.
package struct BenchmarkReport: Sendable {
  package var runs: Int
  /// Whether counts were so small that figures are rough.
  package var isQuick: Bool
  /// Cores of the machine.
  package var processors: Int
  package var sections: [BenchmarkSection] = []

  package init(runs: Int, isQuick: Bool, processors: Int) {
    (self.runs, self.isQuick, self.processors) = (runs, isQuick, processors)
  }
}
