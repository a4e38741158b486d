import PushModel

/// The report as one document (`Documentation/speed.md#as-json`).
extension BenchmarkReport {
  public var json: JSONValue {
    .object([
      ("quick", .bool(isQuick)), ("runs", .integer(Int64(runs))), ("processors", .integer(Int64(processors))),
      ("rows", .array(sections.flatMap { section in section.rows.map { $0.json(of: section.name) } })),
    ])
  }
}

extension BenchmarkRow {
  fileprivate func json(of benchmark: String) -> JSONValue {
    .object([
      ("benchmark", .string(benchmark)), ("name", .string(name)), ("unit", .string(unit.rawValue)),
      ("aim", aim?.json ?? .null), ("met", .optional(isMet)),
      ("minimum", .optional(span?.lowerBound)), ("maximum", .optional(span?.upperBound)),
      ("runs", .array(figures.map { $0.json(aim) })),
    ])
  }
}

extension BenchmarkAim {
  fileprivate var json: JSONValue {
    switch self {
    case .atLeast(let limit): .object([("atLeast", .number(limit))])
    case .atMost(let limit): .object([("atMost", .number(limit))])
    }
  }
}

extension BenchmarkFigure {
  fileprivate func json(_ aim: BenchmarkAim?) -> JSONValue {
    .object([
      ("run", .integer(Int64(run))), ("value", .number(value)), ("reference", .optional(reference)),
      ("ratio", .optional(ratio)), ("met", .optional(aim?.isMet(by: self))),
      ("server", load?.server.json ?? .null), ("generator", load?.generator.json ?? .null),
      ("bottleneck", .optional(load?.bottleneck.rawValue)),
    ])
  }
}

extension ProcessorShare {
  fileprivate var json: JSONValue {
    .object([("percent", .tenths(total)), ("busiestThreadPercent", .tenths(busiest))])
  }
}

extension JSONValue {
  fileprivate static func optional(_ value: Double?) -> JSONValue { value.map(JSONValue.number) ?? .null }
  fileprivate static func optional(_ value: Bool?) -> JSONValue { value.map(JSONValue.bool) ?? .null }
  /// As exact as times of processors are.
  fileprivate static func tenths(_ value: Double) -> JSONValue { .number((value * 10).rounded() / 10) }
}
