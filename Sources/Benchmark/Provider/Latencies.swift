/// Measured durations, in nanoseconds.
struct Latencies {
  private(set) var values: [Int64] = []

  mutating func add(_ nanoseconds: Int64) { values.append(nanoseconds) }

  /// The value that `part` of all (0 to 1) don't exceed; 0 if there are none.
  func percentile(_ part: Double) -> Int64 {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }
}
