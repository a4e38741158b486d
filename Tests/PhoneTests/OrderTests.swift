import Basics
import Phone
import PushModel
import Testing

/// What a person does, as it is written down.
@Suite("Orders")
struct OrderTests {
  /// One notification with a category, numbered 1; a call; a question; all orders below can be carried out.
  private static func lab() -> Lab {
    var lab = Lab { $0.permission = Permission(.authorized) }
    lab.phone.settings.isLocked = false
    _ = lab.set(
      #"{"categories":{"C":{"actions":[{"id":"a","title":"A"},{"id":"t","title":"T","kind":"text"}]}}}"#)
    _ = lab.receive(payload: "{}", .voip)
    _ = lab.receive(#"{"alert":"x","category":"C"}"#)
    _ = lab.order(
      #"{"do":"activity","topic":"com.example.app","attributesType":"T","intent":true}"#)
    if let need = lab.phone.wantedTokens.first,
      let token = DeviceToken(hex: String(repeating: "a", count: 64))
    {
      _ = lab.phone.take(token, of: need.topic, context: need.context, at: lab.now)
    }
    return lab
  }

  private static let app = #""topic":"com.example.app""#

  /// Each verb with all its members.
  private static let orders = [
    "{\"do\":\"open\",\(app)}", "{\"do\":\"leave\",\(app),\"state\":\"force-quit\"}",
    "{\"do\":\"register\",\(app)}",
    "{\"do\":\"authorize\",\(app),\"options\":[\"alert\"]}", "{\"do\":\"app-settings\",\(app),\"id\":2}",
    #"{"do":"tap","id":2}"#, #"{"do":"flick","id":2}"#, #"{"do":"dismiss","id":2}"#,
    "{\"do\":\"clear\",\(app)}",
    #"{"do":"clear"}"#, #"{"do":"action","id":2,"action":"a"}"#,
    #"{"do":"action","id":2,"action":"t","text":"x"}"#,
    #"{"do":"reply","id":2,"text":"x"}"#, #"{"do":"expand","id":2}"#, #"{"do":"close"}"#,
    #"{"do":"call","answer":true}"#, #"{"do":"call","decline":true}"#,
    #"{"do":"call","take":true}"#, #"{"do":"call","take":false}"#, #"{"do":"settings"}"#,
    "{\"do\":\"local\",\(app),\"identifier\":\"i\",\"content\":{\"body\":\"b\"},\"trigger\":{\"after\":\"1m\"}}",
    "{\"do\":\"unschedule\",\(app),\"identifiers\":[\"i\"]}", #"{"do":"region","region":"r","inside":true}"#,
    "{\"do\":\"activity\",\(app),\"attributesType\":\"T\",\"attributes\":{},\"contentState\":{},\"intent\":true}",
    #"{"do":"remove-activity","activity":"activity-1"}"#, #"{"do":"renew-token","activity":"activity-1"}"#,
    #"{"do":"restart"}"#,
  ]

  @Test("each verb can be carried out", arguments: orders)
  func fine(text: String) {
    var lab = Self.lab()
    #expect(lab.refusal(text) == "")
  }

  @Test("every verb has an order here, a summary and a schema")
  func complete() {
    let named = Set(
      Self.orders.compactMap { JSONReader.read(Array($0.utf8))?.string("do") } + ["answer", "trial"])
    #expect(named == Set(PhoneVerb.all.map(\.name)) && PhoneVerb.all.count == named.count)
    for verb in PhoneVerb.all {
      #expect(!verb.summary.isEmpty && verb.schema.string("type") == "object")
    }
  }

  @Test("an answer needs a question")
  func answer() {
    var lab = Self.lab()
    let order = "{\"do\":\"answer\",\(Self.app),\"allow\":true}"
    #expect(lab.refusal(order) == "absent: com.example.app has not asked for permission")
    _ = lab.set(#"{"permission":{"status":"not-determined"}}"#)
    _ = lab.order("{\"do\":\"authorize\",\(Self.app)}")
    #expect(lab.refusal(order) == "")
  }

  /// What is missing, by verb.
  private static let needed: [(String, [(String, String)])] = [
    ("open", [("topic", "a bundle id, as com.example.app")]),
    (
      "leave",
      [
        ("topic", "a bundle id, as com.example.app"),
        ("state", "one of background, suspended, terminated, force-quit"),
      ]
    ), ("register", [("topic", "a bundle id, as com.example.app")]),
    ("authorize", [("topic", "a bundle id, as com.example.app")]),
    ("answer", [("topic", "a bundle id, as com.example.app"), ("allow", "true or false")]),
    ("app-settings", [("topic", "a bundle id, as com.example.app")]),
    ("tap", [("id", "a number from 0 to 9223372036854775807")]),
    ("flick", [("id", "a number from 0 to 9223372036854775807")]),
    ("dismiss", [("id", "a number from 0 to 9223372036854775807")]),
    ("action", [("id", "a number from 0 to 9223372036854775807"), ("action", "a string")]),
    ("reply", [("id", "a number from 0 to 9223372036854775807"), ("text", "a string")]),
    ("expand", [("id", "a number from 0 to 9223372036854775807")]),
    (
      "local",
      [
        ("topic", "a bundle id, as com.example.app"), ("identifier", "1 to 200 characters"),
        ("content", "an object"),
      ]
    ), ("unschedule", [("topic", "a bundle id, as com.example.app")]),
    ("region", [("region", "1 to 200 characters"), ("inside", "true or false")]),
    ("activity", [("topic", "a bundle id, as com.example.app"), ("attributesType", "1 to 200 characters")]),
    ("remove-activity", [("activity", "1 to 200 characters")]),
    ("renew-token", [("activity", "1 to 200 characters")]),
  ]

  private static func members(_ verb: String) -> [(String, JSONValue)] {
    let text =
      orders.last { $0.contains("\"do\":\"\(verb)\"") } ?? "{\"do\":\"answer\",\(app),\"allow\":true}"
    guard case .object(let members)? = JSONReader.read(Array(text.utf8)) else { return [] }
    return members
  }

  @Test("each member that is missing or wrong gets a sentence with what was expected and what came")
  func wrong() {
    for (verb, needed) in Self.needed {
      for (name, expected) in needed {
        var lab = Self.lab()
        let without = JSONValue.object(Self.members(verb).filter { $0.0 != name }).text
        #expect(lab.refusal(without) == "invalid: \(name): expected \(expected), got nothing", "\(verb)")
        let other = JSONValue.object(Self.members(verb).map { $0.0 == name ? ($0.0, .array([1])) : $0 }).text
        #expect(lab.refusal(other) == "invalid: \(name): expected \(expected), got a list of 1", "\(verb)")
      }
    }
  }

  @Test("a member that does not belong to the verb is named")
  func strange() {
    for verb in PhoneVerb.all where verb.name != "settings" {
      var lab = Self.lab()
      let text = JSONValue.object(Self.members(verb.name) + [("colour", "red")]).text
      let refusal = lab.refusal(text)
      #expect(
        refusal.hasPrefix("invalid: the body: expected one of ") && refusal.hasSuffix("got \"colour\""),
        "\(refusal)")
    }
  }

  private static let rows: [(String, String)] = [
    (#"[]"#, "invalid: the body: expected an object, got an empty list"),
    (#"{}"#, "invalid: do: expected one of "),
    (#"{"do":"fly"}"#, "invalid: do: expected one of "), (#"{"do":7}"#, "invalid: do: expected one of "),
    (#"{"do":"tap","id":-1}"#, "invalid: id: expected a number from 0 to 9223372036854775807, got -1"),
    (#"{"do":"tap","id":1.5}"#, "invalid: id: expected a number from 0 to 9223372036854775807, got 1.5"),
    (#"{"do":"tap","id":9223372036854775808}"#, "invalid: id: expected a number from 0"),
    (
      "{\"do\":\"leave\",\(app),\"state\":\"foreground\"}",
      "invalid: state: expected one of background, suspended, terminated, force-quit, got \"foreground\""
    ),
    (
      "{\"do\":\"authorize\",\(app),\"options\":[\"vibrate\"]}",
      "invalid: options[0]: expected one of alert, badge"
    ),
    (#"{"do":"call"}"#, "invalid: the body: expected one of answer, decline to be true, got neither"),
    (
      #"{"do":"call","answer":true,"decline":true}"#,
      "invalid: the body: expected one of answer, decline to be true, got several"
    ),
    (
      #"{"do":"settings","iosVersion":"6"}"#,
      "invalid: iosVersion: expected a version of iOS from 7 on, as 18 or 17.2, got \"6\""
    ),
    (#"{"do":"settings","iosVersion":"100"}"#, "invalid: iosVersion: "),
    (
      #"{"do":"settings","language":"not a language"}"#,
      "invalid: language: expected a language, as en or pt-BR"
    ),
    (#"{"do":"settings","language":""}"#, "invalid: language: "),
    (#"{"do":"settings","locked":1}"#, "invalid: locked: expected true or false, got 1"),
    (#"{"do":"settings","focus":true}"#, "invalid: focus: expected an object, got true"),
    (#"{"do":"settings","focus":{"allows":["a b"]}}"#, "invalid: focus.allows[0]: expected a bundle id"),
    (#"{"do":"settings","colour":1}"#, "invalid: the body: expected one of "),
    (#"{"do":"settings","apps":[]}"#, "invalid: apps: expected an object, got an empty list"),
    (#"{"do":"settings","apps":{"a b":{}}}"#, "invalid: apps.a b: expected a bundle id"),
    (
      #"{"do":"settings","apps":{"com.example.none":{}}}"#,
      "absent: com.example.none is not installed on the phone"
    ),
  ]

  @Test("orders that are none", arguments: rows)
  func none(text: String, sentence: String) {
    var lab = Self.lab()
    let refusal = lab.refusal(text)
    #expect(refusal.hasPrefix(sentence), "\(refusal)")
  }

  @Test(
    "an app's settings that are none",
    arguments: [
      (#"{"state":"asleep"}"#, "state: expected one of foreground"),
      (#"{"permission":{"status":"maybe"}}"#, "permission.status: expected one of "),
      (#"{"permission":{"sound":"loud"}}"#, "permission.sound: expected true or false, got \"loud\""),
      (#"{"callbacks":["M7"]}"#, "callbacks[0]: expected one of M1"),
      (#"{"options":["shout"]}"#, "options[0]: expected one of banner"),
      (#"{"fetchSeconds":-1}"#, "fetchSeconds: expected a number from 0 to 3600, got -1"),
      (#"{"fetchSeconds":1e300}"#, "fetchSeconds: "),
      (#"{"serviceExtension":{"seconds":1e300}}"#, "serviceExtension.seconds: "),
      (
        #"{"serviceExtension":{"attachment":{"name":"a"}}}"#,
        "serviceExtension.attachment.type: expected a string, got nothing"
      ),
      (
        #"{"contentExtension":{"name":"a"}}"#,
        "contentExtension.categories: expected an array of strings, got nothing"
      ),
      (
        #"{"categories":{"C":{"actions":[{"id":"a"}]}}}"#,
        "categories.C.actions[0].title: expected a string, got nothing"
      ),
      (#"{"strings":{"en":{"k":1}}}"#, "strings.en.k: expected a string, got 1"),
      (#"{"sounds":{"a":-1}}"#, "sounds.a: expected a number"),
      (#"{"entitlement":"all"}"#, "entitlement: expected one of development, production, none, got \"all\""),
      (#"{"badge":-1}"#, ": expected one of "),
    ])
  func noneOfAnApp(members: String, sentence: String) {
    var lab = Self.lab()
    let before = lab.document("apps")
    let refusal = lab.refusal(#"{"do":"settings","locked":true,"apps":{"com.example.app":\#(members)}}"#)
    #expect(refusal.hasPrefix("invalid: apps.com.example.app") && refusal.contains(sentence), "\(refusal)")
    #expect(lab.document("apps") == before && lab.document("settings/locked") == "false")
  }

  private static func local(_ content: String, _ trigger: String) -> String {
    "{\"do\":\"local\",\(app),\"identifier\":\"i\",\"content\":\(content),\"trigger\":\(trigger)}"
  }

  @Test(
    "triggers that are none",
    arguments: [
      (#"{"after":"0s"}"#, "trigger.after: expected a duration above 0, as 61m or 1h30m, got \"0s\""),
      (#"{"after":60}"#, "trigger.after: "),
      (#"{"after":"999999999999d"}"#, "trigger.after: "),
      (#"{"at":"tomorrow"}"#, "trigger.at: expected a time as 2026-01-02T03:04:05Z, got \"tomorrow\""),
      (#"{"hour":24}"#, "trigger.hour: expected a number from 0 to 23, got 24"),
      (#"{"minute":5}"#, "trigger.hour: expected a number from 0 to 23, got nothing"),
      (#"{"hour":1,"weekday":8}"#, "trigger.weekday: expected a number from 1 to 7, got 8"),
      (#"{"enter":""}"#, "trigger.enter: expected 1 to 200 characters, got \"\""),
      (
        #"{"after":"1m","at":"2026-01-02T03:04:05Z"}"#,
        "trigger: expected one of after, at, hour, enter, leave, got after and at"
      ),
      (#"{"repeats":true}"#, "trigger.repeats: "),
      (#"{"at":"2026-01-02T03:04:05Z","repeats":true}"#, "trigger.repeats: "),
      (#"{"every":1}"#, "trigger: expected one of "),
    ])
  func trigger(text: String, sentence: String) {
    var lab = Self.lab()
    let refusal = lab.refusal(Self.local(#"{"body":"b"}"#, text))
    #expect(refusal.hasPrefix("invalid: \(sentence)"), "\(refusal)")
  }

  @Test("contents that are none, or too much")
  func content() {
    var lab = Self.lab()
    #expect(
      lab.refusal(Self.local(#"{"text":"b"}"#, "{}")).hasPrefix(
        "invalid: content: expected one of title, subtitle, body"))
    #expect(
      lab.refusal(Self.local(#"{"body":7}"#, "{}")) == "invalid: content.body: expected a string, got 7")
    let (fits, long) = (String(repeating: "x", count: 4085), String(repeating: "x", count: 4086))
    #expect(lab.refusal(Self.local("{\"body\":\"\(fits)\"}", "{}")) == "")
    #expect(
      lab.refusal(Self.local("{\"body\":\"\(long)\"}", "{}"))
        == "invalid: content: expected at most 4096 bytes, got 4097")
    let activity =
      "{\"do\":\"activity\",\(Self.app),\"attributesType\":\"T\",\"attributes\":{\"a\":\"\(long)\"}}"
    #expect(lab.refusal(activity) == "")
    #expect(
      lab.refusal(activity.replacing("\"a\"", with: "\"aa\""))
        == "invalid: attributes: expected at most 4096 bytes with contentState, got 4097")
  }

  @Test("what an app is set to has 32768 bytes at most, all of its settings together")
  func settings() {
    var lab = Self.lab()
    var empty = PhoneApp(Lab.topic)
    empty.build.strings = ["en": ["k": ""]]
    let rest = 32_768 - empty.document.encoded.count
    for (count, refusal) in [
      (rest, ""),
      (rest + 1, "invalid: apps.com.example.app: expected at most 32768 bytes of settings, got 32769"),
    ] {
      let strings = #"{"strings":{"en":{"k":"\#(String(repeating: "x", count: count))"}}}"#
      #expect(lab.refusal(#"{"do":"settings","apps":{"com.example.app":\#(strings)}}"#) == refusal)
    }
  }

  @Test("what is not on the phone is named, and nothing happens")
  func absent() {
    for verb in ["tap", "flick", "dismiss", "expand"] {
      var lab = Self.lab()
      #expect(lab.refusal(#"{"do":"\#(verb)","id":9}"#) == "absent: there is no notification 9 on the phone")
    }
    for order in Self.orders where order.contains(Self.app) {
      var lab = Self.lab()
      let before = lab.phone.document.text
      let other = order.replacing("com.example.app", with: "com.example.none")
      #expect(lab.refusal(other) == "absent: com.example.none is not installed on the phone", "\(order)")
      #expect(lab.phone.document.text == before)
    }
    var lab = Self.lab()
    #expect(
      lab.refusal(#"{"do":"action","id":2,"action":"z"}"#)
        == "absent: there is no action \"z\" on the notification: it has a, t")
    #expect(
      lab.refusal("{\"do\":\"app-settings\",\(Self.app),\"id\":9}")
        == "absent: there is no notification 9 on the phone")
    #expect(
      lab.refusal(#"{"do":"call","decline":true}"#) == ""
        && lab.refusal(#"{"do":"call","decline":true}"#) == "absent: there is no call to answer or decline")
  }

  @Test("what was due before an order that is refused is told with what comes next")
  func due() {
    var lab = Lab()
    let local = Self.local(#"{"body":"b"}"#, #"{"after":"1m"}"#)
    _ = lab.order(local)
    var later = lab.phone
    let moment = lab.now.adding(nanoseconds: 60_000_000_000)
    #expect(throws: PhoneOrderError.self) {
      try later.perform(PhoneOrder(["do": "tap", "id": 99]), at: moment)
    }
    #expect(later.advance(to: moment).shown != nil && later.advance(to: moment).isEmpty)
  }

  @Test("a verb of the console reads the members alone, and knows its name")
  func verb() throws {
    let order = try #require(try PhoneOrder(verb: "tap", JSONObject(members: [("id", 3)])))
    var lab = Lab()
    #expect(throws: PhoneOrderError(.absent, "there is no notification 3 on the phone")) {
      try lab.phone.perform(order, at: lab.now)
    }
    #expect(try PhoneOrder(verb: "fly", JSONObject()) == nil)
    #expect(
      throws: PhoneOrderError(.invalid, "id: expected a number from 0 to 9223372036854775807, got nothing")
    ) {
      try PhoneOrder(verb: "tap", JSONObject())
    }
  }

  // MARK: What they do to the phone

  @Test("opening unlocks, and the app that was in the foreground goes to the background")
  func open() {
    var lab = Lab()
    let other = Topic("com.example.other") ?? Lab.topic
    lab.phone.install(PhoneApp(other, state: .foreground))
    _ = lab.order(#"{"do":"open","topic":"com.example.app"}"#)
    #expect(
      lab.document("screen/foreground") == #""com.example.app""# && lab.document("screen/locked") == "false")
    #expect(lab.phone[other]?.state == .background)
    lab.phone.install(PhoneApp(other, state: .foreground))
    #expect(lab.app.state == .background)
    // What was opened wide stands before the app no more.
    _ = lab.receive(#"{"alert":"x"}"#)
    _ = lab.order(#"{"do":"expand","id":1}"#)
    #expect(lab.document("screen/expanded") == "1")
    _ = lab.order(#"{"do":"open","topic":"com.example.app"}"#)
    #expect(lab.document("screen/expanded") == "null")
  }

  @Test("locking puts the foreground app away, and what was an open banner is gone")
  func lock() {
    var lab = Lab()
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    _ = lab.order(#"{"do":"open","topic":"com.example.app"}"#)
    _ = lab.receive(#"{"alert":"x"}"#)
    _ = lab.order(#"{"do":"expand","id":1}"#)
    #expect(lab.document("screen/banner/id") == "1")
    _ = lab.order(#"{"do":"settings","locked":true}"#)
    #expect(lab.app.state == .background && lab.document("screen/banner") == "null")
    #expect(lab.document("screen/expanded") == "null" && lab.document("screen/foreground") == "null")
    // On the lock screen it shows, and once that is unlocked in the list alone.
    _ = lab.receive(#"{"alert":"y"}"#)
    #expect(lab.document("screen/lockScreen/0/body") == #""y""#)
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    #expect(
      lab.document("screen/lockScreen") == "[]" && lab.document("screen/list/1/notes/0/body") == #""x""#)
    _ = lab.order(#"{"do":"settings","locked":true}"#)
    #expect(lab.document("screen/lockScreen") == "[]")
  }

  @Test("a force-quit app may be woken again after a restart, once the phone is unlocked")
  func restart() {
    var lab = Lab(state: .forceQuit)
    let silent = #"{"content-available":1}"#
    lab.phone.settings.isLocked = false
    _ = lab.order(#"{"do":"restart"}"#)
    #expect(
      lab.document("screen/locked") == "true" && lab.receive(silent).story == ["dropped silent-force-quit"])
    #expect(lab.order(#"{"do":"settings","locked":false}"#).story == ["terminated restarted"])
    #expect(lab.receive(silent).calls == "M3")
    var other = Lab(state: .forceQuit)
    _ = other.order(#"{"do":"settings","locked":false}"#)
    #expect(other.receive(silent).calls == "none")
  }

  @Test("removing an app takes away all that it shows, and nothing of another")
  func remove() {
    var lab = Self.lab()
    _ = lab.set(#"{"permission":{"status":"not-determined"}}"#)
    _ = lab.order("{\"do\":\"authorize\",\(Self.app)}")
    _ = lab.order(#"{"do":"expand","id":2}"#)
    let other = Topic("com.example.other") ?? Lab.topic
    lab.phone.install(PhoneApp(other))
    let (places, before) = (["prompt", "call", "banner", "expanded", "activities", "list"], lab)
    lab.phone.remove(other)
    for place in places.map({ "screen/\($0)" }) {
      let shown = before.document(place)
      #expect(shown != "null" && shown != "[]" && lab.document(place) == shown, "\(place)")
    }
    lab.phone.remove(Lab.topic)
    for place in places.map({ "screen/\($0)" }) {
      #expect(["null", "[]"].contains(lab.document(place)), "\(place)")
    }
  }

  @Test("clearing dismisses each, of one app or of all; none of them is open any more")
  func clear() {
    var lab = Lab()
    for _ in 1...3 { _ = lab.receive(#"{"alert":"x"}"#) }
    _ = lab.order(#"{"do":"expand","id":2}"#)
    _ = lab.order(#"{"do":"dismiss","id":3}"#)
    #expect(lab.document("screen/expanded") == "2")
    #expect(lab.order(#"{"do":"clear","topic":"com.example.app"}"#).map(\.push) == [1, 2])
    #expect(lab.phone.notes.isEmpty && lab.document("screen/expanded") == "null")
    #expect(lab.order(#"{"do":"clear"}"#).isEmpty)
  }
}
