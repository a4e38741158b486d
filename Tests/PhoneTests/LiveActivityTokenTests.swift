import Phone
import PushModel
import Testing

/// Tokens of Live Activities (`Documentation/device-behaviour.md#tokens-and-push-types`).
@Suite("Tokens of Live Activities")
struct LiveActivityTokenTests {
  private static let topic = Topic("com.example.app.push-type.liveactivity") ?? Lab.topic
  private static let run =
    #"{"do":"activity","topic":"com.example.app","attributesType":"Game","intent":true}"#

  private static func token(_ digit: Character) -> DeviceToken {
    DeviceToken(hex: String(repeating: digit, count: 64)) ?? { preconditionFailure("a token") }()
  }

  /// One with types of attributes, opened before.
  private static func lab(_ version: IOSVersion = .standard, _ types: [String] = ["Game", "Order"]) -> Lab {
    Lab(version, state: .foreground) { $0.build.activityTypes = types }
  }

  private static func wanted(_ lab: Lab) -> [String] { lab.phone.wantedTokens.compactMap(\.context?.text) }

  private static func tokens(_ lab: Lab) -> String { lab.document("apps/com.example.app/deviceTokens") }

  private static func end(_ lab: inout Lab, _ id: String) -> [PhoneEvent] {
    lab.receive(
      payload: #"{"aps":{"event":"end","timestamp":1600000000}}"#, .liveactivity,
      to: .context(.activity(id: id)), priority: .conserving)
  }

  // MARK: What is wanted

  @Test("one to start them for each type of attributes, since iOS 17.2")
  func starts() {
    #expect(Self.wanted(Self.lab(IOSVersion(17, 1))).isEmpty)
    let lab = Self.lab(IOSVersion(17, 2))
    #expect(Self.wanted(lab) == ["start:Game", "start:Order"])
    #expect(lab.phone.wantedTokens.allSatisfy { $0.topic == Self.topic })
  }

  @Test("one for each that its app has started, since iOS 16.1, until it ends")
  func running() {
    var lab = Self.lab(IOSVersion(16, 1))
    for _ in 1...2 { _ = lab.order(Self.run) }
    #expect(Self.wanted(lab) == ["activity:activity-1", "activity:activity-2"])
    _ = Self.end(&lab, "activity-1")
    #expect(lab.document("screen/activities/0/state") == #""ended""#)
    #expect(Self.wanted(lab) == ["activity:activity-2"])
  }

  @Test(
    "of those that a push starts: up to iOS 17 each, since 18 where it is asked for, and none that joined a channel",
    arguments: [
      (IOSVersion(17, 2), "", true), (IOSVersion(18), "", false),
      (IOSVersion(18), #","input-push-token":1"#, true),
      (IOSVersion(18), #","input-push-token":1,"input-push-channel":"n""#, false),
    ])
  func started(version: IOSVersion, more: String, isWanted: Bool) {
    var lab = Lab(version)
    let events = lab.receive(
      payload:
        #"{"aps":{"event":"start","timestamp":1,"attributes-type":"Game","attributes":{},"content-state":{},"alert":{"title":"T"}\#(more)}}"#,
      .liveactivity)
    #expect(events.has(.activity(.active), .activityStarted))
    #expect(Self.wanted(lab) == (isWanted ? ["activity:activity-1"] : []))
    #expect(events.filter { $0.what == .tokenAsked }.map(\.detail) == (isWanted ? ["for activity-1"] : []))
  }

  @Test("none of an app without the entitlement, on an old simulator, or that was never opened")
  func obstacles() {
    let all = ["start:Game", "start:Order", "activity:activity-1"]
    for (order, undo, rule) in [
      (
        #""apps":{"com.example.app":{"entitlement":"none"}}"#,
        #""apps":{"com.example.app":{"entitlement":"production"}}"#, PhoneRule.noEntitlement
      ),
      (#""simulator":true"#, #""simulator":false"#, .simulator),
      (
        #""apps":{"com.example.app":{"state":"never-launched"}}"#,
        #""apps":{"com.example.app":{"state":"foreground"}}"#, .restoredUnlaunched
      ),
    ] {
      var lab = Self.lab()
      _ = lab.order(#"{"do":"settings",\#(order)}"#)
      #expect(lab.order(Self.run).has(.noCallback, rule) && Self.wanted(lab).isEmpty)
      _ = lab.order(#"{"do":"settings",\#(undo)}"#)
      #expect(Self.wanted(lab) == all, "\(rule)")
    }
  }

  @Test("types of attributes are names, 20 at most, each once")
  func types() {
    var lab = Lab()
    for types in [
      #"[""]"#, #"["a b"]"#, #"["T","T"]"#, #"["\#(String(repeating: "x", count: 101))"]"#, "[7]",
    ] {
      let refusal = lab.refusal(
        #"{"do":"settings","apps":{"com.example.app":{"activityTypes":\#(types)}}}"#)
      #expect(refusal.hasPrefix("invalid: "), "\(types)")
    }
    let many = (1...21).map { "\"T\($0)\"" }
    #expect(
      lab.refusal(
        #"{"do":"settings","apps":{"com.example.app":{"activityTypes":[\#(many.joined(separator: ","))]}}}"#
      ).contains("expected at most 20 names, each once"))
    _ = lab.set(#"{"activityTypes":[\#(many.dropLast().joined(separator: ","))]}"#)
    #expect(lab.phone.wantedTokens.count == 20)
  }

  @Test("apps in an order that is the same in each run, and those that are gone want nothing")
  func order() throws {
    var lab = Self.lab()
    for name in ["z", "b", "a"] {
      var app = PhoneApp(try #require(Topic(name)))
      app.build.activityTypes = ["T"]
      lab.phone.install(app)
    }
    #expect(
      lab.phone.wantedTokens.map(\.topic.app.topic.name) == [
        "a", "b", "com.example.app", "com.example.app", "z",
      ])
    lab.phone.remove(Lab.topic)
    #expect(lab.phone.wantedTokens.count == 3)
  }

  // MARK: What comes

  @Test("each is told with what it is for, once")
  func told() {
    var lab = Self.lab()
    _ = lab.order(Self.run)
    let start = lab.phone.take(
      Self.token("a"), of: Self.topic, context: .start(attributesType: "Game"), at: lab.now)
    #expect(start.story == ["token activity-start-token"] && start.first?.topic == Lab.topic)
    #expect(start.first?.detail == "\(Self.token("a").hex), to start Game")
    #expect(start.first?.members.last?.1.text == #""start:Game""#)
    let own = lab.phone.take(
      Self.token("b"), of: Self.topic, context: .activity(id: "activity-1"), at: lab.now)
    #expect(own.story == ["token activity-token"] && own.first?.context == .activity(id: "activity-1"))
    #expect(own.first?.detail == "\(Self.token("b").hex), for activity-1")
    #expect(
      lab.phone.take(Self.token("b"), of: Self.topic, context: .activity(id: "activity-1"), at: lab.now)
        .isEmpty)
  }

  @Test(
    "it may become another while the activity runs: both are told apart, and the order is for one that there is"
  )
  func renewed() {
    var lab = Self.lab()
    _ = lab.order(Self.run)
    let order = #"{"do":"renew-token","activity":"activity-1"}"#
    #expect(lab.refusal(order) == "absent: activity-1 has no update token")
    #expect(
      lab.refusal(#"{"do":"renew-token","activity":"x"}"#)
        == "absent: there is no Live Activity \"x\" on the phone; there is activity-1")
    let need = TokenNeed(Self.topic, .activity(id: "activity-1"))
    _ = lab.phone.take(Self.token("b"), of: Self.topic, context: need.context, at: lab.now)
    #expect(lab.order(order).story == ["token-asked activity-token-changed"])
    #expect(lab.phone.takeRenewals() == [need] && lab.phone.takeRenewals().isEmpty)
    #expect(Self.wanted(lab).contains("activity:activity-1"))
    let other = lab.phone.take(Self.token("c"), of: Self.topic, context: need.context, at: lab.now)
    #expect(other.story == ["token activity-token-changed"])
    #expect(lab.document("screen/activities/0/token") == "\"\(Self.token("c").hex)\"")
  }

  @Test("one that has ended is not to be renewed any more")
  func renewedAndEnded() {
    var lab = Self.lab()
    let contexts = [TokenContext.activity(id: "activity-1"), .activity(id: "activity-2")]
    for context in contexts {
      _ = lab.order(Self.run)
      _ = lab.phone.take(Self.token("b"), of: Self.topic, context: context, at: lab.now)
    }
    _ = lab.order(#"{"do":"renew-token","activity":"activity-1"}"#)
    _ = Self.end(&lab, "activity-1")
    _ = lab.order(#"{"do":"renew-token","activity":"activity-2"}"#)
    #expect(lab.phone.takeRenewals() == [TokenNeed(Self.topic, contexts[1])])
  }

  @Test("one that comes before the phone knows what time it is lets none pass")
  func early() {
    var lab = Self.lab()
    let early = lab.phone.take(
      Self.token("a"), of: Self.topic, context: .start(attributesType: "Game"),
      at: lab.now.adding(nanoseconds: 1_000_000_000))
    #expect(early.story == ["token activity-start-token"])
    #expect(lab.receive(#"{"alert":"Hello"}"#).allSatisfy { $0.at == lab.now })
  }

  @Test("the app shows its family, and an activity its own")
  func shown() {
    var lab = Self.lab()
    _ = lab.order(Self.run)
    #expect(Self.tokens(lab) == "[]" && lab.document("screen/activities/0/token") == "null")
    _ = lab.phone.take(Self.token("a"), of: Lab.topic, at: lab.now)
    _ = lab.phone.take(Self.token("b"), of: Self.topic, context: .activity(id: "activity-1"), at: lab.now)
    _ = lab.phone.take(Self.token("c"), of: Self.topic, context: .start(attributesType: "Order"), at: lab.now)
    let (a, b, c) = (Self.token("a").hex, Self.token("b").hex, Self.token("c").hex)
    #expect(
      Self.tokens(lab)
        == #"[{"topic":"com.example.app","context":null,"token":"\#(a)"},"#
        + #"{"topic":"\#(Self.topic)","context":"activity:activity-1","token":"\#(b)"},"#
        + #"{"topic":"\#(Self.topic)","context":"start:Order","token":"\#(c)"}]"#)
    #expect(lab.document("screen/activities/0/token") == "\"\(b)\"")
  }

  @Test("the token of an activity ends with it, and one that comes too late is none")
  func ended() {
    var lab = Self.lab()
    _ = lab.order(Self.run)
    _ = lab.phone.take(Self.token("b"), of: Self.topic, context: .activity(id: "activity-1"), at: lab.now)
    _ = Self.end(&lab, "activity-1")
    #expect(lab.document("screen/activities/0/token") == "null" && Self.tokens(lab) == "[]")
    let late = lab.phone.take(
      Self.token("d"), of: Self.topic, context: .activity(id: "activity-1"), at: lab.now)
    #expect(late.isEmpty && Self.tokens(lab) == "[]")
  }

  @Test(
    "a type that the app has no more starts nothing; with the app its family goes, and comes back as another")
  func gone() {
    var lab = Self.lab()
    let start = TokenContext.start(attributesType: "Game")
    _ = lab.phone.take(Self.token("a"), of: Lab.topic, at: lab.now)
    _ = lab.phone.take(Self.token("b"), of: Self.topic, context: start, at: lab.now)
    _ = lab.set(#"{"activityTypes":["Order"]}"#)
    #expect(!Self.tokens(lab).contains("start:") && Self.tokens(lab) != "[]")
    lab.phone.install(PhoneApp(Lab.topic))
    #expect(Self.tokens(lab) == "[]")
    _ = lab.set(#"{"activityTypes":["Game"]}"#)
    #expect(
      lab.phone.take(Self.token("c"), of: Self.topic, context: start, at: lab.now).story == [
        "token token-changed"
      ])
  }

  @Test("a restored phone wants them once the app is opened; no activity of it has the id of an earlier one")
  func restored() {
    var lab = Self.lab()
    _ = lab.order(Self.run)
    lab.phone.restore()
    #expect(Self.wanted(lab).isEmpty && lab.document("screen/activities") == "[]")
    _ = lab.order(#"{"do":"open","topic":"com.example.app"}"#)
    _ = lab.order(Self.run)
    #expect(Self.wanted(lab) == ["start:Game", "start:Order", "activity:activity-2"])
  }

  @Test("a thousand are remembered; those that ended make room, those that are valid do not")
  func bound() throws {
    var lab = Lab()
    let names = (1...1001).map { "com.example.app\($0)" }.compactMap { Topic($0) }
    for name in names { _ = lab.phone.take(Self.token("a"), of: name, at: lab.now) }
    let (last, over) = (TokenNeed(names[999], nil), TokenNeed(names[1000], nil))
    #expect(lab.phone.hasToken(for: last) && !lab.phone.hasToken(for: over))
    lab.phone.remove(names[0])
    _ = lab.phone.take(Self.token("a"), of: names[1000], at: lab.now)
    #expect(lab.phone.hasToken(for: last) && lab.phone.hasToken(for: over))
  }

  @Test("of those that end many are forgotten, none that is valid")
  func many() {
    var lab = Self.lab()
    let first = TokenContext.start(attributesType: "Game")
    _ = lab.phone.take(Self.token("a"), of: Self.topic, context: first, at: lab.now)
    for number in 1...1100 {
      _ = lab.order(Self.run)
      let id = "activity-\(number)"
      let told = lab.phone.take(Self.token("b"), of: Self.topic, context: .activity(id: id), at: lab.now)
      #expect(told.story == ["token activity-token"])
      _ = Self.end(&lab, id)
    }
    #expect(Self.tokens(lab).contains(Self.token("a").hex) && !Self.tokens(lab).contains(Self.token("b").hex))
  }
}
