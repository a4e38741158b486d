import Testing
import Transport

import Commands

@Suite("Event lines")
struct EventLineTests {
  private static func line(_ name: String, _ data: String) -> String {
    EventLine.text(EventStreamReader.Event(name: name, data: data))
  }

  @Test("a rejected notification is told with its reason and payload")
  func notification() {
    let data = #"""
      {"event":"notification","at":"2026-01-02T03:04:05.678Z","notification":{"id":17,"interface":"gateway",
       "topic":"com.example.app","udid":null,"token":"00112233445566778899aabbccddeeff","state":"rejected",
       "payload":{"aps":{}},"verdict":{"accepted":false,"reason":"BadDeviceToken"}}}
      """#
    #expect(
      Self.line("notification", data)
        == "03:04:05.678  notification  #17  gateway  com.example.app  0011223344556677…  rejected  BadDeviceToken"
        + #"  {"aps":{}}"#)
  }

  @Test("a notification that a fault left without an answer is told with the fault")
  func unanswered() {
    let data = #"""
      {"at":"2026-01-02T03:04:05.678Z","notification":{"id":17,"state":"rejected",
       "verdict":{"accepted":false,"status":null,"reason":null,"fault":{"name":"mine","effect":{"reset":true}}}}}
      """#
    #expect(
      Self.line("notification", data)
        == "03:04:05.678  notification  #17  rejected  no answer, fault mine")
  }

  @Test("what a phone does is told with where and why")
  func phone() {
    let data = #"""
      {"event":"presented","at":"2026-01-02T03:04:05.678Z","udid":"phone-1","topic":"a.b","detail":"list",
       "rule":"passive","evidence":"A","reason":"to the list","notificationId":1}
      """#
    #expect(Self.line("presented", data) == "03:04:05.678  presented     phone-1  a.b  list  to the list")
  }

  @Test("a row of the token table is told with what changed")
  func token() {
    let data =
      #"{"event":"token","at":"2026-01-02T03:04:05.678Z","change":"gone","row":{"udid":"phone-1","topic":"a.b","state":"gone"}}"#
    #expect(Self.line("token", data) == "03:04:05.678  token         gone  phone-1  a.b  gone")
  }

  @Test("a finding is told with its severity, its kind and what was seen")
  func advice() {
    let data = #"""
      {"event":"advice","at":"2026-01-02T03:04:05.678Z","id":"no-push-type","severity":"warning","sentence":"It was seen.",
       "remedy":"Say it.","provider":{"interface":"gateway","credential":"x","peer":"y"}}
      """#
    #expect(Self.line("advice", data) == "03:04:05.678  advice        warning  no-push-type  It was seen.")
  }

  @Test("a payload that is nested deeply is told as any other")
  func depth() {
    let payload = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
    let data = #"{"at":"2026-01-02T03:04:05.678Z","notification":{"id":17,"payload":\#(payload)}}"#
    #expect(Self.line("notification", data) == "03:04:05.678  notification  #17  " + payload)
  }

  @Test("a payload can't drive the terminal")
  func controlCharacters() {
    let data = #"{"at":"","notification":{"payload":{"a":"\u009b2J\u202e"}}}"#
    let line = Self.line("notification", data)
    #expect(line.contains("\u{fffd}2J\u{fffd}"))
    #expect(!line.unicodeScalars.contains("\u{9b}"))
  }

  @Test("on a terminal the time is faint and what was refused is red")
  func color() {
    let data =
      #"{"at":"2026-01-02T03:04:05.678Z","notification":{"id":17,"state":"rejected","payload":"\u001b[0m"}}"#
    let event = EventStreamReader.Event(name: "notification", data: data)
    #expect(
      EventLine.text(event, isColored: true)
        == "\u{1b}[2m03:04:05.678\u{1b}[0m  \u{1b}[31mnotification\u{1b}[0m  #17  rejected  \"\\u001b[0m\"")
  }

  @Test("what is not JSON is passed on")
  func other() {
    #expect(Self.line("odd", "what is this") == "what is this")
  }
}
