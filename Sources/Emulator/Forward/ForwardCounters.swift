import Console

/// What became of forwarded notifications, and how many there are.
struct ForwardCounters {
  var delivered = 0
  var rejected = 0
  var gone = 0
  var expired = 0
  /// Thrown away because an earlier one on their connection was rejected, or the emulator ended.
  var dropped = 0
  var retries = 0

  func metrics(waiting: Int, underWay: Int, isConnected: Bool) -> [MetricFamily] {
    let outcomes = [
      ("delivered", delivered), ("rejected", rejected), ("gone", gone), ("expired", expired),
      ("dropped", dropped),
    ]
    return [
      MetricFamily(
        "apns_emulator_forwarded_total", .counter, "Forwarded notifications by what became of them.",
        outcomes.map { .init(Double($1), [("outcome", $0)]) }),
      MetricFamily(
        "apns_emulator_forward_retries_total", .counter, "Notifications that had to be sent again.",
        value: retries),
      MetricFamily(
        "apns_emulator_forward_queue", .gauge, "Notifications that wait to be forwarded or are on their way.",
        value: waiting),
      MetricFamily(
        "apns_emulator_forward_under_way", .gauge, "Notifications whose answer is awaited.",
        value: underWay),
      MetricFamily(
        "apns_emulator_forward_connected", .gauge, "Whether there is a connection to the other service.",
        value: isConnected ? 1 : 0),
    ]
  }
}
