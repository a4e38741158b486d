import Basics
import Phone
import Testing

/// The texts of a Live Activity's alert (`Documentation/device-behaviour.md#live-activities`).
@Suite("Alerts of Live Activities")
struct ActivityAlertTests {
  @Test("title and body may be named in the app's strings, with their arguments")
  func localized() {
    var lab = Lab()
    _ = lab.set(#"{"strings":{"en":{"GOAL":"Goal for %@","SCORE":"%2$@ to %1$@"}}}"#)
    let alert =
      #"{"title":{"loc-key":"GOAL","loc-args":["Ada"]},"body":{"loc-key":"SCORE","loc-args":["1","2"]},"sound":"chime.aiff"}"#
    let start =
      #"{"aps":{"event":"start","timestamp":1,"attributes-type":"Game","attributes":{},"content-state":{},"alert":\#(alert)}}"#
    let events = lab.receive(payload: start, .liveactivity)
    #expect(lab.document("screen/activities/0/alert") == #"{"title":"Goal for Ada","body":"2 to 1"}"#)
    #expect(events.has(.sound(.file("chime.aiff")), .sound))
    // An ordinary notification knows no such thing.
    #expect(PushContent(Array(#"{"aps":{"alert":{"title":{"loc-key":"GOAL"}}}}"#.utf8)).title == nil)
  }
}
