import Basics
import Broker
import Faults
import Services
import Testing

import Console

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

  private func metrics(_ lab: ConsoleLab) throws -> PrometheusText {
    try PrometheusText(String(decoding: try lab.ask("GET", "/metrics").body, as: UTF8.self))
  }

  @Test("Pushes are counted by interface, outcome and reason; words that several rejections share are one")
  func pushes() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    for _ in 0..<3 { try lab.push(token.bytes, "{}", interface: .provider) }
    for _ in 0..<2 { try lab.push([1], "{}") }
    let metrics = try metrics(lab)
    let name = "apns_emulator_pushes_total"
    #expect(metrics.types[name] == "counter")
    for (interface, count) in [("gateway", 0), ("provider", 3), ("console", 0)] {
      let labels = ["interface": interface, "outcome": "accepted", "reason": ""]
      #expect(metrics.value(name, labels) == Double(count))
    }
    let rejected = ["interface": "gateway", "outcome": "rejected", "reason": "BadDeviceToken"]
    #expect(metrics.value(name, rejected) == 2)
    #expect(metrics.samples.count { $0.name == name } == 4)
  }

  @Test("Durations are histograms in seconds, by the way that messages went")
  func durations() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    let phone = try lab.connect()
    lab.broker.meter.instant = 5_000_000_000
    try lab.push(token.bytes, "{}")
    lab.broker.meter.instant += 250_000_000
    lab.broker.deliveries.acknowledge(phone.link, messageId: phone.messageIds[0], status: 0, now: lab.now)
    let metrics = try metrics(lab)
    for family in ["apns_emulator_sent_seconds", "apns_emulator_acknowledged_seconds"] {
      for path in ["direct", "kept", "forwarded"] { try metrics.checkHistogram(family, ["path": path]) }
    }
    let name = "apns_emulator_acknowledged_seconds"
    #expect(metrics.value(name + "_count", ["path": "direct"]) == 1)
    #expect(metrics.value(name + "_sum", ["path": "direct"]) == 0.25)
    #expect(metrics.value(name + "_bucket", ["path": "direct", "le": "0.134217728"]) == 0)
    #expect(metrics.value(name + "_bucket", ["path": "direct", "le": "0.268435456"]) == 1)
    #expect(metrics.value(name + "_count", ["path": "kept"]) == 0)
  }

  @Test("Injected faults are counted by what they do and who asked for it, and by rule")
  func injections() throws {
    let engine = FaultEngine(seed: 1)
    let lab = ConsoleLab { $0.faults = engine }
    let rule = #"{"name":"slow","effect":{"delayMs":5,"reason":"Shutdown"}}"#
    #expect(try lab.ask("POST", "/api/v1/faults", json: rule).status == 201)
    for _ in 0..<3 { _ = engine.decide(FaultPoint(.push, at: .gateway), now: lab.now) }
    var magic = FaultPoint(.push, at: .gateway)
    magic.word = "!BadTopic"
    _ = engine.decide(magic, now: lab.now)
    let metrics = try metrics(lab)
    let name = "apns_emulator_fault_strikes_total"
    #expect(metrics.value(name, ["effect": "delay", "by": "rule"]) == 3)
    #expect(metrics.value(name, ["effect": "reason", "by": "rule"]) == 3)
    #expect(metrics.value(name, ["effect": "reason", "by": "token"]) == 1)
    #expect(metrics.samples.count { $0.name == name } == 3)
    #expect(metrics.value("apns_emulator_fault_rule_hits", ["rule": "slow"]) == 3)
  }
}
