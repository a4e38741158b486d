import Broker
import PushModel

/// What came of pushes and how quickly, as metrics.
struct PushMetrics {
  private let meter: PushMeter

  init(_ meter: PushMeter) { self.meter = meter }

  var families: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_pushes_total", .counter, "Pushes by interface, outcome and reason.",
        Interface.allCases.flatMap(outcomes)),
      histogram(
        "apns_emulator_sent_seconds", "From reception until a message was handed on.", meter.sent),
      histogram(
        "apns_emulator_acknowledged_seconds",
        "From reception until the device, or the service that it was forwarded to, had it.",
        meter.acknowledged),
    ]
  }

  /// Rejections with the same word are one.
  private func outcomes(_ interface: Interface) -> [MetricFamily.Sample] {
    var samples: [MetricFamily.Sample] = []
    for (outcome, count) in meter.outcomes(interface) {
      let (word, reason) = Self.words(outcome)
      if let same = samples.firstIndex(where: { $0.labels.last?.value == reason && !reason.isEmpty }) {
        samples[same].value += Double(count)
      } else {
        samples.append(
          .init(Double(count), [("interface", interface.name), ("outcome", word), ("reason", reason)]))
      }
    }
    return samples
  }

  private static func words(_ outcome: PushMeter.Outcome) -> (outcome: String, reason: String) {
    switch outcome {
    case .accepted: ("accepted", "")
    case .rejected(let rejection): ("rejected", rejection.reason)
    case .unanswered: ("unanswered", "")
    }
  }

  private func histogram(
    _ name: String, _ help: String, _ of: (PushMeter.Path) -> LatencyHistogram
  ) -> MetricFamily {
    MetricFamily(name, .histogram, help, PushMeter.Path.allCases.flatMap { Self.series(of($0), $0) })
  }

  private static func series(_ histogram: LatencyHistogram, _ path: PushMeter.Path) -> [MetricFamily.Sample] {
    let label = ("path", "\(path)")
    var (samples, total): ([MetricFamily.Sample], UInt64) = ([], 0)
    for bucket in 0..<LatencyHistogram.boundCount {
      total += histogram.count(bucket)
      let bound = seconds(UInt64(LatencyHistogram.bound(bucket)))
      samples.append(.init(Double(total), [label, ("le", MetricFamily.number(bound))], suffix: "_bucket"))
    }
    total += histogram.count(LatencyHistogram.boundCount)
    return samples + [
      .init(Double(total), [label, ("le", "+Inf")], suffix: "_bucket"),
      .init(seconds(histogram.sum), [label], suffix: "_sum"), .init(Double(total), [label], suffix: "_count"),
    ]
  }

  private static func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }
}
