import PushModel
import Testing

@testable import Console

@Suite struct MetricsTests {
  @Test("Every family has help, type and value, and the values are those of the broker")
  func families() throws {
    let lab = ConsoleLab {
      $0.metrics = {
        [
          MetricFamily(
            "apns_emulator_connections", .gauge, "Open connections.",
            [.init(2, [("listener", "gate\"way\\\n")]), .init(0.5, [("listener", "courier")])])
        ]
      }
    }
    try lab.push(try lab.install().bytes, "{}")
    let response = try lab.ask("GET", "/metrics")
    #expect(response.field("content-type") == "text/plain; version=0.0.4; charset=utf-8")
    let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
    #expect(lines.contains("apns_emulator_notifications_stored_total 1"))
    #expect(lines.contains("# TYPE apns_emulator_notifications_stored_total counter"))
    #expect(lines.contains("apns_emulator_tokens 1"))
    #expect(lines.contains(#"apns_emulator_connections{listener="gate\"way\\\n"} 2"#))
    #expect(lines.contains(#"apns_emulator_connections{listener="courier"} 0.5"#))
    let names = lines.filter { $0.hasPrefix("# TYPE") }.map { $0.split(separator: " ")[2] }
    #expect(Set(names).count == names.count)
  }
}
