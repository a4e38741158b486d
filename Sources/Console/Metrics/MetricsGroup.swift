import Broker
import Faults
import PushModel
import Services
import Transport

/// Everything that is counted.
package struct MetricsGroup: RouteGroup {
  private let broker: Broker
  private let faults: FaultEngine
  private let eventStreams: () -> Int
  private let others: () -> [MetricFamily]

  /// `eventStreams`: how many clients watch; `others`: metrics besides those of the broker.
  package init(
    _ broker: Broker, _ faults: FaultEngine, eventStreams: @escaping () -> Int,
    others: @escaping () -> [MetricFamily]
  ) {
    (self.broker, self.faults) = (broker, faults)
    (self.eventStreams, self.others) = (eventStreams, others)
  }

  package var routes: [Route] {
    [
      .get("/metrics", "Metrics in the Prometheus text format", .answer(showMetrics))
        .vital.answers(200, "Metrics", .text(APIExamples.metrics), contentType: "text/plain")
    ]
  }

  /// `GET /metrics`, in the Prometheus text format.
  private func showMetrics(_ request: ConsoleRequest) -> HTTPResponse {
    let text =
      (brokerMetrics + broker.meter.families + faultMetrics + registryMetrics + others())
      .map(\.text).joined()
    return HTTPResponse(
      status: 200, fields: [HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
      body: Array(text.utf8)
    ).claimingNothing
  }

  private var brokerMetrics: [MetricFamily] {
    broker.counters.all.map { name, help, value in
      MetricFamily("apns_emulator_notifications_\(name)_total", .counter, help, value: value)
    }
  }

  private var faultMetrics: [MetricFamily] {
    let injections = faults.injections
    let samples = FaultEffects.names.flatMap { name -> [MetricFamily.Sample] in
      guard let count = injections[name] else { return [] }
      return [("rule", count.byRule), ("token", count.byToken)].filter { $0.1 > 0 }.map {
        MetricFamily.Sample(Double($0.1), [("effect", name), ("by", $0.0)])
      }
    }
    let rules = faults.rules.map {
      MetricFamily.Sample(Double($0.hits), [("rule", $0.name)])
    }
    return [
      MetricFamily(
        "apns_emulator_fault_strikes_total", .counter, "Effects of faults that were carried out.", samples),
      MetricFamily(
        "apns_emulator_fault_rule_hits", .gauge,
        "How often each rule has injected its fault since it was set.", rules),
    ]
  }

  private var registryMetrics: [MetricFamily] {
    let registry = broker.registry
    func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) -> MetricFamily {
      MetricFamily("apns_emulator_\(name)", .gauge, help, value: value)
    }
    return [
      gauge("devices", "Devices that have been seen.", registry.deviceCount),
      gauge("devices_online", "Devices that are connected.", registry.onlineCount),
      gauge("tokens", "Rows of the token map, including those that are gone.", registry.registrationCount),
      gauge("chosen_tokens", "Custom device tokens.", registry.customCount),
      MetricFamily(
        "apns_emulator_token_adoptions_refused_total", .counter,
        "Unknown tokens that were not registered at their first push because there are too many.",
        value: broker.apps.refusedAdoptions),
      gauge("topics", "Topics that are known.", registry.topicCount),
      gauge(
        "feedback_entries", "Entries that wait to be read from the feedback service.", broker.feedback.count),
      gauge(
        "history_notifications", "Notifications in the history.",
        broker.journal.nextId - broker.journal.firstId),
      gauge("event_streams", "Clients of the event stream.", eventStreams()),
    ]
  }
}

extension BrokerCounters {
  /// Each with its name and what it counts.
  var all: [(name: String, help: String, value: UInt64)] {
    [
      ("received", "Notifications received.", received),
      ("accepted", "Notifications that were accepted.", accepted),
      ("rejected", "Notifications that were rejected.", rejected),
      ("stored", "Notifications stored for a device that was offline.", stored),
      ("sent", "Messages handed to a device's connection.", sent),
      ("delivered", "Messages acknowledged by a device.", delivered),
      ("replaced", "Stored notifications replaced by a newer one.", replaced),
      ("expired", "Stored notifications that expired.", expired),
      ("discarded", "Notifications that were neither sent nor stored.", discarded),
    ]
  }
}

/// What came of pushes and how quickly, as metrics.
extension PushMeter {
  fileprivate var families: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_pushes_total", .counter, "Pushes by interface, outcome and reason.",
        Interface.allCases.flatMap(samples)),
      histogram(
        "apns_emulator_sent_seconds", "From reception until a message was handed on.", sent),
      histogram(
        "apns_emulator_acknowledged_seconds",
        "From reception until the device, or the service that it was forwarded to, had it.",
        acknowledged),
    ]
  }

  /// Rejections with the same word are one.
  private func samples(_ interface: Interface) -> [MetricFamily.Sample] {
    var samples: [MetricFamily.Sample] = []
    for (outcome, count) in outcomes(interface) {
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

  private static func words(_ outcome: Outcome) -> (outcome: String, reason: String) {
    switch outcome {
    case .accepted: ("accepted", "")
    case .rejected(let rejection): ("rejected", rejection.reason)
    case .unanswered: ("unanswered", "")
    }
  }

  private func histogram(
    _ name: String, _ help: String, _ of: (Path) -> LatencyHistogram
  ) -> MetricFamily {
    MetricFamily(name, .histogram, help, Path.allCases.flatMap { Self.series(of($0), $0) })
  }

  private static func series(_ histogram: LatencyHistogram, _ path: Path) -> [MetricFamily.Sample] {
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
