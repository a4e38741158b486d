import Basics

/// The report as one document (`Documentation/speed.md#as-json`).
extension BenchmarkReport {
  package var json: JSONValue {
    [
      "quick": isQuick.json, "runs": runs.json, "processors": processors.json,
      "rows": .array(sections.flatMap { section in section.rows.map { $0.json(of: section.name) } }),
    ]
  }
}

extension BenchmarkRow {
  fileprivate func json(of benchmark: String) -> JSONValue {
    [
      "benchmark": benchmark.json, "name": name.json, "unit": unit.rawValue.json,
      "aim": aim?.json ?? .null, "met": isMet.json,
      "minimum": (span?.lowerBound).json, "maximum": (span?.upperBound).json,
      "runs": .array(figures.map { $0.json(aim) }),
    ]
  }
}

extension BenchmarkAim {
  fileprivate var json: JSONValue {
    switch self {
    case .atLeast(let limit): ["atLeast": limit.json]
    case .atMost(let limit): ["atMost": limit.json]
    }
  }
}

extension BenchmarkFigure {
  fileprivate func json(_ aim: BenchmarkAim?) -> JSONValue {
    [
      "run": run.json, "value": value.json, "reference": reference.json,
      "ratio": ratio.json, "met": (aim?.isMet(by: self)).json,
      "server": load?.server.json ?? .null, "generator": load?.generator.json ?? .null,
      "bottleneck": (load?.bottleneck.rawValue).json,
    ]
  }
}

extension ProcessorShare {
  /// As exact as times of processors are.
  fileprivate var json: JSONValue {
    ["percent": tenths(total).json, "busiestThreadPercent": tenths(busiest).json]
  }

  private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
