import Basics
import Phone
import Testing

/// `Documentation/device-behaviour.md#presentation`: the scheduled summary. The lab begins at 12:26:40.
@Suite("The scheduled summary")
struct SummaryTests {
  private static func lab(
    _ version: IOSVersion = .standard, times: String = #"["08:00","13:00"]"#, apps: String = "com.example.app"
  ) -> Lab {
    var lab = Lab(version)
    _ = lab.order(#"{"do":"settings","summary":{"times":\#(times),"apps":["\#(apps)"]}}"#)
    return lab
  }

  private static func aps(_ body: String, _ more: String = "") -> String {
    #"{"alert":"\#(body)","sound":"default","badge":3\#(more)}"#
  }

  private static let waiting = [
    "held summary-waits", "no-sound summary-waits", "badge badge", "no-callback system-calls-nobody",
  ]

  @Test(
    "active and passive ones wait, without a sound; the badge counts at once",
    arguments: ["active", "passive"])
  func waits(level: String) {
    var lab = Self.lab()
    let events = lab.receive(Self.aps("B", #","interruption-level":"\#(level)""#))
    #expect(events.story == Self.waiting)
    #expect(events.first?.detail == "until 2020-09-13T13:00:00.000Z")
    #expect(lab.document("screen/list") == "[]" && lab.document("screen/lockScreen") == "[]")
    #expect(lab.document("screen/summary") == #"{"next":"2020-09-13T13:00:00.000Z","waiting":1}"#)
    #expect(lab.phone.nextMoment == Timestamp(seconds: Lab.start.seconds + 2000))
    #expect(lab.wait(seconds: 1999).isEmpty)
    let summary = lab.wait(seconds: 1)
    #expect(summary.story == ["presented summary-shows"] && summary.shown == [.lockScreen, .list])
    #expect(lab.document("screen/lockScreen/0/body") == #""B""#)
    #expect(lab.document("screen/summary") == #"{"next":"2020-09-14T08:00:00.000Z","waiting":0}"#)
    #expect(lab.phone.nextMoment == nil && lab.wait(minutes: 2000).isEmpty)
  }

  @Test("into the list alone where the phone is unlocked")
  func unlocked() {
    var lab = Self.lab()
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    _ = lab.receive(Self.aps("B"))
    #expect(lab.wait(minutes: 40).shown == .list && lab.document("screen/banner") == "null")
  }

  @Test("the highest relevance-score first, of the same score the newest")
  func order() {
    var lab = Self.lab()
    for (body, score) in [("none", nil), ("low", 0.25), ("high", 1), ("low too", 0.25)] as [(String, Double?)]
    {
      _ = lab.receive(Self.aps(body, score.map { #","relevance-score":\#($0)"# } ?? ""))
    }
    let bodies = ["high", "low too", "low", "none"]
    let events = lab.wait(minutes: 40)
    #expect(events.compactMap(\.push) == [3, 4, 2, 1])
    for (index, body) in bodies.enumerated() {
      #expect(lab.document("screen/lockScreen/\(index)/body") == "\"\(body)\"")
      #expect(lab.document("screen/list/\(index)/notes/0/body") == "\"\(body)\"")
    }
  }

  @Test(
    "time-sensitive and critical ones come at once, with entitlement and permission",
    arguments: [
      ("time-sensitive", true, true, true), ("time-sensitive", false, true, false),
      ("time-sensitive", true, false, false), ("critical", true, true, true),
      ("critical", false, true, false),
      ("critical", true, false, false),
    ])
  func urgent(level: String, isEntitled: Bool, isAllowed: Bool, comes: Bool) {
    var lab = Self.lab()
    _ = lab.set(
      #"{"timeSensitive":\#(isEntitled),"critical":\#(isEntitled),"permission":{"timeSensitive":\#(isAllowed),"critical":\#(isAllowed)}}"#
    )
    let events = lab.receive(Self.aps("B", #","interruption-level":"\#(level)""#))
    #expect(events.has(.presented([.lockScreen, .list], replaces: nil), .throughSummary) == comes)
    #expect(events.has(.held, .summaryWaits) == !comes)
  }

  @Test("other apps, earlier versions, the app in the foreground and what is delivered quietly do not wait")
  func others() {
    var old = Self.lab(IOSVersion(14, 8))
    #expect(old.receive(Self.aps("B")).shown == [.lockScreen, .list])
    #expect(old.document("screen/summary") == "null")
    var first = Self.lab(IOSVersion(15))
    #expect(first.receive(Self.aps("B")).story == Self.waiting)
    #expect(first.document("screen/summary/waiting") == "1")
    var other = Self.lab(apps: "com.example.other")
    #expect(other.receive(Self.aps("B")).shown == [.lockScreen, .list])
    var front = Self.lab()
    _ = front.order(#"{"do":"open","topic":"com.example.app"}"#)
    #expect(front.receive(Self.aps("B")).shown == [.banner, .list])
    var quiet = Self.lab()
    _ = quiet.set(#"{"permission":{"status":"provisional"}}"#)
    #expect(quiet.receive(Self.aps("B")).story.first == "presented provisional")
    #expect(Lab().document("screen/summary") == "null" && Lab().document("settings/summary") == "null")
  }

  @Test("denied: nothing waits; denied meanwhile, or without a place: it is not presented")
  func denied() {
    var lab = Self.lab()
    _ = lab.receive(Self.aps("B"))
    _ = lab.set(#"{"permission":{"status":"denied"}}"#)
    #expect(lab.receive(Self.aps("B")).story.first == "not-presented denied")
    #expect(lab.wait(minutes: 40).story == ["not-presented denied"])
    _ = lab.set(#"{"permission":{"status":"authorized"}}"#)
    _ = lab.receive(Self.aps("B"))
    _ = lab.set(#"{"permission":{"lockScreen":false,"list":false}}"#)
    #expect(lab.wait(minutes: 1440).story == ["not-presented alert-off"] && lab.phone.notes.isEmpty)
  }

  @Test("a collapse id replaces also while both wait, and what is urgent takes the place of what waits")
  func collapse() {
    var lab = Self.lab()
    _ = lab.set(#"{"timeSensitive":true}"#)
    _ = lab.receive(Self.aps("1"), collapseId: "a")
    #expect(lab.receive(Self.aps("2"), collapseId: "a").story.first == "merged collapse")
    let urgent = Self.aps("3", #","interruption-level":"time-sensitive""#)
    #expect(
      Array(lab.receive(urgent, collapseId: "a").story.prefix(2)) == [
        "merged collapse", "presented through-summary",
      ])
    #expect(lab.document("screen/summary/waiting") == "0" && lab.wait(minutes: 40).isEmpty)
    _ = lab.receive(Self.aps("4"), collapseId: "a")
    #expect(lab.wait(minutes: 1440).has(.presented([.lockScreen, .list], replaces: 3), .collapse))
    #expect(lab.phone.notes.map(\.push.content.body) == ["4"])
  }

  @Test("local notifications wait too, until they are taken back")
  func local() {
    var lab = Self.lab()
    for name in ["a", "b"] {
      _ = lab.order(
        #"{"do":"local","topic":"com.example.app","identifier":"\#(name)","content":{"body":"\#(name)"}}"#)
    }
    #expect(lab.document("screen/summary/waiting") == "2")
    _ = lab.order(#"{"do":"unschedule","topic":"com.example.app","identifiers":["a"]}"#)
    #expect(lab.wait(minutes: 40).count == 1 && lab.document("screen/list/0/notes/0/body") == #""b""#)
  }

  @Test(
    "what is in no summary any more comes at once",
    arguments: [#""summary":null"#, #""summary":{"apps":[]}"#, #""iosVersion":"14""#])
  func switchedOff(setting: String) {
    var lab = Self.lab()
    _ = lab.receive(Self.aps("B"))
    #expect(lab.order(#"{"do":"settings",\#(setting)}"#).story == ["presented summary-shows"])
    #expect(lab.wait(minutes: 1440).isEmpty && lab.phone.notes.count == 1)
  }

  @Test("another time is taken at once; what is not about the summary changes nothing")
  func otherTime() {
    var lab = Self.lab()
    _ = lab.receive(Self.aps("B"))
    _ = lab.order(#"{"do":"settings","muted":true,"summary":{"times":["12:30"],"apps":["com.example.app"]}}"#)
    #expect(lab.wait(seconds: 199).isEmpty && lab.wait(seconds: 1).story == ["presented summary-shows"])
  }

  @Test("it is bounded, and goes with its app and its phone")
  func bounds() {
    var lab = Self.lab()
    for number in 1...1002 { _ = lab.receive(#"{"alert":"\#(number)"}"#) }
    #expect(lab.document("screen/summary/waiting") == "1000")
    #expect(lab.wait(minutes: 40).compactMap(\.push).min() == 3 && lab.phone.notes.count == 1000)
    _ = lab.receive(#"{"alert":"x"}"#)
    var other = lab
    lab.phone.remove(Lab.topic)
    other.phone.erase()
    for phone in [lab, other] { #expect(phone.document("screen/summary/waiting") == "0") }
    #expect(lab.wait(minutes: 2000).isEmpty)
  }

  @Test("1 to 12 times of day, each written with two digits for the hour and two for the minute")
  func times() {
    var lab = Self.lab(times: #"["10:10","09:09","00:00","23:59"]"#)
    #expect(lab.document("settings/summary/times") == #"["10:10","09:09","00:00","23:59"]"#)
    for (count, isFine) in [(12, true), (13, false)] {
      let times = (10..<(10 + count)).map { "\"\($0):00\"" }.joined(separator: ",")
      let refusal = lab.refusal(#"{"do":"settings","summary":{"times":[\#(times)]}}"#)
      #expect(refusal.isEmpty == isFine && refusal.contains("1 to 12 times of day, each once") == !isFine)
    }
  }

  @Test(
    "times of day that are none",
    arguments: ["[]", #"["8:00"]"#, #"["24:00"]"#, #"["08:60"]"#, #"["08:00","08:00"]"#, #"["0a:00"]"#, "7"])
  func wrong(times: String) {
    var lab = Lab()
    let refusal = lab.refusal(#"{"do":"settings","summary":{"times":\#(times)}}"#)
    #expect(refusal.hasPrefix("invalid: summary.times"), "\(refusal)")
  }
}
