import Console

extension Logger {
  var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_log_lines_dropped_total", .counter, "Log lines that were left out.",
        [
          .init(Double(suppressedTotal), [("because", "rate")]),
          .init(Double(unreadTotal), [("because", "unread")]),
        ])
    ]
  }
}
