/// Results as rows with a ratio to the reference of the same run.
public struct BenchmarkTable {
  private var rows: [(name: String, value: String, ratio: String, aim: String)] = [("", "", "ratio", "aim")]

  public init() {}

  /// Adds a row; ratio and aim may be absent.
  public mutating func add(_ name: String, _ value: String, ratio: Double? = nil, aim: String = "") {
    rows.append((name, value, ratio.map { Self.fixed($0, 2) } ?? "", aim))
  }

  /// The rows as aligned text.
  public var text: String {
    let widths = (rows.map(\.name.count).max() ?? 0, rows.map(\.value.count).max() ?? 0)
    return rows.map { row in
      let name = row.name + String(repeating: " ", count: widths.0 - row.name.count)
      let value = String(repeating: " ", count: widths.1 - row.value.count) + row.value
      let ratio = String(repeating: " ", count: max(0, 6 - row.ratio.count)) + row.ratio
      return "\(name)  \(value)  \(ratio)  \(row.aim)"
    }.joined(separator: "\n")
  }

  /// A number with thousands separated: `4,812,345`.
  static func grouped(_ value: Int) -> String {
    var digits = Array(String(value))
    var position = digits.count - 3
    while position > 0 {
      digits.insert(",", at: position)
      position -= 3
    }
    return String(digits)
  }

  static func fixed(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { result, _ in result * 10 }
    let scaled = Int((value * scale).rounded())
    let fraction = String(scaled % Int(scale))
    return "\(scaled / Int(scale))." + String(repeating: "0", count: places - fraction.count) + fraction
  }
}
