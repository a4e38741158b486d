import Basics
import Phone
import PushModel
import Testing

/// `Documentation/device-behaviour.md#tokens-and-push-types`.
@Suite("Live Activities")
struct LiveActivityTests {
  private static let started = Int64(1_600_000_000)

  /// A push of type liveactivity with these members of aps besides.
  private static func push(_ event: String, _ more: String = "", at seconds: Int64 = started) -> String {
    #"{"aps":{"event":"\#(event)","timestamp":\#(seconds),"content-state":{"score":\#(seconds - started)}\#(more)}}"#
  }

  private static func start(_ more: String = "") -> String {
    push(
      "start", #","attributes-type":"Game","attributes":{"home":"A"},"alert":{"title":"T","body":"B"}"# + more
    )
  }

  /// One that its app has started.
  private static func running(_ version: IOSVersion = .standard) -> Lab {
    var lab = Lab(version, state: .foreground)
    _ = lab.order(
      #"{"do":"activity","topic":"com.example.app","attributesType":"Game","attributes":{"home":"A"},"contentState":{}}"#
    )
    return lab
  }

  private static func starts(_ type: String) -> TokenUse { .context(.start(attributesType: type)) }
  private static func updates(_ id: String) -> TokenUse { .context(.activity(id: id)) }

  private static func state(_ lab: Lab) -> String { lab.document("screen/activities/0/state") }
  private static func score(_ lab: Lab) -> String { lab.document("screen/activities/0/contentState/score") }

  @Test("an app starts one itself, which has a token of its own, since iOS 16.1")
  func app() {
    var lab = Lab(IOSVersion(16, 1), state: .foreground)
    let order =
      #"{"do":"activity","topic":"com.example.app","attributesType":"Game","contentState":{"score":1}}"#
    let events = lab.order(order)
    #expect(events.story == ["activity activity-by-app", "token-asked activity-token"])
    #expect(lab.document("screen/activities/0/attributesType") == #""Game""# && Self.score(lab) == "1")
    var old = Lab(IOSVersion(16, 0))
    #expect(old.order(order).story == ["dropped too-old"])
    #expect(old.receive(payload: Self.push("update"), .liveactivity).story == ["dropped too-old"])
  }

  @Test("a push starts one, since iOS 17.2, and it has a token: since iOS 18 where that is asked for")
  func start() {
    for (version, more, token) in [
      (IOSVersion(17, 1), "", nil), (IOSVersion(17, 2), "", true), (IOSVersion(18), "", false),
      (IOSVersion(18), #","input-push-token":1"#, true),
    ] as [(IOSVersion, String, Bool?)] {
      var lab = Lab(version)
      let events = lab.receive(payload: Self.start(more), .liveactivity, to: Self.starts("Game"))
      #expect(events.has(.activity(.active), .activityStarted) == (token != nil))
      #expect(events.has(.dropped, .activityNoStart) == (token == nil))
      #expect(events.has(.tokenAsked, .activityToken) == (token == true), "\(version) \(more)")
      #expect(lab.phone.wantedTokens.count == (token == true ? 1 : 0))
      #expect(Self.state(lab) == (token == nil ? "nothing" : #""active""#))
    }
  }

  @Test(
    "a start needs attributes-type, attributes and alert",
    arguments: [
      #""attributes-type":"Game","#, #""attributes":{"home":"A"},"#, #","alert":{"title":"T","body":"B"}"#,
    ])
  func incomplete(missing: String) {
    var lab = Lab()
    let events = lab.receive(payload: Self.start().replacing(missing, with: ""), .liveactivity)
    #expect(events.has(.dropped, .activityNoStart) && Self.state(lab) == "nothing")
  }

  @Test("a start needs a push-to-start token of its attributes type, not one that updates, and no broadcast")
  func tokens() {
    for (token, starts) in [
      (Self.starts("Game"), true), (Self.starts("Other"), false), (Self.updates("activity-1"), false),
      (.channel("c"), false),
    ] {
      var lab = Self.running()
      let events = lab.receive(payload: Self.start(), .liveactivity, to: token)
      #expect(events.has(.activity(.active), .activityStarted) == starts)
      #expect(events.has(.dropped, .activityNoStart) == !starts, "\(token)")
    }
  }

  @Test("input-push-channel joins a channel, since iOS 18; older systems don't start")
  func channel() {
    for version in [IOSVersion(17, 2), IOSVersion(18)] {
      var lab = Lab(version)
      let events = lab.receive(payload: Self.start(#","input-push-channel":"news""#), .liveactivity)
      #expect(events.has(.activity(.active), .activityChannel) == (version == IOSVersion(18)))
      #expect(events.has(.dropped, .activityNoStart) == (version != IOSVersion(18)))
      guard version == IOSVersion(18) else { continue }
      let update = Self.push("update", at: Self.started + 1)
      #expect(
        lab.receive(payload: update, .liveactivity, to: .channel("other")).has(.dropped, .activityUnknown))
      #expect(
        lab.receive(payload: update, .liveactivity, to: .channel("news")).has(
          .activity(.active), .activityUpdated))
      #expect(Self.score(lab) == "1")
    }
  }

  @Test("a channel is the same in any spelling of its id")
  func channelSpelling() {
    var lab = Lab()
    _ = lab.receive(payload: Self.start(#","input-push-channel":"YWJjZA""#), .liveactivity)
    let update = Self.push("update", at: Self.started + 1)
    #expect(
      lab.receive(payload: update, .liveactivity, to: .channel("YWJjZA==")).has(
        .activity(.active), .activityUpdated))
    #expect(lab.document("screen/activities/0/channel") == #""YWJjZA==""#)
  }

  @Test("an update changes the content of the one whose token it came to")
  func update() {
    var lab = Self.running()
    _ = lab.order(#"{"do":"activity","topic":"com.example.app","attributesType":"Game"}"#)
    let events = lab.receive(
      payload: Self.push("update", at: Self.started + 3), .liveactivity, to: Self.updates("activity-1"))
    #expect(events.story == ["handed-over live-activity", "activity activity-updated"])
    #expect(Self.score(lab) == "3" && lab.document("screen/activities/1/contentState") == "{}")
    let unknown = lab.receive(payload: Self.push("update"), .liveactivity, to: Self.updates("activity-9"))
    #expect(unknown.has(.dropped, .activityUnknown))
    for event in ["update", "end"] {
      let starts = lab.receive(payload: Self.push(event), .liveactivity, to: Self.starts("Game"))
      #expect(starts.has(.dropped, .activityUnknown) && Self.state(lab) == #""active""#)
    }
  }

  @Test("an older timestamp is ignored, an equal one is not", arguments: [(-1, false), (0, true), (1, true)])
  func timestamp(offset: Int64, counts: Bool) {
    var lab = Self.running()
    _ = lab.receive(payload: Self.push("update", at: Self.started + 5), .liveactivity)
    let events = lab.receive(payload: Self.push("update", at: Self.started + 5 + offset), .liveactivity)
    #expect(events.has(.dropped, .activityOld) == !counts)
    #expect(Self.score(lab) == "\(counts ? 5 + offset : 5)")
  }

  @Test("stale-date marks it as stale, and an update makes it fresh")
  func stale() {
    var lab = Self.running()
    let date = #","stale-date":\#(Self.started + 60)"#
    _ = lab.receive(payload: Self.push("update", date), .liveactivity)
    #expect(lab.wait(seconds: 59).isEmpty && Self.state(lab) == #""active""#)
    #expect(lab.wait(seconds: 1).story == ["activity activity-stale"] && Self.state(lab) == #""stale""#)
    _ = lab.receive(payload: Self.push("update", at: Self.started + 60), .liveactivity)
    #expect(Self.state(lab) == #""active""# && lab.document("screen/activities/0/staleDate") == "null")
  }

  @Test(
    "after its end it stays up to 4 hours, or to its dismissal-date",
    arguments: [
      ("", 4 * 3600), (",\"dismissal-date\":1600000600", 600), (",\"dismissal-date\":1700000000", 4 * 3600),
    ]
      as [(String, Int64)])
  func end(date: String, seconds: Int64) {
    var lab = Self.running()
    let events = lab.receive(payload: Self.push("end", date), .liveactivity)
    #expect(events.has(.activity(.ended), .activityEnded) && Self.state(lab) == #""ended""#)
    #expect(lab.wait(seconds: seconds - 1).isEmpty)
    #expect(lab.wait(seconds: 1).story == ["activity activity-dismissed"] && Self.state(lab) == "nothing")
    #expect(lab.receive(payload: Self.push("update"), .liveactivity).has(.dropped, .activityUnknown))
  }

  @Test("a dismissal-date that is over takes it away at once")
  func dismissed() {
    var lab = Self.running()
    _ = lab.receive(payload: Self.push("end", ",\"dismissal-date\":1"), .liveactivity)
    #expect(lab.wait(seconds: 0).story == ["activity activity-dismissed"])
  }

  @Test("the sound stands inside the alert", arguments: [Permission.Status.authorized, .denied])
  func sound(status: Permission.Status) {
    var lab = Self.running()
    _ = lab.set(#"{"permission":{"status":"\#(status.rawValue)"}}"#)
    let alert = #","sound":"outside.caf","alert":{"title":"T","body":"B","sound":"inside.caf"}"#
    let events = lab.receive(payload: Self.push("update", alert), .liveactivity)
    #expect(events.has(.sound(.file("inside.caf")), .sound) == (status == .authorized))
    #expect(!events.has(.sound(.file("outside.caf")), .sound))
    #expect(lab.document("screen/activities/0/alert") == #"{"title":"T","body":"B"}"#)
  }

  @Test("one at the topic of Live Activities is for them, also where the provider names no type")
  func untyped() throws {
    var lab = Self.running()
    let topic = try #require(Topic("com.example.app.push-type.liveactivity"))
    let payload = Array(Self.push("update", at: Self.started + 3).utf8)
    let events = lab.phone.receive(PhonePush(id: 1, topic: topic, payload: payload), at: lab.now)
    #expect(events.has(.activity(.active), .activityUpdated) && Self.score(lab) == "3")
  }

  @Test("an event that is none is for nobody")
  func unknown() {
    var lab = Self.running()
    #expect(lab.receive(payload: Self.push("begin"), .liveactivity).has(.dropped, .activityUnknown))
  }

  @Test("removing the app ends them, and 21 are one too many")
  func many() {
    var lab = Lab()
    for stale in [1_600_000_060] + Array(repeating: 1_900_000_000, count: 20) {
      _ = lab.receive(payload: Self.start(#","stale-date":\#(stale)"#), .liveactivity)
    }
    #expect(lab.document("screen/activities/0/id") == #""activity-2""#)
    #expect(lab.document("screen/activities/20") == "nothing")
    // What was to become of the first one is forgotten: the others end after eight hours.
    #expect(lab.phone.nextMoment == Timestamp(seconds: Self.started + 28_800))
    lab.phone.remove(Lab.topic)
    #expect(lab.document("screen/activities") == "[]" && lab.phone.nextMoment == nil)
  }
}
