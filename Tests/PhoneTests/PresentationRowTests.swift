import Phone
import PushModel
import Testing

/// Key by key, `Documentation/device-behaviour.md#presentation`.
@Suite("Keys of aps")
struct PresentationRowTests {
  private static let note = "screen/list/0/notes/0"

  // MARK: Texts

  @Test("a string is the body; title, subtitle since iOS 10, body", arguments: [9, 10])
  func texts(version: Int) {
    var lab = Lab(IOSVersion(version))
    _ = lab.receive(#"{"alert":{"title":"T","subtitle":"S","body":"B"}}"#)
    #expect(lab.document("\(Self.note)/title") == #""T""# && lab.document("\(Self.note)/body") == #""B""#)
    #expect(lab.document("\(Self.note)/subtitle") == (version < 10 ? "null" : #""S""#))
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.document("\(Self.note)/title") == "null" && lab.document("\(Self.note)/body") == #""Hello""#)
  }

  @Test(
    "a text of the app: in the device's language, its base language, the development language, else the key itself",
    arguments: [
      ("pt-BR", "Oi Ann"), ("pt-PT", "Olá Ann"), ("pt", "Olá Ann"), ("fr", "Hallo Ann"), ("de", "Hallo Ann"),
    ])
  func language(language: String, text: String) {
    var lab = Lab()
    _ = lab.set(
      #"{"developmentLanguage":"de","strings":{"pt-BR":{"HI":"Oi %@"},"pt":{"HI":"Olá %@"},"de":{"HI":"Hallo %@"}}}"#
    )
    _ = lab.order(#"{"do":"settings","language":"\#(language)"}"#)
    _ = lab.receive(
      #"{"alert":{"loc-key":"HI","loc-args":["Ann"],"title-loc-key":"NONE %@","title-loc-args":["x"]}}"#)
    #expect(lab.document("\(Self.note)/body") == "\"\(text)\"")
    #expect(lab.document("\(Self.note)/title") == #""NONE x""#)
  }

  @Test("arguments by number and in turn; one that is missing leaves its place")
  func arguments() {
    var lab = Lab()
    _ = lab.set(#"{"strings":{"en":{"K":"%2$@ of %1$@, %@ %@"}}}"#)
    _ = lab.receive(#"{"alert":{"loc-key":"K","loc-args":["one","two"]}}"#)
    #expect(lab.document("\(Self.note)/body") == #""two of one, one two""#)
    _ = lab.receive(#"{"alert":{"loc-key":"K","loc-args":["one"]}}"#)
    #expect(lab.document("\(Self.note)/body") == #""%2$@ of one, one %@""#)
  }

  @Test(
    "title-loc-key since iOS 8.2, subtitle-loc-key since iOS 10",
    arguments: [
      (IOSVersion(8, 1), "null", "null"), (IOSVersion(8, 2), #""T""#, "null"),
      (IOSVersion(9), #""T""#, "null"),
      (IOSVersion(10), #""T""#, #""S""#),
    ])
  func keys(version: IOSVersion, title: String, subtitle: String) {
    var lab = Lab(version)
    _ = lab.receive(#"{"alert":{"body":"B","title-loc-key":"T","subtitle-loc-key":"S"}}"#)
    #expect(lab.document("\(Self.note)/title") == title && lab.document("\(Self.note)/subtitle") == subtitle)
  }

  @Test("action-loc-key is the alert's button up to iOS 9", arguments: [9, 10])
  func button(version: Int) {
    var lab = Lab(IOSVersion(version))
    _ = lab.set(#"{"strings":{"en":{"PLAY":"Play"}}}"#)
    _ = lab.receive(#"{"alert":{"body":"B","action-loc-key":"PLAY"}}"#)
    #expect(lab.document("\(Self.note)/button") == (version < 10 ? #""Play""# : "null"))
  }

  @Test("launch-image shows when the tap launches; target-content-id brings a scene forward, since iOS 13")
  func launch() {
    let aps = #"{"alert":{"body":"B","launch-image":"i.png"},"target-content-id":"w"}"#
    for (version, state, scenes, argument) in [
      (12, "terminated", false, "launchOptions[remoteNotification], launch image i.png"),
      (12, "suspended", false, ""),
      (13, "terminated", false, "launchOptions[remoteNotification], launch image i.png, scene w"),
      (13, "terminated", true, "connectionOptions, launch image i.png, scene w"),
      (13, "suspended", false, "scene w"),
    ] {
      var lab = Lab(IOSVersion(version))
      _ = lab.set(#"{"state":"\#(state)","scenes":\#(scenes)}"#)
      _ = lab.receive(aps)
      #expect(lab.tapNewest().first?.argument == argument)
    }
  }

  // MARK: Sound

  private static let soundRows: [(String, PhoneEvent.What?, PhoneRule?)] = [
    ("\"\"", nil, nil), ("{}", nil, nil), ("7", nil, nil), (#""default""#, .sound(.standard), .sound),
    (#""short.caf""#, .sound(.file("short.caf")), .sound),
    (#""edge.caf""#, .sound(.file("edge.caf")), .sound),
    (#""long.caf""#, .sound(.standard), .soundMissing), (#""none.caf""#, .sound(.standard), .soundMissing),
    (#"{"name":"short.caf"}"#, .sound(.file("short.caf")), .sound),
    (#"{"critical":0,"name":"default"}"#, .sound(.standard), .sound),
    (#"{"critical":1,"name":"short.caf"}"#, .sound(.file("short.caf")), .sound),
    (#"{"critical":1}"#, .sound(.standard), .sound),
  ]

  @Test("none, the default, a file of at most 30 s, else the default", arguments: soundRows)
  func sound(_ sound: String, _ what: PhoneEvent.What?, _ rule: PhoneRule?) {
    var lab = Lab()
    _ = lab.set(#"{"sounds":{"short.caf":1,"edge.caf":30,"long.caf":30.1}}"#)
    let event = lab.receive(#"{"alert":"x","sound":\#(sound)}"#).first { $0.what.name == "sound" }
    #expect(event?.what == what && event?.rule == rule)
  }

  @Test(
    "a critical sound ignores mute and Focus; with entitlement and permission, since iOS 12",
    arguments: [
      (true, true, 12, true), (false, true, 18, false), (true, false, 18, false), (true, true, 11, false),
    ])
  func critical(isEntitled: Bool, isAllowed: Bool, version: Int, plays: Bool) {
    var lab = Lab(IOSVersion(version))
    _ = lab.set(#"{"critical":\#(isEntitled),"permission":{"critical":\#(isAllowed),"sound":true}}"#)
    let aps = #"{"alert":"x","sound":{"critical":1,"volume":0.25}}"#
    let loud = PhoneEvent.What.sound(.critical(nil, volume: 0.25))
    #expect(lab.receive(aps).has(plays ? loud : .sound(.standard), plays ? .criticalSound : .sound))
    _ = lab.order(#"{"do":"settings","muted":true}"#)
    #expect(lab.receive(aps).has(plays ? loud : .noSound, plays ? .criticalSound : .muted))
    _ = lab.order(#"{"do":"settings","muted":false,"focus":{}}"#)
    #expect(lab.receive(aps).has(plays ? loud : .noSound, plays ? .criticalSound : .focus))
  }

  @Test("level critical without a sound plays the default critical sound", arguments: [14, 15])
  func criticalLevel(version: Int) {
    var lab = Lab(IOSVersion(version))
    _ = lab.set(#"{"critical":true,"sounds":{}}"#)
    let events = lab.receive(#"{"alert":"x","interruption-level":"critical"}"#)
    #expect(events.has(.sound(.critical(nil, volume: 1)), .criticalSound) == (version == 15))
    let missing = lab.receive(#"{"alert":"x","sound":{"critical":1,"name":"none.caf","volume":9}}"#)
    #expect(missing.has(.sound(.critical(nil, volume: 1)), .soundMissing))
  }

  @Test("in the foreground the options decide about sound and badge too")
  func foreground() {
    for (options, sounds, counts) in [
      (#"["banner"]"#, false, false), (#"["sound"]"#, true, false), (#"["badge"]"#, false, true),
      ("[]", false, false),
    ] {
      var lab = Lab(state: .foreground)
      _ = lab.set(#"{"options":\#(options)}"#)
      let events = lab.receive(#"{"alert":"x","sound":"default","badge":3}"#)
      #expect(
        events.has(.sound(.standard), .sound) == sounds && events.has(.noSound, .foregroundAsks) == !sounds)
      #expect(events.has(.badge(3), .badge) == counts && events.has(.noBadge, .foregroundAsks) == !counts)
      #expect((events.shown != nil) == (options == #"["banner"]"#))
    }
  }

  // MARK: Groups

  @Test("thread-id groups, since iOS 12", arguments: [11, 12])
  func groups(version: Int) {
    var lab = Lab(IOSVersion(version))
    let other = Topic("com.example.other") ?? Lab.topic
    lab.phone.install(PhoneApp(other))
    for thread in ["a", "b", "a"] { _ = lab.receive(#"{"alert":"x","thread-id":"\#(thread)"}"#) }
    _ = lab.receive(payload: #"{"aps":{"alert":"x","thread-id":"a"}}"#, .alert, topic: other)
    let last = lab.receive(#"{"alert":"x","thread-id":"a"}"#)
    #expect(last.has(.grouped(3), .grouped) == (version == 12))
    _ = lab.receive(#"{"alert":"alone"}"#)
    #expect(lab.document("screen/list/0/thread") == "null")
    #expect(lab.document("screen/list/1/notes/2/id") == (version == 12 ? "1" : "nothing"))
    #expect(lab.document("screen/list/3/thread") == (version == 12 ? #""b""# : "null"))
    #expect(lab.document("screen/list/5") == (version == 12 ? "nothing" : lab.document("screen/list/5")))
  }

  @Test(
    "summary-arg and its count are words of the group's summary, from iOS 12 to 14",
    arguments: [11, 12, 14, 15])
  func summary(version: Int) {
    var lab = Lab(IOSVersion(version))
    for name in ["Ann", "Bob", "Ann", "Eve"] {
      _ = lab.receive(
        #"{"alert":{"body":"x","summary-arg":"\#(name)","summary-arg-count":2},"thread-id":"t"}"#)
    }
    let words = #"{"count":6,"arguments":["Ann","Bob"]}"#
    #expect(lab.document("screen/list/0/summary") == ((12...14).contains(version) ? words : "null"))
    // One alone has nobody to sum up.
    _ = lab.receive(#"{"alert":{"body":"x","summary-arg":"Ann"},"thread-id":"u"}"#)
    #expect(lab.document("screen/list/0/thread") == (version < 12 ? "null" : #""u""#))
    #expect(lab.document("screen/list/0/summary") == "null")
  }

  @Test("relevance-score, since iOS 15", arguments: [14, 15])
  func relevance(version: Int) {
    var lab = Lab(IOSVersion(version))
    _ = lab.receive(#"{"alert":"x","relevance-score":0.5}"#)
    #expect(lab.document("\(Self.note)/relevance") == (version < 15 ? "null" : "0.5"))
  }

  // MARK: How loudly

  @Test(
    "interruption levels, since iOS 15, as far as the app is entitled",
    arguments: [
      ("passive", false, "passive", "list"), ("active", false, "active", "aloud"),
      ("time-sensitive", false, "active", "aloud"), ("time-sensitive", true, "time-sensitive", "aloud"),
      ("critical", false, "active", "aloud"), ("critical", true, "critical", "aloud"),
    ])
  func level(level: String, isEntitled: Bool, shown: String, places: String) {
    for (version, isOld) in [(14, true), (15, false)] {
      var lab = Lab(IOSVersion(version))
      _ = lab.set(#"{"timeSensitive":\#(isEntitled),"critical":\#(isEntitled)}"#)
      let events = lab.receive(#"{"alert":"x","interruption-level":"\#(level)"}"#)
      #expect(events.shown == (places == "list" && !isOld ? .list : [.lockScreen, .list]))
      #expect(lab.document("\(Self.note)/level") == (isOld ? #""active""# : "\"\(shown)\""))
      _ = lab.order(#"{"do":"settings","focus":{}}"#)
      let focused = lab.receive(#"{"alert":"x","interruption-level":"\#(level)"}"#)
      let isThrough = !isOld && ["time-sensitive", "critical"].contains(shown)
      #expect(focused.shown == (isThrough ? [.lockScreen, .list] : .list))
      #expect(focused.contains { $0.rule == .throughFocus } == isThrough)
    }
  }

  @Test(
    "a filter of the Focus decides by filter-criteria, since iOS 16; else the Focus does",
    arguments: [(15, "work", false), (16, "work", true), (16, "home", false)])
  func filter(version: Int, criteria: String, isShown: Bool) {
    var lab = Lab(IOSVersion(version))
    _ = lab.order(#"{"do":"settings","focus":{"filters":{"com.example.app":["work"]}}}"#)
    let events = lab.receive(#"{"alert":"x","sound":"default","filter-criteria":"\#(criteria)"}"#)
    #expect(events.shown == (isShown ? [.lockScreen, .list] : .list))
    let rule: PhoneRule = version < 16 ? .focus : .focusFilter
    #expect(events.has(.noSound, rule) == !isShown)
    // Without criteria the Focus itself decides.
    #expect(lab.receive(#"{"alert":"x"}"#).has(.presented(.list, replaces: nil), .focus))
  }

  @Test("a Focus that is off again lets everything through")
  func focusOff() {
    var lab = Lab()
    _ = lab.order(#"{"do":"settings","focus":{"allows":["com.example.other"]}}"#)
    #expect(lab.receive(#"{"alert":"x"}"#).shown == .list)
    _ = lab.order(#"{"do":"settings","focus":null}"#)
    #expect(lab.receive(#"{"alert":"x"}"#).shown == [.lockScreen, .list])
  }

  // MARK: Collapse, banner

  @Test("a collapse id is of one app, and replaces what shows in whatever place")
  func collapse() {
    var lab = Lab()
    let other = Topic("com.example.other") ?? Lab.topic
    lab.phone.install(PhoneApp(other))
    var push = PhonePush(
      id: 50, topic: other, payload: Array(#"{"aps":{"alert":"x"}}"#.utf8), collapseId: "a")
    push.notificationId = 7
    _ = lab.phone.receive(push, at: lab.now)
    _ = lab.receive(#"{"alert":"1"}"#, collapseId: "a")
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    let second = lab.receive(#"{"alert":"2"}"#, collapseId: "a")
    #expect(second.has(.presented([.banner, .list], replaces: 1), .collapse))
    #expect(lab.phone.notes.map(\.push.content.body) == ["x", "2"])
    #expect(lab.document("screen/list/1/notes/0/notificationId") == "7")
    // Nothing shows of it: what is there stays.
    _ = lab.receive(#"{"badge":1}"#, collapseId: "a")
    #expect(lab.phone.notes.count == 2)
  }

  @Test("a banner goes by itself after five seconds, and the newest one shows")
  func banner() {
    var lab = Lab()
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    _ = lab.receive(#"{"alert":"1"}"#)
    _ = lab.wait(seconds: 3)
    _ = lab.receive(#"{"alert":"2"}"#)
    #expect(lab.document("screen/banner/body") == #""2""#)
    _ = lab.wait(seconds: 4)
    #expect(lab.document("screen/banner/body") == #""2""#)
    #expect(lab.phone.nextMoment == lab.now.adding(nanoseconds: 1_000_000_000))
    _ = lab.wait(seconds: 1)
    #expect(
      lab.document("screen/banner") == "null" && lab.phone.nextMoment == nil && lab.phone.notes.count == 2)
  }
}
