import Basics
import SimulatedDevice
import Testing

@Suite("Percentiles of many durations")
struct LatencySketchTests {
  @Test("none are known before anything was measured")
  func empty() {
    let sketch = LatencySketch()
    #expect(sketch.percentile(0.5) == nil)
    #expect(sketch.count == 0 && sketch.longest == 0)
  }

  @Test("short ones are exact")
  func exact() {
    var sketch = LatencySketch()
    for duration in 1...50 { sketch.add(Int64(duration)) }
    #expect(sketch.percentile(0.5) == 25)
    #expect(sketch.percentile(0.98) == 49)
    #expect(sketch.percentile(1) == 50)
  }

  @Test("others are at most 3 % more than what sorting would say, and the longest is exact")
  func close() throws {
    var sketch = LatencySketch()
    var random = SeededChoices(seed: 7)
    var durations: [Int64] = []
    for power in 3..<40 {
      for _ in 0..<50 { durations.append(1 << power + random.whole(upTo: 1 << power)) }
    }
    for duration in durations { sketch.add(duration) }
    durations.sort()
    for part in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
      let exact = durations[max(0, Int((Double(durations.count) * part).rounded(.up)) - 1)]
      let estimate = try #require(sketch.percentile(part))
      #expect(estimate >= exact && Double(estimate) <= Double(exact) * 1.032, "\(part)")
    }
    #expect(sketch.longest == durations.last)
    #expect(sketch.percentile(1) == durations.last)
  }

  @Test("the ends of the number are no trap")
  func ends() {
    var sketch = LatencySketch()
    sketch.add(.min)
    sketch.add(.max)
    #expect(sketch.percentile(0.5) == 0)
    #expect(sketch.percentile(1) == .max)
  }
}
