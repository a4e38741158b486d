/// What a figure counts.
public enum BenchmarkUnit: String, Sendable {
  case perSecond = "/s"
  case nanoseconds = "ns"
  case microseconds = "µs"
  case milliseconds = "ms"
  case seconds = "s"
  case kibibytes = "KiB"
  case mebibytes = "MiB"
  case count = ""

  /// A value as the table shows it: `4,812,345/s`, `15.5 KiB`.
  func text(_ value: Double) -> String {
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
public struct BenchmarkFigure: Equatable, Sendable {
  /// Counted from 1.
  public var run: Int
  public var value: Double
  /// What the reference did in the same run, in the same unit.
  public var reference: Double?
  public var load: BenchmarkLoad?

  public init(run: Int, value: Double, reference: Double? = nil, load: BenchmarkLoad? = nil) {
    (self.run, self.value, self.reference, self.load) = (run, value, reference, load)
  }

  public var ratio: Double? { reference.map { value / $0 } }
  /// What aims, minimum and maximum are about: the ratio where there is one, else the value.
  var judged: Double { ratio ?? value }
}

/// How good a figure should be.
public enum BenchmarkAim: Equatable, Sendable {
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
public struct BenchmarkRow: Sendable {
  public let name: String
  public let unit: BenchmarkUnit
  public let aim: BenchmarkAim?
  public private(set) var figures: [BenchmarkFigure]

  public init(_ name: String, _ unit: BenchmarkUnit, aim: BenchmarkAim? = nil, _ figures: [BenchmarkFigure]) {
    (self.name, self.unit, self.aim, self.figures) = (name, unit, aim, figures)
  }

  /// The least and the largest of its ratios, or of its values where it has no ratios; nil without a figure.
  public var span: ClosedRange<Double>? {
    let judged = figures.map(\.judged)
    guard let least = judged.min(), let largest = judged.max(), least <= largest else { return nil }
    return least...largest
  }

  /// In how many runs it was as good as it should be; nil without an aim.
  public var runsMet: Int? { aim.map { aim in figures.count { aim.isMet(by: $0) } } }
  /// Whether it was in all of them; nil without an aim.
  public var isMet: Bool? { runsMet.map { $0 == figures.count } }

  mutating func add(_ figures: [BenchmarkFigure]) { self.figures += figures }
}
