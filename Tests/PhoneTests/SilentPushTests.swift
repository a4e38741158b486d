import Phone
import PushModel
import Testing

/// `Documentation/device-behaviour.md#silent-push`.
@Suite("Silent pushes")
struct SilentPushTests {
  private static let silent = #"{"content-available":1}"#

  @Test(
    "content-available without alert, sound and badge; empty ones count as none",
    arguments: [
      (#"{"content-available":1}"#, PushContent.Kind.silent),
      (#"{"content-available":1,"alert":"","sound":""}"#, .silent),
      (#"{"content-available":1,"alert":{}}"#, .silent),
      (#"{"content-available":1,"alert":{"title":""}}"#, .silent),
      (#"{"content-available":1,"alert":"Hello"}"#, .visible),
      (#"{"content-available":1,"badge":0}"#, .visible),
      (#"{"content-available":1,"sound":"default"}"#, .visible),
      (#"{"content-available":0}"#, .nothing), (#"{}"#, .nothing), (#"{"content-available":true}"#, .nothing),
    ])
  func kind(aps: String, kind: PushContent.Kind) {
    #expect(PushContent(Array("{\"aps\":\(aps)}".utf8)).kind == kind)
  }

  @Test(
    "wakes and launches although notifications are denied",
    arguments: [AppState.background, .suspended, .terminated])
  func denied(state: AppState) {
    var lab = Lab(state: state) { $0.permission = Permission(.denied) }
    let events = lab.receive(Self.silent)
    #expect(events.calls == "M3")
    #expect(events.has(.launched, .silentFetch) == (state == .terminated))
    #expect(events.has(.woken, .silentFetch) == (state == .suspended))
    #expect(lab.app.state != .terminated)
  }

  @Test("needs the background mode, unless the app is in the foreground")
  func mode() {
    for state in [AppState.foreground, .suspended] {
      var lab = Lab(state: state) { $0.build.hasBackgroundMode = false }
      let events = lab.receive(Self.silent)
      #expect(events.calls == (state == .foreground ? "M3" : "none"))
      #expect(events.has(.dropped, .silentMode) == (state == .suspended))
    }
  }

  @Test(
    "since iOS 13 another type or priority 10 wakes nobody; what is not said follows from the payload, unless strictly read",
    arguments: [
      Saying(IOSVersion(12), .alert, .immediate, .silentFetch),
      Saying(IOSVersion(13), .alert, .conserving, .silentType),
      Saying(IOSVersion(13), .background, .immediate, .silentPriority),
      Saying(IOSVersion(13), .background, nil, .silentPriority),
      Saying(IOSVersion(13), .background, .conserving, .silentFetch),
      Saying(IOSVersion(13), nil, nil, .silentUntyped),
      Saying(IOSVersion(13), nil, .conserving, .silentUntyped),
      Saying(IOSVersion(13), nil, .immediate, .silentPriority),
      Saying(IOSVersion(13), nil, nil, isStrict: true, .silentType),
      Saying(IOSVersion(13), .background, .conserving, isStrict: true, .silentFetch),
    ])
  func type(saying: Saying) {
    let push = PhonePush(
      id: 1, topic: Lab.topic, payload: Array("{\"aps\":\(Self.silent)}".utf8), type: saying.type,
      priority: saying.priority)
    for state in [AppState.suspended, .foreground] {
      var lab = Lab(saying.version, state: state)
      _ = lab.order(#"{"do":"settings","strictPushType":\#(saying.isStrict)}"#)
      let events = lab.phone.receive(push, at: lab.now)
      let isCalled = state == .foreground || saying.isTaken
      #expect(events.calls == (isCalled ? "M3" : "none"))
      #expect(events.last?.rule == (state == .foreground ? .silentFetch : saying.rule))
    }
  }

  /// What a provider says of a silent push, and the rule by which it goes then.
  struct Saying: Sendable {
    let (version, type, priority): (IOSVersion, PushType?, Priority?)
    let isStrict: Bool
    let rule: PhoneRule

    init(
      _ version: IOSVersion, _ type: PushType?, _ priority: Priority?, isStrict: Bool = false,
      _ rule: PhoneRule
    ) {
      (self.version, self.type, self.priority) = (version, type, priority)
      (self.isStrict, self.rule) = (isStrict, rule)
    }

    var isTaken: Bool { rule == .silentFetch || rule == .silentUntyped }
  }

  @Test(
    "what is wrong with the type is measured, with the priority documented, and our choice where there is neither"
  )
  func evidence() {
    #expect(PhoneRule.silentType.evidence == [.measured])
    #expect(PhoneRule.silentPriority.evidence == [.documented])
    #expect(PhoneRule.silentUntyped.evidence == [.ours])
  }

  @Test("three at once, then the newest is held until there is budget again, one more every 20 minutes")
  func budget() {
    var lab = Lab()
    for left in [2, 1, 0] {
      let events = lab.receive(Self.silent)
      #expect(events.has(.silentDelivered(budgetBefore: left + 1, budgetAfter: left), .silentBudget))
    }
    let fourth = lab.receive(Self.silent)
    #expect(fourth.has(.held, .silentHeld) && fourth.calls == "none")
    let fifth = lab.receive(Self.silent)
    #expect(fifth.map(\.what) == [.merged, .held] && fifth.map(\.push) == [4, 5])
    #expect(lab.wait(minutes: 19).isEmpty)
    let released = lab.wait(minutes: 1)
    #expect(released.calls == "M3" && released.allSatisfy { $0.push == 5 })
    #expect(lab.app.silentBudget == 0)
    _ = lab.wait(minutes: 60)
    #expect(lab.app.silentBudget == 3)
    _ = lab.wait(minutes: 600)
    #expect(lab.app.silentBudget == 3)
  }

  @Test("an app that has been unused for 14 days has half as many")
  func unused() {
    var lab = Lab()
    _ = lab.wait(minutes: 0)
    _ = lab.wait(minutes: 15 * 24 * 60)
    for _ in 0..<4 { _ = lab.receive(Self.silent) }
    #expect(lab.wait(minutes: 39).isEmpty)
    #expect(lab.wait(minutes: 1).calls == "M3")
  }

  @Test("no budget in the foreground, and opening the app delivers what is held")
  func foreground() {
    var lab = Lab(state: .foreground)
    for _ in 0..<5 { #expect(lab.receive(Self.silent).calls == "M3") }
    #expect(lab.app.silentBudget == 3)
    _ = lab.leave(as: .suspended)
    for _ in 0..<4 { _ = lab.receive(Self.silent) }
    let opened = lab.open()
    #expect(opened.has(.callback(.fetch), .silentReleased))
    #expect(lab.phone.nextMoment == nil)
  }

  @Test("after a force-quit nothing wakes the app until it is opened, and what is held is discarded")
  func forceQuit() {
    var lab = Lab()
    for _ in 0..<4 { _ = lab.receive(Self.silent) }
    #expect(lab.leave(as: .forceQuit).has(.dropped, .silentDiscarded))
    _ = lab.wait(minutes: 60)
    #expect(lab.receive(Self.silent).has(.dropped, .silentForceQuit))
    let alert = lab.receive(#"{"alert":"Hello","content-available":1}"#)
    #expect(alert.shown != nil && alert.calls == "none")
    _ = lab.open()
    _ = lab.leave(as: .suspended)
    #expect(lab.receive(Self.silent).calls == "M3")
  }

  @Test("an alert with content-available that finds no budget shows, and is not held")
  func alertWithoutBudget() {
    var lab = Lab()
    for _ in 0..<3 { _ = lab.receive(Self.silent) }
    let events = lab.receive(#"{"alert":"Hello","content-available":1}"#)
    #expect(events.shown != nil && events.has(.noCallback, .silentBudget))
    #expect(lab.phone.nextMoment == nil)
  }
}
