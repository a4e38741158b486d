import Basics
import Phone
import Testing

/// How long a Live Activity lasts, who may start it and who may not (`Documentation/device-behaviour.md#tokens-and-push-types`).
@Suite("The life of Live Activities")
struct ActivityLifeTests {
  private static let run = #"{"do":"activity","topic":"com.example.app","attributesType":"Game"}"#
  private static let update = #"{"aps":{"event":"update","timestamp":1600000001,"content-state":{}}}"#

  private static func start(_ more: String = "") -> String {
    #"{"aps":{"event":"start","timestamp":1600000000,"attributes-type":"Game","attributes":{},"content-state":{},"alert":{"title":"T"}\#(more)}}"#
  }

  /// One that its app has started.
  private static func running() -> Lab {
    var lab = Lab(state: .foreground)
    _ = lab.order(run)
    return lab
  }

  private static func ids(_ lab: Lab) -> [String] {
    (0..<3).map { lab.document("screen/activities/\($0)/id") }.filter { $0 != "nothing" }
  }

  @Test("the system ends it after 8 hours, updates or not, and 4 hours later it goes")
  func expires() {
    var lab = Self.running()
    _ = lab.wait(minutes: 7 * 60)
    _ = lab.receive(payload: Self.update, .liveactivity)
    #expect(lab.wait(minutes: 59).isEmpty)
    #expect(lab.wait(minutes: 1).story == ["activity activity-expired"])
    #expect(lab.document("screen/activities/0/state") == #""ended""#)
    #expect(lab.phone.wantedTokens.isEmpty && lab.document("screen/island") == "null")
    #expect(lab.receive(payload: Self.update, .liveactivity).has(.dropped, .activityUnknown))
    #expect(lab.wait(minutes: 239).isEmpty)
    #expect(lab.wait(minutes: 1).story == ["activity activity-dismissed"])
    #expect(lab.document("screen/activities") == "[]" && lab.phone.nextMoment == nil)
  }

  @Test("one that was ended before is not ended again")
  func ended() {
    var lab = Self.running()
    _ = lab.wait(minutes: 7 * 60)
    _ = lab.receive(payload: #"{"aps":{"event":"end","timestamp":1600000002}}"#, .liveactivity)
    #expect(lab.wait(minutes: 239).isEmpty)
    #expect(lab.wait(minutes: 1).story == ["activity activity-dismissed"])
  }

  @Test("the user may take it away, whether it runs or has ended", arguments: [false, true])
  func removed(isEnded: Bool) {
    var lab = Self.running()
    if isEnded { _ = lab.receive(payload: #"{"aps":{"event":"end","timestamp":1600000002}}"#, .liveactivity) }
    let events = lab.order(#"{"do":"remove-activity","activity":"activity-1"}"#)
    #expect(events.has(.activity(.dismissed), .activityRemoved) && events.count == 1)
    #expect(lab.document("screen/activities") == "[]" && lab.phone.wantedTokens.isEmpty)
    #expect(lab.phone.nextMoment == nil)
    #expect(lab.receive(payload: Self.update, .liveactivity).has(.dropped, .activityUnknown))
    #expect(
      lab.refusal(#"{"do":"remove-activity","activity":"activity-1"}"#)
        == "absent: there is no Live Activity \"activity-1\" on the phone; there is none")
  }

  @Test("switched off for the app none starts, by itself or by a push, and what runs goes")
  func denied() {
    var lab = Self.running()
    let off = lab.set(#"{"permission":{"liveActivities":false}}"#)
    #expect(off.has(.activity(.dismissed), .activityDenied) && lab.document("screen/activities") == "[]")
    #expect(lab.order(Self.run).story == ["dropped activity-denied"])
    #expect(lab.receive(payload: Self.start(), .liveactivity).story == ["dropped activity-denied"])
    #expect(lab.receive(#"{"alert":"Hello"}"#).has(.callback(.willPresent), .foregroundAsks))
    _ = lab.set(#"{"permission":{"liveActivities":true}}"#)
    #expect(lab.order(Self.run).has(.activity(.active), .activityByApp))
  }

  @Test("without More Frequent Updates an app that is built for them has the smaller budget")
  func frequent() {
    for (isAllowed, most) in [(true, "100"), (false, "30")] {
      var lab = Self.running()
      _ = lab.set(#"{"frequentUpdates":true,"permission":{"moreFrequentUpdates":\#(isAllowed)}}"#)
      _ = lab.receive(payload: Self.update, .liveactivity)
      let name = isAllowed ? "liveactivity-frequent" : "liveactivity"
      #expect(lab.document("apps/com.example.app/budgets/\(name)/of") == most)
    }
  }

  @Test(
    "the most relevant is first and in the Dynamic Island; of the same relevance the one that started first")
  func relevance() {
    var lab = Lab()
    for score in ["", #","relevance-score":50"#, #","relevance-score":100"#] {
      _ = lab.receive(payload: Self.start(score), .liveactivity)
    }
    #expect(Self.ids(lab) == [#""activity-3""#, #""activity-2""#, #""activity-1""#])
    #expect(lab.document("screen/island") == #""activity-3""#)
    let more = #"{"aps":{"event":"update","timestamp":1600000001,"content-state":{},"relevance-score":100}}"#
    _ = lab.receive(payload: more, .liveactivity, to: .context(.activity(id: "activity-2")))
    #expect(Self.ids(lab).first == #""activity-2""#)
    let end = #"{"aps":{"event":"end","timestamp":1600000002,"relevance-score":100}}"#
    _ = lab.receive(payload: end, .liveactivity, to: .context(.activity(id: "activity-2")))
    #expect(Self.ids(lab).first == #""activity-2""# && lab.document("screen/island") == #""activity-3""#)
  }

  @Test(
    "an app starts one in the foreground, or by a LiveActivityIntent since iOS 17",
    arguments: [
      (IOSVersion(18), AppState.foreground, false, true), (IOSVersion(18), .background, false, false),
      (IOSVersion(18), .suspended, true, true), (IOSVersion(17), .terminated, true, true),
      (IOSVersion(16, 4), .suspended, true, false), (IOSVersion(16, 4), .foreground, true, true),
    ])
  func seen(version: IOSVersion, state: AppState, byIntent: Bool, starts: Bool) {
    var lab = Lab(version, state: state)
    let events = lab.order(
      #"{"do":"activity","topic":"com.example.app","attributesType":"Game","intent":\#(byIntent)}"#)
    #expect(events.has(.activity(.active), .activityByApp) == starts)
    #expect(events.has(.dropped, .activityNotSeen) == !starts)
  }

  @Test(
    "a start push wakes the app, or launches it, before its token comes; not after a force-quit",
    arguments: [
      (AppState.suspended, PhoneEvent.What.woken), (.terminated, .launched), (.foreground, nil),
      (.background, nil), (.forceQuit, nil),
    ] as [(AppState, PhoneEvent.What?)])
  func wakes(state: AppState, expected: PhoneEvent.What?) {
    var lab = Lab(state: state)
    let events = lab.receive(payload: Self.start(#","input-push-token":1"#), .liveactivity)
    let woken = events.filter { $0.rule == .activityWakes }.map(\.what)
    #expect(woken == (expected.map { [$0] } ?? []))
    #expect(events.last?.rule == .activityToken)
    #expect(events.has(.noCallback, .activityForceQuit) == (state == .forceQuit))
    #expect(lab.app.state == (expected == nil ? state : .suspended))
  }
}
