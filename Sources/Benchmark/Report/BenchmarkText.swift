/// A section as a table for people: a line for each run of each row (`Documentation/speed.md#columns`).
package struct BenchmarkText {
  /// Which of the columns are needed: with one run, its number and the span say nothing.
  private let hasSeveralRuns: Bool

  package init(runs: Int) { hasSeveralRuns = runs > 1 }

  /// A column with its heading, and whether numbers stand in it.
  private struct Column {
    var heading: String
    var isNumber = true
    var isOfSeveralRuns = false
  }

  private static let columns = [
    Column(heading: "", isNumber: false), Column(heading: "run", isOfSeveralRuns: true),
    Column(heading: "value"), Column(heading: "ratio"), Column(heading: "server"),
    Column(heading: "generator"), Column(heading: "bottleneck", isNumber: false),
    Column(heading: "min", isOfSeveralRuns: true), Column(heading: "max", isOfSeveralRuns: true),
    Column(heading: "aim", isNumber: false), Column(heading: "met", isNumber: false),
  ]

  package func text(_ section: BenchmarkSection) -> String {
    let lines = [Self.columns.map(\.heading)] + section.rows.flatMap(Self.lines)
    let shown = Self.columns.indices.filter { hasSeveralRuns || !Self.columns[$0].isOfSeveralRuns }
    let widths = shown.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      let cells = zip(shown, widths).map { column, width in
        Self.padded(line[column], to: width, isNumber: Self.columns[column].isNumber)
      }
      return Self.trimmed(cells.joined(separator: "  "))
    }.joined(separator: "\n")
  }

  // MARK: Cells

  /// A line for each figure; what is of the whole row stands in the first of them.
  private static func lines(_ row: BenchmarkRow) -> [[String]] {
    row.figures.enumerated().map { index, figure in
      let isFirst = index == 0
      return [isFirst ? row.name : "", "\(figure.run)", row.unit.text(figure.value)]
        + [figure.ratio.map(ratio) ?? ""] + load(figure.load)
        + (isFirst ? summary(row) : ["", "", "", ""])
    }
  }

  private static func load(_ load: BenchmarkLoad?) -> [String] {
    guard let load else { return ["", "", ""] }
    return [percent(load.server), percent(load.generator), load.bottleneck.rawValue]
  }

  private static func percent(_ share: ProcessorShare) -> String { "\(NumberText.fixed(share.total, 0)) %" }
  private static func ratio(_ value: Double) -> String { NumberText.fixed(value, 2) }

  /// Least and largest figure, the aim, and whether it was met.
  private static func summary(_ row: BenchmarkRow) -> [String] {
    let show = row.figures.first?.ratio == nil ? row.unit.text : ratio
    return [
      row.span.map { show($0.lowerBound) } ?? "", row.span.map { show($0.upperBound) } ?? "",
      row.aim.map { aim($0, show) } ?? "", met(row),
    ]
  }

  private static func aim(_ aim: BenchmarkAim, _ show: (Double) -> String) -> String {
    switch aim {
    case .atLeast(let limit): "≥ \(show(limit))"
    case .atMost(0): show(0)
    case .atMost(let limit): "≤ \(show(limit))"
    }
  }

  private static func met(_ row: BenchmarkRow) -> String {
    switch row.runsMet {
    case nil: ""
    case row.figures.count: "yes"
    case 0: "no"
    case let count?: "\(count) of \(row.figures.count)"
    }
  }

  // MARK: Alignment

  private static func padded(_ cell: String, to width: Int, isNumber: Bool) -> String {
    let blanks = String(repeating: " ", count: width - cell.count)
    return isNumber ? blanks + cell : cell + blanks
  }

  private static func trimmed(_ line: String) -> String {
    String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count))
  }
}

/// Numbers as the tables show them.
package enum NumberText {
  /// With thousands separated: `4,812,345`.
  package static func grouped(_ value: Int) -> String {
    var digits = Array(String(value.magnitude))
    var position = digits.count - 3
    while position > 0 {
      digits.insert(",", at: position)
      position -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }

  /// With so many places behind the point; a stroke for what is no number, or none that fits.
  package static func fixed(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1) { result, _ in result * 10 }
    guard let scaled = Int(exactly: (value * Double(scale)).rounded()) else { return "–" }
    let whole = (scaled < 0 ? "-" : "") + "\(abs(scaled) / scale)"
    let fraction = String(abs(scaled) % scale)
    return places == 0
      ? whole : "\(whole)." + String(repeating: "0", count: places - fraction.count) + fraction
  }
}
