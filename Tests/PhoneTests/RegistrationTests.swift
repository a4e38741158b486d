import Phone
import PushModel
import Testing

/// `Documentation/device-behaviour.md#registration-and-permission`.
@Suite("Registration and permission")
struct RegistrationTests {
  private static let success = "application:didRegisterForRemoteNotificationsWithDeviceToken:"
  private static let failure = "application:didFailToRegisterForRemoteNotificationsWithError:"
  private static let register = #"{"do":"register","topic":"com.example.app"}"#

  private static func authorize(_ options: String = "[]") -> String {
    #"{"do":"authorize","topic":"com.example.app","options":\#(options)}"#
  }

  private static func answer(_ allows: Bool) -> String {
    #"{"do":"answer","topic":"com.example.app","allow":\#(allows)}"#
  }

  private static func lab(_ version: IOSVersion = .standard, _ status: Permission.Status = .notDetermined)
    -> Lab
  {
    Lab(version, state: .foreground) { $0.permission = Permission(status) }
  }

  @Test(
    "since iOS 8 a token comes whatever the user allowed", arguments: [IOSVersion(8), IOSVersion(18)],
    [Permission.Status.notDetermined, .denied, .authorized])
  func token(version: IOSVersion, status: Permission.Status) {
    var lab = Self.lab(version, status)
    let events = lab.order(Self.register)
    #expect(events.methods == [Self.success] && events.map(\.rule) == [.registered])
  }

  @Test("up to iOS 7 registering asks, and denied neither method is called", arguments: [true, false])
  func before8(allows: Bool) {
    for order in [Self.register, Self.authorize()] {
      var lab = Self.lab(IOSVersion(7))
      #expect(lab.order(order).story == ["permission prompt-once"])
      let events = lab.order(Self.answer(allows))
      #expect(events.methods == (allows ? [Self.success] : []))
      #expect(events.story.last == (allows ? "callback" : "no-callback") + " registration-asks")
      // Asked once.
      let again = lab.order(Self.register)
      #expect(again.methods == (allows ? [Self.success] : []) && lab.document("screen/prompt") == "null")
    }
  }

  @Test("iOS 8 and 9 answer in didRegisterUserNotificationSettings", arguments: [8, 9, 10])
  func settingsMethod(version: Int) {
    var lab = Self.lab(IOSVersion(version))
    #expect(lab.order(Self.authorize()).methods == [])
    let called = version < 10 ? ["application:didRegisterUserNotificationSettings:"] : []
    #expect(lab.order(Self.answer(true)).methods == called)
    #expect(lab.order(Self.authorize()).methods == called)
  }

  @Test("the user is asked once; later requests give the stored answer", arguments: [true, false])
  func once(allows: Bool) {
    var lab = Self.lab()
    let asked = lab.order(Self.authorize(#"["alert","badge"]"#))
    #expect(asked.has(.prompted, .promptOnce))
    #expect(lab.document("screen/prompt") == #"{"topic":"com.example.app","options":["alert","badge"]}"#)
    let status: Permission.Status = allows ? .authorized : .denied
    #expect(lab.order(Self.answer(allows)).has(.permission(status), .promptAnswered))
    #expect(lab.app.permission.status == status && lab.document("screen/prompt") == "null")
    #expect(lab.order(Self.authorize()).story == ["permission prompt-again"])
    #expect(lab.document("screen/prompt") == "null")
  }

  @Test("what was not asked for is not allowed")
  func options() {
    var lab = Self.lab()
    _ = lab.order(Self.authorize(#"["alert"]"#))
    _ = lab.order(Self.answer(true))
    let events = lab.order(#"{"do":"leave","topic":"com.example.app","state":"suspended"}"#)
    #expect(events.isEmpty)
    let push = lab.receive(#"{"alert":"Hello","sound":"default","badge":1}"#)
    #expect(push.shown != nil && push.has(.noSound, .soundOff) && push.has(.noBadge, .badgeOff))
  }

  @Test(
    "options that this iOS does not know are not asked",
    arguments: [
      (9, #"["alert"]"#), (10, #"["alert","carPlay"]"#),
      (12, #"["alert","carPlay","criticalAlert","providesAppNotificationSettings"]"#),
      (13, #"["alert","carPlay","criticalAlert","providesAppNotificationSettings","announcement"]"#),
      (15, #"["alert","carPlay","criticalAlert","providesAppNotificationSettings","timeSensitive"]"#),
    ])
  func optionsOfVersion(version: Int, asked: String) {
    var lab = Self.lab(IOSVersion(version))
    _ = lab.order(
      Self.authorize(
        #"["alert","carPlay","criticalAlert","providesAppNotificationSettings","announcement","timeSensitive"]"#
      ))
    #expect(lab.document("screen/prompt/options") == asked)
  }

  @Test("whoever asks with providesAppNotificationSettings has the button for its own settings")
  func providesSettings() {
    let button = #"{"do":"app-settings","topic":"com.example.app"}"#
    for (options, calls) in [("[]", "none"), (#"["alert","providesAppNotificationSettings"]"#, "M6")] {
      var lab = Self.lab()
      _ = lab.set(#"{"callbacks":["M6"]}"#)
      _ = lab.order(Self.authorize(options))
      _ = lab.order(Self.answer(true))
      #expect(lab.order(button).calls == calls)
    }
  }

  @Test("provisional asks nobody and delivers quietly, since iOS 12", arguments: [11, 12])
  func provisional(version: Int) {
    var lab = Self.lab(IOSVersion(version))
    let events = lab.order(Self.authorize(#"["alert","provisional"]"#))
    #expect(events.story == [version < 12 ? "permission prompt-once" : "permission provisional-asks-nobody"])
    guard version >= 12 else { return }
    for state in ["suspended", "foreground"] {
      _ = lab.set(#"{"state":"\#(state)"}"#)
      let push = lab.receive(#"{"alert":"Hello","sound":"default"}"#)
      #expect(push.shown == .list && push.has(.noSound, .provisional), "\(state)")
    }
  }

  @Test("provisional: in the list alone, no sound, no badge, whatever the app asks for in the foreground")
  func provisionalIsQuiet() {
    for state in [AppState.suspended, .foreground] {
      var lab = Lab(state: state) {
        $0.permission = Permission(.provisional)
        $0.build.mayBeCritical = true
      }
      let push = lab.receive(#"{"alert":"Hello","sound":{"critical":1,"name":"x"},"badge":3}"#)
      #expect(push.shown == .list && push.has(.noSound, .provisional) && push.has(.noBadge, .provisional))
      #expect(lab.app.badge == 0 && lab.document("apps/com.example.app/badge") == "0")
    }
  }

  @Test("provisional alone shows in the list too")
  func provisionalAlone() {
    var lab = Self.lab()
    _ = lab.order(Self.authorize(#"["provisional"]"#))
    #expect(lab.receive(#"{"alert":"Hello"}"#).shown == .list)
  }

  private static func trial(_ choice: String) -> String {
    #"{"do":"trial","topic":"com.example.app","choice":"\#(choice)"}"#
  }

  /// On trial, for which the app has asked for alerts and badges.
  private static func onTrial(_ version: Int) -> Lab {
    var lab = lab(IOSVersion(version))
    _ = lab.order(authorize(#"["alert","badge","provisional"]"#))
    _ = lab.order(#"{"do":"settings","locked":true,"apps":{"com.example.app":{"state":"suspended"}}}"#)
    return lab
  }

  @Test(
    "Keep… and Turn Off…: what is behind them depends on the version",
    arguments: [
      (14, "deliver-prominently", [.lockScreen, .list] as Presentation?, 1),
      (14, "deliver-quietly", .list, 0),
      (15, "deliver-immediately", .list, 0), (26, "deliver-in-summary", nil, 0), (12, "turn-off", nil, 0),
      (26, "turn-off", nil, 0),
    ])
  func provisionalChoice(version: Int, choice: String, shown: Presentation?, badge: Int) {
    var lab = Self.onTrial(version)
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.document("screen/list/0/notes/0/trial").contains("\"\(choice)\""))
    let isOff = choice == "turn-off"
    #expect(
      lab.order(Self.trial(choice)).has(
        .permission(isOff ? .denied : .authorized), isOff ? .trialEnded : .trialKept))
    let push = lab.receive(#"{"alert":"Hello","sound":"default","badge":1}"#)
    #expect(push.shown == shown && lab.app.badge == badge && !push.contains { $0.what.name == "sound" })
    if choice == "deliver-in-summary" { #expect(push.contains { $0.rule == .summaryWaits }) }
    #expect(lab.document("screen/list/0/notes/0/trial") == "[]")
    #expect(lab.refusal(Self.trial(choice)).hasPrefix("absent: the permission of com.example.app is not"))
  }

  @Test("a button of another version is not there")
  func provisionalButtons() {
    var old = Self.onTrial(14)
    #expect(
      old.refusal(Self.trial("deliver-immediately"))
        == "invalid: choice: expected one of deliver-prominently, deliver-quietly, turn-off on iOS 14, got \"deliver-immediately\""
    )
    var new = Self.onTrial(15)
    #expect(new.refusal(Self.trial("deliver-prominently")).hasPrefix("invalid: choice: expected one of"))
  }

  @Test("in Settings the user may allow what was provisional, or deny it")
  func provisionalInSettings() {
    var lab = Lab { $0.permission = Permission(.provisional) }
    #expect(
      lab.set(#"{"permission":{"status":"authorized"}}"#).has(.permission(.authorized), .settingsChanged))
    #expect(lab.receive(#"{"alert":"Hello"}"#).shown == [.lockScreen, .list])
    _ = lab.set(#"{"permission":{"status":"denied"}}"#)
    #expect(lab.receive(#"{"alert":"Hello"}"#).has(.notPresented, .denied))
  }

  @Test("ephemeral permission shows, as authorized does")
  func ephemeral() {
    var lab = Lab { $0.permission = Permission(.ephemeral) }
    #expect(lab.receive(#"{"alert":"Hello"}"#).shown == [.lockScreen, .list])
  }

  @Test(
    "each that the user may switch off later",
    arguments: [
      ("alert", PhoneRule.alertOff), ("sound", .soundOff), ("badge", .badgeOff), ("lockScreen", .systemShows),
      ("list", .systemShows),
    ])
  func later(name: String, rule: PhoneRule) {
    var lab = Lab()
    let change = lab.set(#"{"permission":{"\#(name)":false}}"#)
    #expect(change.story == ["permission settings-changed"])
    let events = lab.receive(#"{"alert":"Hello","sound":"default","badge":1}"#)
    #expect(events.contains { $0.rule == rule })
    #expect(
      events.shown
        == (name == "alert"
          ? nil : name == "lockScreen" ? .list : name == "list" ? .lockScreen : [.lockScreen, .list]))
  }

  @Test("a banner that is switched off leaves the list")
  func bannerOff() {
    var lab = Lab()
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    _ = lab.set(#"{"permission":{"banner":false}}"#)
    #expect(lab.receive(#"{"alert":"Hello"}"#).shown == .list)
  }

  @Test("without a connection the app waits; once it is there: success", arguments: [7, 18])
  func network(version: Int) {
    var lab = Self.lab(IOSVersion(version), .authorized)
    _ = lab.order(#"{"do":"settings","network":false}"#)
    let waits = lab.order(Self.register)
    #expect(waits.methods == [] && waits.story == ["no-callback registration-waits"])
    #expect(lab.order(#"{"do":"settings","network":true}"#).methods == [Self.success])
    #expect(lab.order(#"{"do":"settings","network":true}"#).isEmpty)
  }

  @Test("up to iOS 7 the question needs no connection, the token does")
  func networkBefore8() {
    var lab = Self.lab(IOSVersion(7))
    _ = lab.order(#"{"do":"settings","network":false}"#)
    #expect(lab.order(Self.register).has(.prompted, .promptOnce))
    #expect(
      lab.order(Self.answer(true)).story == ["permission prompt-answered", "no-callback registration-waits"])
    #expect(lab.order(#"{"do":"settings","network":true}"#).methods == [Self.success])
  }

  @Test("the entitlement decides in which environment the app's token is good")
  func environment() throws {
    let sandbox = try #require(DeviceToken(hex: String(repeating: "aa", count: 32)))
    let production = try #require(DeviceToken(hex: String(repeating: "bb", count: 32)))
    var lab = Self.lab()
    _ = lab.phone.take(sandbox, of: Lab.topic, from: .sandbox, at: lab.now)
    _ = lab.phone.take(production, of: Lab.topic, from: .production, at: lab.now)
    #expect(lab.document("apps/com.example.app/deviceTokens/0/token") == "\"\(sandbox.hex)\"")
    _ = lab.set(#"{"entitlement":"production"}"#)
    #expect(lab.phone.take(sandbox, of: Lab.topic, from: .sandbox, at: lab.now).isEmpty)
    let changed = lab.phone.take(production, of: Lab.topic, from: .production, at: lab.now)
    #expect(changed.has(.token(production), .tokenChanged))
    #expect(lab.document("apps/com.example.app/deviceTokens/0/token") == "\"\(production.hex)\"")
  }

  @Test("without a connection to the environment of the entitlement no token comes")
  func otherEnvironment() {
    var lab = Self.lab()
    lab.phone.environments = [.sandbox]
    #expect(lab.order(Self.register).methods == [Self.success])
    _ = lab.set(#"{"entitlement":"production"}"#)
    #expect(lab.order(Self.register).story == ["no-callback other-environment"])
    lab.phone.environments = [.sandbox, .production]
    #expect(lab.order(Self.register).methods == [Self.success])
  }

  @Test("an app without the entitlement, or with that of an environment without a connection, has no token")
  func unentitled() throws {
    let place = "apps/com.example.app/deviceTokens"
    let (first, second) = (
      try #require(DeviceToken(hex: String(repeating: "aa", count: 32))),
      try #require(DeviceToken(hex: String(repeating: "bb", count: 32)))
    )
    var lab = Self.lab()
    lab.phone.environments = [.sandbox]
    _ = lab.phone.take(first, of: Lab.topic, from: .sandbox, at: lab.now)
    for entitlement in ["none", "production"] {
      _ = lab.set(#"{"entitlement":"\#(entitlement)"}"#)
      #expect(lab.document(place) == "[]")
      #expect(lab.phone.take(second, of: Lab.topic, from: .sandbox, at: lab.now).isEmpty)
    }
    _ = lab.set(#"{"entitlement":"development"}"#)
    #expect(lab.document("\(place)/0/token") == "\"\(first.hex)\"")
  }

  @Test("without the entitlement error 3000, on an old simulator 3010; an app may ask again")
  func failures() {
    var lab = Self.lab()
    for entitlement in ["development", "production"] {
      _ = lab.set(#"{"entitlement":"\#(entitlement)"}"#)
      #expect(lab.order(Self.register).methods == [Self.success])
    }
    _ = lab.set(#"{"entitlement":"none"}"#)
    for _ in 1...2 { #expect(lab.order(Self.register).methods == ["\(Self.failure) error 3000"]) }
    _ = lab.set(#"{"entitlement":"development"}"#)
    _ = lab.order(#"{"do":"settings","simulator":true}"#)
    #expect(lab.order(Self.register).methods == ["\(Self.failure) error 3010"])
  }

  @Test("a restored app gets its token when it is first launched, and no other launch asks")
  func restored() {
    var lab = Lab(state: .neverLaunched)
    #expect(lab.order(#"{"do":"open","topic":"com.example.app"}"#).methods == [Self.success])
    _ = lab.order(#"{"do":"leave","topic":"com.example.app","state":"terminated"}"#)
    #expect(lab.order(#"{"do":"open","topic":"com.example.app"}"#).methods == [])
  }

  @Test("an app that is not on the phone hears nothing")
  func notInstalled() {
    var lab = Lab()
    let other = Topic("com.example.other") ?? Lab.topic
    #expect(
      lab.receive(payload: #"{"aps":{"alert":"x"}}"#, .alert, topic: other).story == ["dropped not-installed"]
    )
    lab.phone.remove(Lab.topic)
    #expect(lab.receive(#"{"alert":"x"}"#).story == ["dropped not-installed"])
  }

  private static func token(_ digit: Character) throws -> DeviceToken {
    try #require(DeviceToken(hex: String(repeating: digit, count: 64)))
  }

  @Test("another token is told, also after a removal; the first one is not, nor the same again")
  func tokens() throws {
    var lab = Self.lab()
    let (one, other) = (try Self.token("a"), try Self.token("b"))
    // Before the phone knows what time it is.
    #expect(lab.phone.take(one, of: Lab.topic, at: lab.now.adding(nanoseconds: 1_000_000_000)).isEmpty)
    #expect(lab.phone.take(one, of: Lab.topic, at: lab.now).isEmpty)
    #expect(lab.receive(#"{"alert":"Hello"}"#).allSatisfy { $0.at == lab.now })
    lab.phone.remove(Lab.topic)
    lab.phone.install(PhoneApp(Lab.topic))
    #expect(lab.phone.take(other, of: Lab.topic, at: lab.now).story == ["token token-changed"])
    let voip = try #require(Topic("com.example.app.voip"))
    #expect(lab.phone.take(one, of: voip, at: lab.now).isEmpty)
    let changed = lab.phone.take(other, of: voip, at: lab.now)
    #expect(changed.story == ["token token-changed"] && changed.first?.topic == Lab.topic)
    #expect(changed.first?.detail == "\(other.hex), for voip" && changed.first?.context == nil)
  }

  @Test("an erased phone has no token, not even of an app that was removed before it came")
  func erased() throws {
    var lab = Self.lab()
    let other = try #require(Topic("com.example.other"))
    for topic in [Lab.topic, other] { _ = lab.phone.take(try Self.token("a"), of: topic, at: lab.now) }
    let needs = [TokenNeed(Lab.topic, nil), TokenNeed(other, nil)]
    #expect(needs.allSatisfy(lab.phone.hasToken))
    lab.phone.erase()
    #expect(!needs.contains(where: lab.phone.hasToken))
  }

  @Test("a restored phone has its apps, unopened; they hear of their token when they are opened")
  func restoredUnopened() throws {
    var lab = Self.lab(.standard, .authorized)
    _ = lab.order(#"{"do":"leave","topic":"com.example.app","state":"suspended"}"#)
    _ = lab.receive(#"{"alert":"Hello"}"#)
    lab.phone.restore()
    #expect(
      lab.phone.notes.isEmpty && lab.app.state == .neverLaunched && lab.app.permission.status == .authorized)
    let token = try Self.token("c")
    let came = lab.phone.take(token, of: Lab.topic, at: lab.now)
    #expect(came.story == ["no-callback restored-unlaunched"])
    #expect(lab.order(#"{"do":"open","topic":"com.example.app"}"#).methods == [Self.success])
  }
}
