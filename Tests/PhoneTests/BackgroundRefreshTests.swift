import Basics
import Phone
import Testing

/// Background App Refresh, the budget of a day and what ends an app (`Documentation/device-behaviour.md#silent-push`).
@Suite("Background App Refresh and the budget of a day")
struct BackgroundRefreshTests {
  private static let silent = #"{"content-available":1}"#
  private static let alert = #"{"alert":"Hello","content-available":1}"#

  /// With the budget of an hour used up, and one held.
  private static func holding(_ state: AppState = .suspended) -> Lab {
    var lab = Lab(state: state)
    for _ in 0..<4 { _ = lab.receive(silent) }
    return lab
  }

  @Test(
    "off for the phone or for the app: nobody is woken, and an alert shows all the same",
    arguments: [
      #""backgroundRefresh":false"#, #""apps":{"com.example.app":{"backgroundRefresh":false}}"#,
    ])
  func off(setting: String) {
    for state in [AppState.background, .suspended, .terminated] {
      var lab = Lab(state: state)
      _ = lab.order(#"{"do":"settings",\#(setting)}"#)
      #expect(lab.receive(Self.silent).story == ["dropped refresh-off"])
      let alert = lab.receive(Self.alert)
      #expect(alert.shown != nil && alert.has(.noCallback, .refreshOff) && alert.calls == "none")
      #expect(lab.app.silentBudget == 3)
    }
    var open = Lab(state: .foreground)
    _ = open.order(#"{"do":"settings",\#(setting)}"#)
    #expect(open.receive(Self.silent).calls == "M3")
  }

  @Test("both settings are to be seen, and on at first")
  func settings() {
    var lab = Lab()
    #expect(lab.document("settings/backgroundRefresh") == "true")
    #expect(lab.document("apps/com.example.app/backgroundRefresh") == "true")
    _ = lab.set(#"{"backgroundRefresh":false}"#)
    #expect(lab.document("settings/backgroundRefresh") == "true")
    #expect(lab.document("apps/com.example.app/backgroundRefresh") == "false")
  }

  @Test("Low Power Mode holds the newest until it ends, or until the app is opened")
  func lowPower() {
    for isOpened in [false, true] {
      var lab = Lab()
      _ = lab.order(#"{"do":"settings","lowPower":true}"#)
      #expect(lab.receive(Self.silent).has(.held, .refreshLowPower))
      #expect(lab.receive(Self.silent).map(\.what) == [.merged, .held])
      #expect(lab.receive(Self.alert).has(.noCallback, .refreshLowPower))
      #expect(lab.phone.nextMoment == nil && lab.wait(minutes: 24 * 60).isEmpty)
      let later =
        isOpened
        ? lab.order(#"{"do":"open","topic":"com.example.app"}"#)
        : lab.order(#"{"do":"settings","lowPower":false}"#)
      #expect(later.has(.callback(.fetch), .silentReleased) && later.callbacks.count == 1)
    }
  }

  @Test("Low Power Mode came with iOS 9", arguments: [8, 9])
  func lowPowerSince(version: Int) {
    var lab = Lab(IOSVersion(version))
    _ = lab.order(#"{"do":"settings","lowPower":true}"#)
    #expect(lab.receive(Self.silent).has(.held, .refreshLowPower) == (version == 9))
  }

  @Test("what is held comes as soon as the app may refresh again")
  func heldUntilTheAppMay() {
    var lab = Self.holding()
    _ = lab.set(#"{"backgroundRefresh":false}"#)
    #expect(lab.wait(minutes: 60).isEmpty)
    let later = lab.set(#"{"backgroundRefresh":true}"#)
    #expect(later.has(.callback(.fetch), .silentReleased) && later.callbacks.count == 1)
  }

  @Test("48 wake-ups a day, as often as the budget of an hour has some; what is held comes the next day")
  func day() {
    var lab = Lab()
    // Lab begins at 12:26:40 UTC: this is the midnight after it.
    _ = lab.wait(seconds: 11 * 3600 + 33 * 60 + 20)
    for count in 1...48 {
      #expect(lab.receive(Self.silent).calls == "M3", "the \(count)th")
      _ = lab.wait(minutes: 20)
    }
    #expect(lab.document("apps/com.example.app/silentBudget/leftToday") == "0")
    #expect(lab.document("apps/com.example.app/silentBudget/ofToday") == "48")
    #expect(lab.receive(Self.silent).has(.held, .silentDay))
    // It is 16:00.
    #expect(lab.wait(minutes: 8 * 60 - 1).isEmpty)
    #expect(lab.wait(minutes: 1).calls == "M3")
    #expect(lab.document("apps/com.example.app/silentBudget/leftToday") == "47")
  }

  @Test("no budget while Xcode runs the app")
  func xcode() {
    var lab = Lab { $0.build.isFromXcode = true }
    for _ in 1...100 {
      let events = lab.receive(Self.silent)
      #expect(events.calls == "M3" && events.contains { $0.rule == .silentUnlimited })
    }
    #expect(lab.app.silentBudget == 3)
    _ = lab.set(#"{"fromXcode":false}"#)
    for _ in 1...3 { #expect(lab.receive(Self.silent).calls == "M3") }
    #expect(lab.receive(Self.silent).has(.held, .silentHeld))
  }

  @Test(
    "what is held goes with whatever ends the app",
    arguments: [
      #"{"do":"leave","topic":"com.example.app","state":"terminated"}"#,
      #"{"do":"leave","topic":"com.example.app","state":"force-quit"}"#, #"{"do":"restart"}"#,
      #"""
      {"do":"local","topic":"com.example.app","identifier":"x","content":{},"trigger":{"after":"59s","repeats":true}}
      """#,
    ])
  func ended(order: String) {
    var lab = Self.holding()
    #expect(lab.order(order).has(.dropped, .silentDiscarded))
    #expect(lab.phone.nextMoment == nil && lab.wait(minutes: 600).callbacks.isEmpty)
  }

  @Test("a handler has 30 s", arguments: [30, 30.5])
  func handler(seconds: Double) {
    var lab = Lab { $0.build.fetchSeconds = seconds }
    _ = lab.receive(Self.silent)
    #expect(lab.wait(seconds: 29).isEmpty)
    #expect(lab.wait(seconds: 1).has(.terminated, .fetchOvertime) == (seconds > 30))
  }

  @Test("a process that has ended owes no handler: the next one of the app is not terminated for it")
  func handlerOfAnEndedProcess() {
    var lab = Lab { $0.build.fetchSeconds = 31 }
    _ = lab.receive(Self.silent)
    _ = lab.leave(as: .terminated)
    _ = lab.open()
    #expect(lab.wait(seconds: 30).isEmpty && lab.app.state == .foreground)
  }

  @Test(
    "what is held goes with an app that is terminated for its handler, or for a call that it did not report")
  func terminated() {
    var slow = Lab { $0.build.fetchSeconds = 31 }
    for _ in 0..<4 { _ = slow.receive(Self.silent) }
    #expect(slow.wait(seconds: 30).has(.dropped, .silentDiscarded))
    var silent = Self.holding()
    _ = silent.set(#"{"reportsCalls":false}"#)
    #expect(silent.receive(payload: #"{"aps":{}}"#, .voip).has(.dropped, .silentDiscarded))
  }

  @Test("after a restart of the phone, once unlocked, a force-quit app is woken again")
  func restart() {
    var lab = Lab(state: .forceQuit)
    #expect(lab.receive(Self.silent).has(.dropped, .silentForceQuit))
    _ = lab.order(#"{"do":"restart"}"#)
    #expect(lab.receive(Self.silent).has(.dropped, .silentForceQuit))
    #expect(lab.order(#"{"do":"settings","locked":false}"#).has(.terminated, .restarted))
    #expect(lab.receive(Self.silent).calls == "M3")
    #expect(PhoneRule.restarted.evidence.first == .documented)
  }
}
