import Basics
import Phone
import Testing

/// `Documentation/device-behaviour.md#content-extension-and-actions`, and the methods of `#callbacks` for actions.
@Suite("Content extension and actions")
struct ActionTests {
  private static let setting = #"""
    {"categories":{"MSG":{"customDismiss":true,"actions":[
    {"id":"like","title":"Like"},{"id":"open","title":"Open","foreground":true},
    {"id":"pay","title":"Pay","authentication":true,"destructive":true},
    {"id":"reply","title":"Reply","kind":"text","button":"Send","placeholder":"Say"}]},
    "PLAIN":{"actions":[{"id":"like","title":"Like"}]}}}
    """#
  private static let aps = #"{"alert":"Hello","category":"MSG","thread-id":"t"}"#
  private static let response = AppCallback.response.selector
  private static let shown = "didReceiveNotification:"
  private static let asked = "didReceiveNotificationResponse:completionHandler:"
  private static let handle =
    "application:handleActionWithIdentifier:forRemoteNotification:completionHandler:"
  private static let handleText =
    "application:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:"

  /// With one notification, numbered 1.
  private static func lab(
    _ version: IOSVersion = .standard, _ state: AppState = .suspended, _ contentExtension: String = "null",
    aps: String = aps
  ) -> Lab {
    var lab = Lab(version, state: state)
    _ = lab.set(setting)
    _ = lab.set(#"{"contentExtension":\#(contentExtension)}"#)
    _ = lab.receive(aps)
    return lab
  }

  private static func choose(_ action: String) -> String { #"{"do":"action","id":1,"action":"\#(action)"}"# }

  @Test(
    "a chosen action goes to M5 with its identifier, and wakes or launches the app",
    arguments: AppState.allCases)
  func plain(state: AppState) {
    guard state != .foreground else { return }
    var lab = Self.lab(.standard, state)
    let events = lab.order(Self.choose("like"))
    #expect(events.calls == "M5" && events.last?.argument == "like")
    #expect(events.contains { $0.what == .launched } == !state.isRunning)
    #expect(lab.app.state.isRunning && lab.app.state != .foreground && lab.phone.notes.isEmpty)
  }

  @Test("a foreground action also opens the app")
  func foreground() {
    var lab = Self.lab()
    let events = lab.order(Self.choose("open"))
    #expect(events.story == ["opened action-foreground", "callback action-response"])
    #expect(lab.app.state == .foreground && lab.document("settings/locked") == "false")
  }

  @Test("authenticationRequired unlocks first, where it is locked")
  func authentication() {
    var lab = Self.lab()
    #expect(lab.order(Self.choose("pay")).first?.rule == .actionUnlocks)
    #expect(lab.document("settings/locked") == "false")
    _ = lab.receive(Self.aps)
    #expect(lab.order(#"{"do":"action","id":2,"action":"pay"}"#).calls == "M5")
    var plain = Self.lab()
    _ = plain.order(Self.choose("like"))
    #expect(plain.document("settings/locked") == "true")
  }

  @Test("a text input gives userText, by action or reply; without text it is refused")
  func text() {
    for order in [
      #"{"do":"reply","id":1,"text":"On my way"}"#,
      #"{"do":"action","id":1,"action":"reply","text":"On my way"}"#,
    ] {
      var lab = Self.lab()
      let events = lab.order(order)
      #expect(events.calls == "M5" && events.last?.argument == #"reply, userText "On my way""#)
    }
    var lab = Self.lab()
    #expect(
      lab.refusal(Self.choose("reply"))
        == "invalid: text: expected what was typed, as reply is a text input, got nothing")
    #expect(lab.phone.notes.count == 1)
  }

  @Test("iOS 8 has its own method, iOS 9 another for text, which 8 does not have")
  func old() {
    for (version, methods) in [(8, ["\(Self.handle) like"]), (9, ["\(Self.handle) like"]), (10, [])] {
      var lab = Self.lab(IOSVersion(version))
      #expect(lab.order(Self.choose("like")).methods == methods)
    }
    var lab = Self.lab(IOSVersion(9))
    #expect(
      lab.order(#"{"do":"reply","id":1,"text":"x"}"#).methods == [#"\#(Self.handleText) reply, userText "x""#]
    )
    var older = Self.lab(IOSVersion(8))
    #expect(
      older.refusal(#"{"do":"reply","id":1,"text":"x"}"#)
        == "absent: notification 1 has no action that takes text")
    var oldest = Self.lab(IOSVersion(7))
    #expect(oldest.document("screen/list/0/notes/0/actions") == "[]")
    #expect(oldest.refusal(Self.choose("like")).hasSuffix("it has none"))
  }

  @Test("a local notification's action has a method of its own before iOS 10")
  func local() {
    var lab = Lab(IOSVersion(9))
    _ = lab.set(Self.setting)
    _ = lab.order(
      #"{"do":"local","topic":"com.example.app","identifier":"a","content":{"body":"B","category":"MSG"}}"#)
    #expect(
      lab.order(Self.choose("like")).methods == [
        "application:handleActionWithIdentifier:forLocalNotification:completionHandler: like"
      ])
  }

  @Test("without M5 nobody hears of an action")
  func nobody() {
    var lab = Lab(.standard, .suspended, implementing: [.fetch, .receive])
    _ = lab.set(Self.setting)
    _ = lab.receive(Self.aps)
    #expect(lab.order(Self.choose("like")).has(.noCallback, .actionNobody))
  }

  @Test("a tap gives the default identifier, a dismissal another: only with customDismissAction")
  func identifiers() {
    var lab = Self.lab()
    #expect(
      lab.order(#"{"do":"tap","id":1}"#).last?.argument == "com.apple.UNNotificationDefaultActionIdentifier")
    for (category, hears) in [("MSG", true), ("PLAIN", false), ("NONE", false)] {
      var lab = Self.lab(aps: #"{"alert":"Hello","category":"\#(category)"}"#)
      let events = lab.order(#"{"do":"dismiss","id":1}"#)
      #expect(events.calls == (hears ? "M5" : "none") && lab.phone.notes.isEmpty)
      if hears { #expect(events.last?.argument == "com.apple.UNNotificationDismissActionIdentifier") }
    }
  }

  @Test("flicking a banner away is not a dismissal: it stays in the list")
  func flick() {
    var lab = Lab()
    _ = lab.set(Self.setting)
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    _ = lab.receive(Self.aps)
    #expect(lab.document("screen/banner/id") == "1")
    #expect(lab.order(#"{"do":"flick","id":1}"#).story == ["no-callback flicked"])
    #expect(lab.document("screen/banner") == "null" && lab.document("screen/list/0/notes/0/id") == "1")
    #expect(lab.refusal(#"{"do":"flick","id":1}"#) == "absent: notification 1 is no banner now")
  }

  @Test("up to ten actions show, two in a banner, as their options say")
  func many() {
    var lab = Lab()
    let actions = (1...12).map { #"{"id":"a\#($0)","title":"A"}"# }.joined(separator: ",")
    _ = lab.set(#"{"categories":{"C":{"actions":[\#(actions)]}}}"#)
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    _ = lab.receive(#"{"alert":"Hello","category":"C"}"#)
    #expect(
      lab.document("screen/banner/actions/1/id") == #""a2""#
        && lab.document("screen/banner/actions/2") == "nothing")
    #expect(lab.document("screen/list/0/notes/0/actions/9/id") == #""a10""#)
    #expect(lab.document("screen/list/0/notes/0/actions/10") == "nothing")
    #expect(lab.refusal(Self.choose("a11")).hasPrefix("absent: there is no action \"a11\""))
    let pay = Self.lab().document("screen/list/0/notes/0/actions/2")
    #expect(pay.contains(#""destructive":true"#) && pay.contains(#""authentication":true"#))
    let reply = Self.lab().document("screen/list/0/notes/0/actions/3")
    #expect(reply.contains(#""kind":"text""#) && reply.contains(#""button":"Send","placeholder":"Say""#))
  }

  // MARK: The content extension

  private static func content(_ more: String = "") -> String {
    #"{"name":"Map","categories":["MSG","X"]\#(more)}"#
  }

  @Test("chosen by category; starts only when the notification is expanded; since iOS 10")
  func chosen() {
    for (version, category, starts) in [
      (18, "MSG", true), (18, "X", true), (18, "PLAIN", false), (9, "MSG", false),
    ] {
      var lab = Self.lab(
        IOSVersion(version), .suspended, Self.content(), aps: #"{"alert":"x","category":"\#(category)"}"#)
      #expect(lab.document("screen/list/0/notes/0/custom") == (starts ? #""Map""# : "null"))
      #expect(lab.order(#"{"do":"expand","id":1}"#).methods == (starts ? ["\(Self.shown) Map"] : []))
      #expect(lab.document("screen/expanded") == "1")
    }
  }

  @Test(
    "hears of further ones of its category and thread while it is open",
    arguments: [
      (#"{"alert":"2","category":"MSG","thread-id":"t"}"#, true),
      (#"{"alert":"2","category":"MSG","thread-id":"u"}"#, false),
      (#"{"alert":"2","category":"X","thread-id":"t"}"#, false), (#"{"alert":"2","category":"MSG"}"#, false),
    ])
  func further(aps: String, hears: Bool) {
    var lab = Self.lab(.standard, .suspended, Self.content())
    _ = lab.order(#"{"do":"expand","id":1}"#)
    #expect(lab.receive(aps).methods == (hears ? ["\(Self.shown) Map"] : []))
    _ = lab.order(#"{"do":"close"}"#)
    #expect(lab.document("screen/expanded") == "null" && lab.receive(aps).methods == [])
  }

  @Test("its layout: default content, touches since iOS 12, first height")
  func layout() {
    let more = #","hidesDefaultContent":true,"takesTouches":true,"sizeRatio":0.5"#
    for (version, touches) in [(11, false), (12, true)] {
      let view = Self.lab(IOSVersion(version), .suspended, Self.content(more)).document(
        "screen/list/0/notes/0/customView")
      #expect(view == #"{"name":"Map","defaultContent":false,"touches":\#(touches),"sizeRatio":0.5}"#)
    }
    let plain = Self.lab(.standard, .suspended, Self.content()).document("screen/list/0/notes/0/customView")
    #expect(plain == #"{"name":"Map","defaultContent":true,"touches":false,"sizeRatio":null}"#)
  }

  /// Its answer, the action, whether the notification stays, whether the app gets it, and the rule.
  private static let answers: [(String, String, Bool, Bool, PhoneRule)] = [
    ("do-not-dismiss", "like", true, false, .contentKeeps),
    ("do-not-dismiss", "open", true, false, .contentKeeps),
    ("dismiss", "like", false, false, .contentDismisses), ("dismiss", "open", true, false, .contentStays),
    ("dismiss-and-forward", "like", false, true, .contentForwards),
    ("dismiss-and-forward", "open", false, true, .contentForwards),
  ]

  @Test("a chosen action goes to it first, and its answer decides", arguments: answers)
  func answer(answer: String, action: String, stays: Bool, appHears: Bool, rule: PhoneRule) {
    var lab = Self.lab(.standard, .terminated, Self.content(#","answer":"\#(answer)""#))
    _ = lab.order(#"{"do":"expand","id":1}"#)
    let events = lab.order(Self.choose(action))
    #expect(events.methods == ["\(Self.asked) \(action)"] && events.first?.rule == rule)
    #expect((events.calls == "M5") == appHears && lab.phone.notes.isEmpty == !stays)
    #expect((lab.app.state == .terminated) == !appHears)
  }

  @Test("until it has called the completion handler the notification stays", arguments: answers)
  func slowAnswer(answer: String, action: String, stays: Bool, appHears: Bool, rule: PhoneRule) {
    var lab = Self.lab(
      .standard, .terminated, Self.content(#","answer":"\#(answer)","answerSeconds":3"#))
    _ = lab.order(#"{"do":"expand","id":1}"#)
    let chosen = lab.order(Self.choose(action))
    #expect(chosen.methods == ["\(Self.asked) \(action)"] && chosen.map(\.rule) == [.contentWaits])
    #expect(lab.wait(seconds: 2).isEmpty && !lab.phone.notes.isEmpty && lab.app.state == .terminated)
    let answered = lab.wait(seconds: 1)
    #expect(answered.first?.what == .extensionEnded && answered.first?.rule == rule)
    #expect((answered.calls == "M5") == appHears && lab.phone.notes.isEmpty == !stays)
  }

  @Test("a slow answer comes too late for a notification that has gone")
  func lateAnswer() {
    var lab = Self.lab(
      .standard, .suspended, Self.content(#","answer":"dismiss-and-forward","answerSeconds":3"#))
    _ = lab.order(#"{"do":"expand","id":1}"#)
    _ = lab.order(Self.choose("like"))
    _ = lab.order(#"{"do":"clear"}"#)
    #expect(lab.wait(seconds: 3).isEmpty)
  }

  @Test("its preferredContentSize is to be seen; icons of actions since iOS 15")
  func looks() {
    let size = #""preferredContentSize":{"width":320,"height":180}"#
    let lab = Self.lab(.standard, .suspended, Self.content("," + size))
    let shown = lab.document("screen/list/0/notes/0/customView/preferredContentSize")
    #expect(shown == #"{"width":320.0,"height":180.0}"#)
    for version in [14, 15] {
      var lab = Lab(IOSVersion(version))
      _ = lab.set(#"{"categories":{"MSG":{"actions":[{"id":"a","title":"A","icon":"hand.thumbsup"}]}}}"#)
      _ = lab.receive(Self.aps)
      let icon = lab.document("screen/list/0/notes/0/actions/0/icon")
      #expect(icon == (version < 15 ? "nothing" : #""hand.thumbsup""#))
    }
  }

  @Test("not where it is closed, or does not implement it")
  func bypassed() {
    for more in ["", #","answer":"do-not-dismiss""#] {
      var lab = Self.lab(.standard, .suspended, Self.content(more))
      if more.isEmpty { _ = lab.order(#"{"do":"expand","id":1}"#) }
      let events = lab.order(Self.choose("like"))
      #expect(events.calls == "M5" && events.methods == [])
    }
  }

  // MARK: M6

  private static let button = #"{"do":"app-settings","topic":"com.example.app"}"#

  @Test("M6: the button for the app's own settings, with providesAppNotificationSettings, since iOS 12")
  func openSettings() {
    for (version, provides, has, calls) in [
      (11, true, true, "none"), (12, true, true, "M6"), (18, false, true, "none"), (18, true, false, "none"),
    ] {
      var lab = Self.lab(IOSVersion(version))
      _ = lab.set(#"{"providesSettings":\#(provides),"callbacks":[\#(has ? #""M6""# : "")]}"#)
      let events = lab.order(Self.button)
      #expect(events.calls == calls && events.last?.push == nil)
      #expect((lab.app.state == .foreground) == (calls == "M6"))
    }
    var lab = Self.lab()
    _ = lab.set(#"{"providesSettings":true,"callbacks":["M6"]}"#)
    let events = lab.order(#"{"do":"app-settings","topic":"com.example.app","id":1}"#)
    #expect(events.last?.what == .callback(.openSettings) && events.last?.push == 1)
  }
}
