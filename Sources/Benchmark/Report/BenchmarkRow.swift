/// What a figure counts.
package enum BenchmarkUnit: String, Sendable {
  case perSecond = "/s"
  case nanoseconds = "ns"
  case microseconds = "µs"
  case milliseconds = "ms"
  case seconds = "s"
  case kibibytes = "KiB"
  case mebibytes = "MiB"
  case count = ""

  /// A value as the table shows it: `4,812,345/s`, `15.5 KiB`.
  package func text(_ value: Double) -> String {
    switch self {
    case .perSecond: whole(value) + rawValue
    case .count: whole(value)
    case .nanoseconds, .microseconds: "\(whole(value)) \(rawValue)"
    case .milliseconds, .kibibytes, .mebibytes: "\(NumberText.fixed(value, 1)) \(rawValue)"
    case .seconds: "\(NumberText.fixed(value, 2)) \(rawValue)"
    }
  }

  private func whole(_ value: Double) -> String {
    Int(exactly: value.rounded()).map(NumberText.grouped) ?? "–"
  }
}

/// What one run found.
struct BenchmarkFigure: Equatable, Sendable {
  /// Counted from 1.
  var run: Int
  var value: Double
  /// What the reference did in the same run, in the same unit.
  var reference: Double?
  var load: BenchmarkLoad?

  var ratio: Double? { reference.map { value / $0 } }
  /// What aims, minimum and maximum are about: the ratio where there is one, else the value.
  var judged: Double { ratio ?? value }
}

/// How good a figure should be.
package enum BenchmarkAim: Equatable, Sendable {
  case atLeast(Double)
  case atMost(Double)

  func isMet(by figure: BenchmarkFigure) -> Bool {
    switch self {
    case .atLeast(let limit): figure.judged >= limit
    case .atMost(let limit): figure.judged <= limit
    }
  }
}

/// A row of the report: one thing that was measured, in each of the runs.
package struct BenchmarkRow: Sendable {
  let name: String
  let unit: BenchmarkUnit
  let aim: BenchmarkAim?
  private(set) var figures: [BenchmarkFigure]

  init(_ name: String, _ unit: BenchmarkUnit, aim: BenchmarkAim? = nil, _ figures: [BenchmarkFigure]) {
    (self.name, self.unit, self.aim, self.figures) = (name, unit, aim, figures)
  }

  /// The least and the largest of its ratios, or of its values where it has no ratios; nil without a figure.
  package var span: ClosedRange<Double>? {
    let judged = figures.map(\.judged)
    guard let least = judged.min(), let largest = judged.max(), least <= largest else { return nil }
    return least...largest
  }

  /// In how many runs it was as good as it should be; nil without an aim.
  package var runsMet: Int? { aim.map { aim in figures.count { aim.isMet(by: $0) } } }
  /// Whether it was in all of them; nil without an aim.
  package var isMet: Bool? { runsMet.map { $0 == figures.count } }

  mutating func add(_ figures: [BenchmarkFigure]) { self.figures += figures }
}
