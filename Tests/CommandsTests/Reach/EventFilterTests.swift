import Testing
import Transport

import Commands

@Suite("Which events tail tells")
struct EventFilterTests {
  private static let events: [String: EventStreamReader.Event] = [
    "push": event(
      "notification", #"{"notification":{"topic":"com.example.app","udid":"phone-1","payload":{}}}"#),
    "delivery": event("delivery", #"{"id":1,"topic":"com.example.app","udid":"phone-2"}"#),
    "unknown token": event("notification", #"{"notification":{"topic":"com.example.app","udid":null}}"#),
    "row": event("token", #"{"change":"issued","row":{"topic":"com.example.other","udid":"phone-1"}}"#),
    "phone": event("device", #"{"udid":"phone-1","change":"connected"}"#),
    "console": event("connection", #"{"change":"opened","listener":"console"}"#),
    "gateway": event("connection", #"{"change":"opened","listener":"gateway"}"#),
    "shown": event("presented", #"{"topic":"com.example.third","udid":"phone-3"}"#),
    "held": event("phone", #"{"change":"held","topic":"com.example.third","udid":"phone-3"}"#),
    "screen": event("phone", #"{"change":"document","udid":"phone-3"}"#),
    "boot": event("boot", #"{"boot":"1"}"#),
    "fault": event("fault", #"{"name":"mine"}"#),
    "finding": event("advice", #"{"id":"no-push-type","severity":"warning"}"#),
    "gap": event("gap", #"{"event":"gap","missed":5}"#),
  ]

  private static func event(_ name: String, _ data: String) -> EventStreamReader.Event {
    EventStreamReader.Event(name: name, data: data)
  }

  private static func told(_ filter: EventFilter) -> Set<String> {
    Set(events.filter { filter.passes($0.value) }.keys)
  }

  @Test("everything but the console's connections and the run's name, unless asked")
  func standard() {
    #expect(Self.told(EventFilter()) == Set(Self.events.keys).subtracting(["console", "screen", "boot"]))
  }

  @Test("only the kinds that are named, and whether events were missed")
  func names() {
    #expect(Self.told(EventFilter(names: [.notification])) == ["push", "unknown token", "gap"])
    #expect(Self.told(EventFilter(names: [.connection, .fault])) == ["console", "gateway", "fault", "gap"])
    #expect(Self.told(EventFilter(names: [.advice])) == ["finding", "gap"])
    #expect(Self.told(EventFilter(names: [.phone])) == ["held", "screen", "gap"])
    #expect(Self.told(EventFilter(udids: ["phone-3"])) == ["shown", "held", "gap"])
    #expect(Self.told(EventFilter(names: Set(EventFilter.Name.allCases))) == Set(Self.events.keys))
  }

  @Test("what a topic or a device is named in, and nothing that has none")
  func subjects() {
    #expect(
      Self.told(EventFilter(topics: ["com.example.app"])) == ["push", "delivery", "unknown token", "gap"])
    #expect(Self.told(EventFilter(udids: ["phone-1"])) == ["push", "row", "phone", "gap"])
    #expect(Self.told(EventFilter(topics: ["com.example.app"], udids: ["phone-1"])) == ["push", "gap"])
    #expect(
      Self.told(EventFilter(udids: ["phone-1", "phone-2"])) == ["push", "delivery", "row", "phone", "gap"])
  }

  @Test("what can't be read is told")
  func unreadable() {
    #expect(EventFilter(topics: ["a"]).passes(Self.event("notification", "{")))
    #expect(EventFilter().passes(Self.event("invented", "{}")))
  }
}
