import Phone
import PushModel
import Testing

/// Budgets of `Documentation/device-behaviour.md#tokens-and-push-types`; the numbers are our choice.
@Suite("Budgets of Live Activities, controls and widgets")
struct BudgetTests {
  private static let changed = #"{"aps":{"content-changed":true}}"#
  private static let update = #"{"aps":{"event":"update","content-state":{}}}"#

  private static func running() -> Lab {
    var lab = Lab(IOSVersion(26), state: .foreground)
    _ = lab.order(#"{"do":"activity","topic":"com.example.app","attributesType":"Game"}"#)
    return lab
  }

  /// How many of so many pushes are not dropped.
  private static func taken(_ lab: inout Lab, _ count: Int, priority: Priority = .immediate) -> Int {
    (1...count).count { _ in
      let events = lab.receive(payload: update, .liveactivity, priority: priority)
      #expect(events.first?.rule == .liveActivity)
      return !events.has(.dropped, .activityBudget)
    }
  }

  @Test("priority 10: 30 at once and one more every 2 minutes; with frequent updates 100 and 36 seconds")
  func activities() {
    for (isFrequent, most, seconds) in [(false, 30, Int64(120)), (true, 100, 36)] {
      var lab = Self.running()
      _ = lab.set(#"{"frequentUpdates":\#(isFrequent)}"#)
      #expect(lab.document("apps/com.example.app/budgets") == "{}")
      #expect(Self.taken(&lab, most + 5) == most)
      let name = isFrequent ? "liveactivity-frequent" : "liveactivity"
      #expect(lab.document("apps/com.example.app/budgets/\(name)/left") == "0")
      #expect(lab.document("apps/com.example.app/budgets/\(name)/of") == "\(most)")
      _ = lab.wait(seconds: seconds - 1)
      #expect(Self.taken(&lab, 1) == 0)
      _ = lab.wait(seconds: 1)
      #expect(Self.taken(&lab, 2) == 1)
      _ = lab.wait(minutes: 1440)
      #expect(lab.document("apps/com.example.app/budgets") == "{}" && Self.taken(&lab, most + 1) == most)
    }
  }

  @Test("priority 5 uses none, and goes through when there is none left")
  func conserving() {
    var lab = Self.running()
    #expect(Self.taken(&lab, 50, priority: .conserving) == 50)
    #expect(Self.taken(&lab, 31) == 30 && Self.taken(&lab, 3, priority: .conserving) == 3)
  }

  @Test("what is dropped changes nothing")
  func dropped() {
    var lab = Self.running()
    _ = Self.taken(&lab, 30)
    let before = lab.document("screen/activities/0")
    let end = #"{"aps":{"event":"end","content-state":{"score":9}}}"#
    #expect(
      lab.receive(payload: end, .liveactivity).story == [
        "handed-over live-activity", "dropped activity-budget",
      ])
    #expect(lab.document("screen/activities/0") == before)
  }

  @Test(
    "controls and widgets: each 40 at once and one more every 36 minutes",
    arguments: [PushType.controls, .widgets])
  func reloads(type: PushType) {
    var lab = Lab(IOSVersion(26))
    let other = type == .controls ? PushType.widgets : .controls
    for _ in 1...40 { #expect(lab.receive(payload: Self.changed, type).first?.what == .handedOver(type)) }
    #expect(lab.receive(payload: Self.changed, type).story == ["dropped reload-budget"])
    #expect(lab.receive(payload: Self.changed, other).first?.what == .handedOver(other))
    #expect(lab.receive(payload: "{}", type).story == ["dropped not-changed"])
    _ = lab.wait(minutes: 35)
    #expect(lab.receive(payload: Self.changed, type).story == ["dropped reload-budget"])
    _ = lab.wait(minutes: 1)
    #expect(lab.receive(payload: Self.changed, type).first?.what == .handedOver(type))
    #expect(lab.receive(payload: Self.changed, type).story == ["dropped reload-budget"])
  }

  @Test("a budget is of one app, and of one install")
  func ofApp() {
    var lab = Lab(IOSVersion(26))
    let other = Topic("com.example.other") ?? Lab.topic
    lab.phone.install(PhoneApp(other))
    for _ in 1...40 { _ = lab.receive(payload: Self.changed, .widgets) }
    #expect(lab.receive(payload: Self.changed, .widgets, topic: other).first?.what == .handedOver(.widgets))
    lab.phone.install(PhoneApp(Lab.topic))
    #expect(lab.receive(payload: Self.changed, .widgets).first?.what == .handedOver(.widgets))
  }
}
