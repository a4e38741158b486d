import Basics
import Phone
import PushModel
import Testing

/// All that is to be seen of a phone (`Documentation/console-api.md#the-phone`).
@Suite("The phone's document")
struct DocumentTests {
  private static func names(_ value: JSONValue?) -> [String] {
    guard case .object(let members)? = value else { return [] }
    return members.map(\.0)
  }

  private static func has(_ value: JSONValue?, _ all: [String]) -> Bool {
    Set(all).isSubset(of: names(value))
  }

  @Test("has what the interface promises")
  func shape() throws {
    var lab = Lab()
    _ = lab.set(#"{"categories":{"C":{"actions":[{"id":"a","title":"A"}]}}}"#)
    _ = lab.receive(#"{"alert":{"title":"T"},"category":"C","thread-id":"t"}"#)
    _ = lab.receive(payload: "{}", .voip)
    _ = lab.order(
      #"{"do":"activity","topic":"com.example.app","attributesType":"Game","intent":true}"#)
    _ = lab.order(
      #"{"do":"local","topic":"com.example.app","identifier":"i","content":{"body":"B"},"trigger":{"after":"1h"}}"#
    )
    let document = lab.phone.document
    #expect(Self.names(document) == ["iosVersion", "settings", "screen", "apps"])
    #expect(Self.has(document.member("settings"), ["locked", "lowPower", "language", "network", "focus"]))
    let screen = try #require(document.member("screen"))
    #expect(
      Self.has(
        screen,
        [
          "locked", "badge", "lockScreen", "banner", "list", "foreground", "expanded", "prompt", "call",
          "activities",
        ]))
    #expect(lab.document("iosVersion") == #""26""# && lab.document("settings/focus") == "null")
    let note = [
      "id", "topic", "title", "subtitle", "body", "image", "thread", "category", "level", "at", "actions",
      "notificationId", "isLocal", "custom",
    ]
    guard case .array(let lockScreen)? = screen.member("lockScreen"),
      case .array(let list)? = screen.member("list")
    else {
      Issue.record("no lists")
      return
    }
    #expect(Self.has(lockScreen.first, note) && Self.has(list.first, ["topic", "thread", "notes"]))
    #expect(
      lab.document("screen/lockScreen/0/actions/0")
        == #"{"id":"a","title":"A","kind":"plain","foreground":false,"destructive":false,"authentication":false}"#
    )
    #expect(Self.names(screen.member("call")) == ["id", "topic", "caller", "state", "notificationId"])
    guard case .array(let activities)? = screen.member("activities") else { return }
    #expect(
      Self.names(activities.first) == [
        "id", "topic", "attributesType", "attributes", "contentState", "state", "alert", "updatedAt",
        "staleDate", "dismissalDate", "relevance", "token", "channel",
      ])
    #expect(
      Self.has(
        app(document),
        [
          "state", "permission", "callbacks", "badge", "silentBudget", "categories", "pending",
          "deviceTokens",
        ]))
    #expect(
      Self.has(
        app(document)?.member("permission"),
        ["status", "alert", "sound", "badge", "banner", "lockScreen", "list", "timeSensitive"]))
    #expect(lab.document("apps/com.example.app/callbacks") == #"["M3","M4","M5"]"#)
    #expect(
      lab.document("apps/com.example.app/silentBudget")
        == #"{"left":3,"of":3,"next":null,"held":false,"leftToday":48,"ofToday":48}"#)
    #expect(
      lab.document("apps/com.example.app/pending/0")
        == #"{"identifier":"i","title":null,"body":"B","next":"2020-09-13T13:26:40.000Z","repeats":false}"#)
  }

  private func app(_ document: JSONValue) -> JSONValue? { document.member("apps")?.member("com.example.app") }

  @Test("a lock screen has its newest first, and is empty where the phone is unlocked")
  func lockScreen() {
    var lab = Lab()
    for text in ["1", "2"] { _ = lab.receive(#"{"alert":"\#(text)","badge":\#(text)}"#) }
    #expect(
      lab.document("screen/lockScreen/0/body") == #""2""#
        && lab.document("screen/lockScreen/1/body") == #""1""#)
    #expect(lab.document("screen/badge") == #"{"com.example.app":2}"#)
    _ = lab.receive(#"{"badge":0}"#)
    #expect(lab.document("screen/badge") == "{}")
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    #expect(
      lab.document("screen/lockScreen") == "[]" && lab.document("screen/list/1/notes/0/body") == #""1""#)
  }

  @Test("what the budget and the held push are")
  func budget() {
    var lab = Lab()
    for _ in 1...4 { _ = lab.receive(#"{"content-available":1}"#) }
    #expect(
      lab.document("apps/com.example.app/silentBudget")
        == #"{"left":0,"of":3,"next":"2020-09-13T12:46:40.000Z","held":true,"leftToday":45,"ofToday":48}"#)
  }

  @Test("what it says of settings and apps can be sent back as an order")
  func isReadable() throws {
    var lab = Lab()
    _ = lab.set(
      #"{"serviceExtension":{"seconds":3},"sounds":{"a":1},"categories":{"C":{"actions":[]}},"options":null}"#
    )
    _ = lab.order(
      #"{"do":"settings","focus":{"allows":["com.example.app"],"filters":{"com.example.app":["w"]}}}"#)
    let before = lab.phone.document.text
    let settings = try #require(lab.phone.document.member("settings"))
    let apps = Self.names(app(lab.phone.document)).filter {
      !["badge", "silentBudget", "budgets", "pending", "deviceTokens"].contains($0)
    }
    .compactMap { name in app(lab.phone.document)?.member(name).map { "\"\(name)\":\($0.text)" } }
    _ = lab.set("{\(apps.joined(separator: ","))}")
    _ = lab.order(#"{"do":"settings",\#(settings.text.dropFirst())"#)
    #expect(lab.phone.document.text == before)
  }

  // MARK: How large it may be

  private static func isFine(_ phone: SimulatedPhone) -> Bool {
    let bytes = phone.document.encoded
    return bytes.count <= 262_144 && JSONText.compact(bytes) == bytes
  }

  /// With a hundred notes, and so many characters in the app's strings.
  private static func phone(_ count: Int) -> Lab {
    var lab = Lab()
    for _ in 1...100 { _ = lab.receive(#"{"alert":"x"}"#) }
    lab.phone[Lab.topic]?.build.strings = ["en": ["k": String(repeating: "x", count: count)]]
    return lab
  }

  @Test("of 256 KiB it shows all, with a byte more it shows half of the notes")
  func most() {
    let rest = 262_144 - Self.phone(0).phone.document.encoded.count
    let (all, half) = (Self.phone(rest), Self.phone(rest + 1))
    #expect(all.phone.document.encoded.count == 262_144 && all.document("screen/list/99") != "nothing")
    #expect(half.document("screen/list/49") != "nothing" && half.document("screen/list/50") == "nothing")
  }

  @Test("where nothing else helps it shows no notes, and of the first hundred apps what the user sees")
  func least() {
    var lab = Self.phone(300_000)
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    #expect(lab.receive(#"{"alert":"x"}"#).shown == [.banner, .list])
    for number in 1...100 { lab.phone.install(PhoneApp(Topic("com.example.b\(number)") ?? Lab.topic)) }
    let document = lab.phone.document
    let screen = document.member("screen")
    #expect(screen?.member("banner")?.text == "null" && screen?.member("list")?.text == "[]")
    #expect(Self.names(document.member("apps")).count == 100)
    #expect(app(document)?.member("strings") == nil && app(document)?.string("state") == "suspended")
  }

  @Test("at most 256 KiB with a hundred of the largest notes: it shows fewer")
  func largeNotes() {
    for filler in ["x", #"\u007f"#, "\u{7f}", "é", #"\""#] {
      var lab = Lab()
      let text = String(repeating: filler, count: 4000 / filler.utf8.count)
      for _ in 1...100 { _ = lab.receive(#"{"alert":"\#(text)"}"#) }
      #expect(Self.isFine(lab.phone), "\(filler)")
      #expect(lab.document("screen/list/0/notes/0/id") == "100" && lab.document("screen/list/1") != "nothing")
    }
  }

  @Test("at most 256 KiB with as much of everything as fits")
  func largeAll() throws {
    var lab = Lab()
    let text = String(repeating: "\u{7f}", count: 3000)
    for number in 0..<64 {
      _ = lab.order(
        #"{"do":"local","topic":"com.example.app","identifier":"\#(number)","content":{"body":"\#(text.prefix(650))"},"trigger":{"after":"1h"}}"#
      )
      _ = lab.receive(
        payload:
          #"{"aps":{"event":"start","timestamp":1,"attributes-type":"T","attributes":{},"alert":{"body":"\#(text)"},"content-state":{}}}"#,
        .liveactivity)
    }
    for name in ["strings", "categories", "sounds"] {
      let key = String(repeating: "k", count: 30_000)
      let value = ["strings": #"{"k":"v"}"#, "categories": "{}", "sounds": "1"][name] ?? ""
      _ = lab.set(#"{"\#(name)":{"\#(key)":\#(value)}}"#)
    }
    let types = (1...20).map { "\($0)" + String(repeating: "T", count: 98) }
    for number in 1...200 {
      var app = PhoneApp(Topic("com.example.app\(number)") ?? Lab.topic)
      app.build.callbacks = Set(AppCallback.allCases)
      if number <= 10 { app.build.activityTypes = types }
      lab.phone.install(app)
    }
    let token = try #require(DeviceToken(hex: String(repeating: "a", count: 64)))
    for need in lab.phone.wantedTokens {
      _ = lab.phone.take(token, of: need.topic, context: need.context, at: lab.now)
    }
    #expect(Self.isFine(lab.phone))
  }

  @Test("data of Live Activities that is nested deeply is shown as text below 16 levels")
  func deep() {
    var lab = Lab()
    let deep = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
    _ = lab.receive(
      payload:
        #"{"aps":{"event":"start","timestamp":1,"attributes-type":"T","attributes":{"a":\#(deep)},"alert":{},"content-state":{}}}"#,
      .liveactivity)
    #expect(lab.document("screen/activities/0/attributesType") == #""T""#)
    #expect(JSONReader.read(lab.phone.document.encoded, maximumDepth: 32) != nil)
  }

  @Test("of its nested data 16 levels are shown as they are", arguments: [("[", "]"), (#"{"a":"#, "}")])
  func levels(opening: String, closing: String) {
    // The attributes themselves are the first.
    let data = { (levels: Int, inside: String) in
      #"{"a":"# + String(repeating: opening, count: levels - 1) + inside
        + String(repeating: closing, count: levels - 1) + "}"
    }
    for (inside, shown) in [("7", "7"), ("{}", #""{}""#), ("[]", #""[]""#)] {
      var lab = Lab()
      _ = lab.receive(
        payload:
          #"{"aps":{"event":"start","timestamp":1,"attributes-type":"T","attributes":\#(data(16, inside)),"alert":{},"content-state":{}}}"#,
        .liveactivity)
      #expect(lab.document("screen/activities/0/attributes") == data(16, shown))
    }
  }

  @Test("numbers as large as they come")
  func numbers() {
    var lab = Lab()
    var push = PhonePush(
      id: .max, topic: Lab.topic, payload: Array(#"{"aps":{"alert":"x","badge":9223372036854775807}}"#.utf8))
    push.notificationId = .max
    _ = lab.phone.receive(push, at: lab.now)
    #expect(Self.isFine(lab.phone) && lab.document("screen/lockScreen/0/id") == "9223372036854775807")
    let id = lab.phone.makeId()
    #expect(id != .max && id != 0)
  }
}
