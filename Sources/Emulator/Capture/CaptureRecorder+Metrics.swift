import Console

extension CaptureRecorder {
  var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_capture_bytes_total", .counter, "Bytes written to the capture.", value: report.bytes),
      MetricFamily(
        "apns_emulator_capture_lost_total", .counter, "Notifications that the capture could not hold.",
        value: report.lost),
      MetricFamily(
        "apns_emulator_capture_suspended", .gauge, "1 while the capture can't be written.",
        value: report.failure == nil ? 0 : 1),
    ]
  }
}
