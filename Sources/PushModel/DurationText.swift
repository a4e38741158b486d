/// Reads durations as people write them: `61m`, `1h30m`, `500ms`, `-2d`.
public enum DurationText {
  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("ms", 1_000_000), ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000),
  ]

  /// Nanoseconds; nil for anything else and for more than 64 bits hold.
  public static func nanoseconds(_ text: String) -> Int64? {
    var rest = text[...]
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest.removeFirst() }
    guard !rest.isEmpty else { return nil }
    var total: Int64 = 0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      guard let count = Int64(digits), let unit = units.first(where: { rest.hasPrefix($0.name) }) else {
        return nil
      }
      rest = rest.dropFirst(unit.name.count)
      let (product, overflows) = count.multipliedReportingOverflow(by: unit.nanoseconds)
      let (sum, overflowsToo) = total.addingReportingOverflow(product)
      guard !overflows, !overflowsToo else { return nil }
      total = sum
    }
    return isNegative ? -total : total
  }
}
