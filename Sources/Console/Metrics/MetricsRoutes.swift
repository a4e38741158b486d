import Broker
import Faults
import PushModel
import Transport

extension Console {
  /// `GET /metrics`, in the Prometheus text format.
  func showMetrics(_ request: ConsoleRequest) throws -> HTTPResponse {
    let text =
      (brokerMetrics + PushMetrics(broker.meter).families + faultMetrics + registryMetrics + context.metrics())
      .map(\.text).joined()
    return HTTPResponse(
      status: 200, fields: [HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
      body: Array(text.utf8)
    ).claimingNothing
  }

  private var brokerMetrics: [MetricFamily] {
    let totals = broker.counters
    func counter(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
      MetricFamily("apns_emulator_notifications_\(name)_total", .counter, help, value: value)
    }
    return [
      counter("received", "Notifications that came in.", totals.received),
      counter("accepted", "Notifications that were accepted.", totals.accepted),
      counter("rejected", "Notifications that were rejected.", totals.rejected),
      counter("stored", "Notifications stored for a device that was offline.", totals.stored),
      counter("sent", "Messages handed to a device's connection.", totals.sent),
      counter("delivered", "Messages acknowledged by a device.", totals.delivered),
      counter("replaced", "Stored notifications replaced by a newer one.", totals.replaced),
      counter("expired", "Stored notifications whose time ran out.", totals.expired),
      counter("discarded", "Notifications that were neither sent nor stored.", totals.discarded),
    ]
  }

  private var faultMetrics: [MetricFamily] {
    let injections = context.faults?.injections ?? [:]
    let samples = FaultEffects.names.flatMap { name -> [MetricFamily.Sample] in
      guard let count = injections[name] else { return [] }
      return [("rule", count.byRule), ("token", count.byToken)].filter { $0.1 > 0 }.map {
        MetricFamily.Sample(Double($0.1), [("effect", name), ("by", $0.0)])
      }
    }
    let rules = (context.faults?.rules ?? []).map {
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
    return [
      MetricFamily(
        "apns_emulator_devices", .gauge, "Devices that have been seen.", value: registry.deviceCount),
      MetricFamily(
        "apns_emulator_devices_online", .gauge, "Devices that are connected.",
        value: registry.onlineCount),
      MetricFamily(
        "apns_emulator_tokens", .gauge, "Rows of the token map, gone ones included.",
        value: registry.registrationCount),
      MetricFamily(
        "apns_emulator_chosen_tokens", .gauge, "Device tokens that somebody chose, and was not given.",
        value: registry.customCount),
      MetricFamily(
        "apns_emulator_token_adoptions_refused_total", .counter,
        "Unknown tokens that were not registered at their first push because there are too many.",
        value: broker.apps.refusedAdoptions),
      MetricFamily("apns_emulator_topics", .gauge, "Topics that are known.", value: registry.topicCount),
      MetricFamily(
        "apns_emulator_feedback_entries", .gauge, "Entries that wait to be read from the feedback service.",
        value: broker.feedback.count),
      MetricFamily(
        "apns_emulator_history_notifications", .gauge, "Notifications in the history.",
        value: broker.journal.nextId - broker.journal.firstId),
      MetricFamily(
        "apns_emulator_event_streams", .gauge, "Clients of the event stream.",
        value: (merged?.pump ?? eventPump).streamCount),
    ]
  }
}
