/// A length of time as people type it: `30` (seconds), `1.5s`, `500ms`, `2m`, `1h`.
struct Interval: Equatable, Sendable {
  /// Longest that is taken, in seconds: a year. It keeps the nanoseconds far from their limit.
  static let longestSeconds: Double = 366 * 86400

  let nanoseconds: Int64

  /// nil for anything else, and for a time that is negative or longer than a year.
  init?(_ text: String) {
    let units: [(suffix: String, seconds: Double)] = [
      ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("", 1),
    ]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
    let digits = text.dropLast(unit.suffix.utf8.count)
    let isDecimal = digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    guard isDecimal, let count = Double(digits), count * unit.seconds <= Self.longestSeconds else {
      return nil
    }
    nanoseconds = Int64(count * unit.seconds * 1_000_000_000)
  }

  /// Whole seconds, rounded down.
  var seconds: Int64 { nanoseconds / 1_000_000_000 }
}
