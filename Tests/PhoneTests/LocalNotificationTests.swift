import Phone
import PushModel
import Testing

/// `Documentation/device-behaviour.md#local-notifications`.
@Suite("Local notifications")
struct LocalNotificationTests {
  private static func local(
    _ trigger: String = "{}", _ identifier: String = "a", _ content: String = #"{"title":"T","body":"B"}"#
  ) -> String {
    #"""
    {"do":"local","topic":"com.example.app","identifier":"\#(identifier)","content":\#(content),"trigger":\#(trigger)}
    """#
  }

  private static func region(_ inside: Bool) -> String {
    #"{"do":"region","region":"home","inside":\#(inside)}"#
  }

  @Test("without a trigger at once")
  func now() {
    var lab = Lab()
    let events = lab.order(Self.local())
    #expect(
      events.has(.presented([.lockScreen, .list], replaces: nil), .localDelivered) && events.calls == "none")
    #expect(lab.document("screen/list/0/notes/0/isLocal") == "true")
    #expect(lab.document("screen/list/0/notes/0/title") == #""T""#)
    #expect(lab.phone.nextMoment == nil && lab.document("apps/com.example.app/pending") == "[]")
  }

  @Test("by a time interval, once or again and again")
  func interval() {
    for repeats in [false, true] {
      var lab = Lab()
      #expect(
        lab.order(Self.local(#"{"after":"60s","repeats":\#(repeats)}"#)).story == ["local local-scheduled"])
      #expect(lab.wait(seconds: 59).isEmpty)
      #expect(lab.wait(seconds: 1).shown != nil)
      #expect((lab.wait(seconds: 60).shown != nil) == repeats)
    }
  }

  @Test("those of one moment come in the order in which they were scheduled")
  func oneMoment() {
    var lab = Lab()
    let titles = ["first", "second", "third"]
    for title in titles {
      _ = lab.order(
        Self.local(#"{"after":"60s"}"#, title, #"{"title":"\#(title)","body":"B","thread-id":"\#(title)"}"#))
    }
    #expect(lab.wait(seconds: 60).filter { $0.rule == .localDelivered }.count == 3)
    // The list has the latest at the top.
    #expect(
      (0..<3).map { lab.document("screen/list/\($0)/notes/0/title") } == titles.reversed().map { "\"\($0)\"" }
    )
  }

  @Test(
    "a repeating interval under 60 s raises an exception, which ends the app; one that does not repeat is fine"
  )
  func tooOften() {
    var lab = Lab(state: .foreground)
    #expect(lab.order(Self.local(#"{"after":"59999ms"}"#)).story == ["local local-scheduled"])
    #expect(
      lab.order(Self.local(#"{"after":"59999ms","repeats":true}"#)).story == ["exception local-too-often"])
    #expect(lab.app.state == .terminated)
  }

  @Test("at a date; one in the past is not kept, without an error")
  func date() {
    var lab = Lab()
    let start = Lab.start.adding(nanoseconds: 1_000_000_000).rfc3339
    #expect(lab.order(Self.local(#"{"at":"\#(start)"}"#)).story == ["local local-scheduled"])
    #expect(lab.wait(seconds: 1).shown != nil)
    #expect(lab.order(Self.local(#"{"at":"\#(start)"}"#, "b")).story == ["dropped local-dropped"])
    #expect(lab.document("apps/com.example.app/pending") == "[]")
  }

  // The laboratory begins on a Sunday (1), the 13th of September 2020, at 12:26:40.
  @Test(
    "by the calendar, once or again and again",
    arguments: [
      (#"{"hour":12,"minute":27,"repeats":true}"#, [20, 86_420, 172_820]),
      (#"{"hour":12,"repeats":true}"#, [84_800, 171_200]), (#"{"hour":12,"minute":27}"#, [20]),
      (#"{"hour":12,"minute":27,"weekday":1,"repeats":true}"#, [20, 604_820]),
      (#"{"hour":0,"weekday":2}"#, [41_600]),
    ] as [(String, [Int64])])
  func calendar(trigger: String, moments: [Int64]) {
    var lab = Lab()
    _ = lab.order(Self.local(trigger))
    var passed: Int64 = 0
    for moment in moments {
      #expect(lab.wait(seconds: moment - passed - 1).isEmpty)
      #expect(lab.wait(seconds: 1).shown != nil, "\(moment)")
      passed = moment
    }
    if moments.count == 1 { #expect(lab.wait(seconds: 700_000).isEmpty) }
  }

  @Test("by a place that is entered or left, once or again and again")
  func place() {
    for (member, enters) in [("enter", true), ("leave", false)] {
      for repeats in [false, true] {
        var lab = Lab()
        _ = lab.order(Self.local(#"{"\#(member)":"home","repeats":\#(repeats)}"#))
        #expect(lab.document("apps/com.example.app/pending/0/next") == "null")
        #expect(lab.order(Self.region(!enters)).isEmpty)
        #expect(lab.order(#"{"do":"region","region":"work","inside":\#(enters)}"#).isEmpty)
        #expect(lab.order(Self.region(enters)).shown != nil)
        #expect((lab.order(Self.region(enters)).shown != nil) == repeats)
      }
    }
  }

  @Test(
    "before iOS 10 a repeating interval is a calendar unit, and a short one no exception",
    arguments: [("1s", 60), ("60s", 60), ("61s", 3600), ("3h", 86400), ("30d", 7 * 86400)])
  func byUnit(after: String, seconds: Int64) {
    var lab = Lab(IOSVersion(9))
    let events = lab.order(Self.local(#"{"after":"\#(after)","repeats":true}"#))
    #expect(events.story == ["local " + (after == "60s" ? "local-scheduled" : "local-by-unit")])
    guard let first = lab.phone.nextMoment else {
      Issue.record("it never comes")
      return
    }
    // First when it was asked for, then by the unit.
    #expect(lab.phone.advance(to: first).shown != nil)
    let banner = first.adding(nanoseconds: 5_000_000_000)
    _ = lab.phone.advance(to: banner)
    #expect(lab.phone.nextMoment == first.adding(nanoseconds: seconds * 1_000_000_000))
    #expect(lab.app.state == .suspended)
  }

  @Test("before iOS 10 what comes at a time of day comes each day, or each week")
  func calendarBefore10() {
    for (trigger, days) in [
      (#"{"hour":8,"repeats":true}"#, Int64(1)), (#"{"hour":8,"weekday":2,"repeats":true}"#, 7),
    ] {
      var lab = Lab(IOSVersion(9))
      #expect(lab.order(Self.local(trigger)).story == ["local local-scheduled"])
      _ = lab.wait(minutes: 7 * 24 * 60)
      let shown = (1...14).count { _ in lab.wait(minutes: 24 * 60).shown != nil }
      #expect(Int64(shown) == 14 / days)
    }
  }

  @Test("before iOS 10, where 65 are due at the same moment, the one that was added first goes")
  func limitAtOnce() {
    var lab = Lab(IOSVersion(9))
    for number in 1...64 { _ = lab.order(Self.local(#"{"after":"1h"}"#, "\(number)")) }
    let events = lab.order(Self.local(#"{"after":"1h"}"#, "65"))
    #expect(events.last?.rule == .localLimitOld && events.last?.argument == "1")
  }

  @Test("of what repeats a clock that is set ahead brings the last thousand", arguments: [1000, 1001, 5000])
  func setAhead(minutes: Int64) {
    var lab = Lab()
    _ = lab.order(Self.local(#"{"after":"60s","repeats":true}"#))
    let shown = lab.wait(minutes: minutes).filter { $0.what.name == "presented" }
    #expect(shown.count == 1000 && shown.last?.at == lab.now)
    #expect(lab.wait(seconds: 59).isEmpty && lab.wait(seconds: 1).shown != nil)
  }

  @Test("64 wait: the last added are kept; before iOS 10 the soonest", arguments: [9, 18])
  func limit(version: Int) {
    var lab = Lab(IOSVersion(version))
    for number in 1...64 { _ = lab.order(Self.local(#"{"after":"\#(number)h"}"#, "\(number)")) }
    let events = lab.order(Self.local(#"{"after":"30m"}"#, "new"))
    let gone = version < 10 ? "64" : "1"
    #expect(
      events.last?.rule == (version < 10 ? .localLimitOld : .localLimit) && events.last?.argument == gone)
    let pending = lab.document("apps/com.example.app/pending")
    #expect(!pending.contains(#""identifier":"\#(gone)""#) && pending.contains(#""identifier":"new""#))
    #expect(lab.document("apps/com.example.app/pending/63") != "nothing")
    #expect(lab.document("apps/com.example.app/pending/64") == "nothing")
    // Another app has 64 of its own.
    lab.phone.install(PhoneApp(Topic("com.example.other") ?? Lab.topic))
    let other = Self.local(#"{"after":"1h"}"#).replacing("com.example.app", with: "com.example.other")
    #expect(lab.order(other).story == ["local local-scheduled"])
  }

  @Test(
    "denied or never asked: not kept, without an error",
    arguments: [Permission.Status.denied, .notDetermined])
  func denied(status: Permission.Status) {
    var lab = Lab { $0.permission = Permission(status) }
    for trigger in ["{}", #"{"after":"1h"}"#, #"{"enter":"home"}"#] {
      #expect(lab.order(Self.local(trigger)).story == ["dropped local-dropped"])
    }
    #expect(lab.phone.nextMoment == nil)
  }

  @Test("denied after it was scheduled: nothing shows")
  func deniedLater() {
    var lab = Lab()
    _ = lab.order(Self.local(#"{"after":"1h"}"#))
    _ = lab.set(#"{"permission":{"status":"denied"}}"#)
    #expect(lab.wait(minutes: 60).shown == nil && lab.phone.notes.isEmpty)
  }

  @Test("the same identifier replaces, pending or delivered, and alerts again")
  func replaces() {
    var lab = Lab()
    _ = lab.order(Self.local(#"{"after":"1h"}"#))
    let again = lab.order(Self.local(#"{"after":"2h"}"#, "a", #"{"body":"Second","sound":"default"}"#))
    #expect(again.story == ["local local-replaced"])
    #expect(lab.document("apps/com.example.app/pending/1") == "nothing")
    #expect(lab.wait(minutes: 119).isEmpty && lab.wait(minutes: 1).shown != nil)
    let first = lab.phone.notes.map(\.id)
    let third = lab.order(Self.local("{}", "a", #"{"body":"Third","sound":"default"}"#))
    #expect(third.has(.presented([.lockScreen, .list], replaces: first[0]), .localReplaced))
    #expect(third.has(.sound(.standard), .sound) && lab.phone.notes.count == 1)
    // One at once takes the place of one that waits as well.
    _ = lab.order(Self.local(#"{"after":"1h"}"#))
    _ = lab.order(Self.local())
    #expect(lab.document("apps/com.example.app/pending") == "[]")
  }

  @Test("taken back by identifiers, or all, whether they wait or have been delivered")
  func unschedule() {
    var lab = Lab()
    for identifier in ["a", "b", "c"] {
      _ = lab.order(Self.local("{}", identifier))
      _ = lab.order(Self.local(#"{"after":"1h"}"#, identifier + "-waits"))
    }
    _ = lab.receive(#"{"alert":"remote"}"#)
    let some = lab.order(
      #"{"do":"unschedule","topic":"com.example.app","identifiers":["a","a-waits","none"]}"#)
    #expect(some.story == ["local local-removed"] && lab.phone.notes.count == 3)
    #expect(lab.document("apps/com.example.app/pending/2") == "nothing")
    _ = lab.order(#"{"do":"unschedule","topic":"com.example.app"}"#)
    #expect(lab.phone.notes.map(\.push.content.body) == ["remote"])
    #expect(lab.document("apps/com.example.app/pending") == "[]")
  }

  /// Foreground or not, what the app has, and who is called on arrival and on the tap.
  private static let callbackRows: [(Int, AppState, Set<AppCallback>, String, Bool, String)] = [
    (9, .foreground, [.receiveLocal, .fetch, .willPresent], "M2", false, "–"),
    (9, .suspended, [.receiveLocal, .fetch, .response], "none", true, "M2"),
    (9, .terminated, [.receiveLocal, .fetch], "none", true, "none"),
    (18, .foreground, [.receiveLocal, .willPresent, .response], "M4", true, "M5"),
    (18, .foreground, [.receiveLocal, .fetch], "M2", false, "–"),
    (18, .foreground, [.fetch, .receive], "none", false, "–"),
    (18, .suspended, [.receiveLocal, .fetch, .response], "none", true, "M5"),
    (18, .suspended, [.receiveLocal, .fetch], "none", true, "M2"),
    (18, .forceQuit, [.response], "none", true, "M5"),
    (18, .suspended, [.fetch, .receive], "none", true, "none"),
  ]

  @Test("M4 and M5 as for remote ones, else M2", arguments: callbackRows)
  func callbacks(
    _ version: Int, _ state: AppState, _ has: Set<AppCallback>, _ arrival: String, _ shows: Bool,
    _ tap: String
  ) {
    var lab = Lab(IOSVersion(version), state, implementing: has)
    let events = lab.order(Self.local())
    #expect(events.calls == arrival && (events.shown != nil) == shows)
    let tapped = lab.tapNewest()
    #expect(tap == "–" ? tapped.isEmpty : tapped.calls == tap)
    if version == 9, state == .terminated {
      #expect(tapped.has(.noCallback, .localLaunch))
      #expect(tapped.first?.argument == "launchOptions[localNotification]")
    }
  }

  @Test("no network, permission and Focus as for remote ones, no service extension")
  func asRemote() {
    var lab = Lab { $0.build.serviceExtension = ServiceExtension() }
    _ = lab.order(#"{"do":"settings","network":false,"focus":{}}"#)
    let content = #"{"body":"B","sound":"default","badge":2,"interruption-level":"active"}"#
    let events = lab.order(Self.local("{}", "a", content))
    #expect(events.shown == .list && events.has(.noSound, .focus) && events.has(.badge(2), .badge))
    #expect(!events.contains { $0.what.name == "extension" })
  }

  @Test(
    "with a bad attachment the request is not scheduled", arguments: [("png", 1, true), ("exe", 1, false)])
  func attachment(type: String, bytes: Int, fits: Bool) {
    var lab = Lab()
    let content = #"{"body":"B","attachment":{"name":"cat","type":"\#(type)","bytes":\#(bytes)}}"#
    let events = lab.order(Self.local("{}", "a", content))
    #expect((events.shown != nil) == fits && events.has(.dropped, .localAttachment) == !fits)
    if fits { #expect(lab.document("screen/list/0/notes/0/image") == #""cat""#) }
  }

  @Test("removing the app, or erasing the phone, ends all of them")
  func removed() {
    for isErased in [false, true] {
      var lab = Lab()
      _ = lab.order(Self.local(#"{"after":"1h"}"#))
      if isErased { lab.phone.erase() } else { lab.phone.remove(Lab.topic) }
      #expect(lab.phone.nextMoment == nil && lab.wait(minutes: 60).isEmpty)
    }
  }
}
