import Basics
import Phone
import Testing

/// `Documentation/device-behaviour.md#presentation`.
@Suite("What shows")
struct PresentationTests {
  private static let alert = #"{"alert":"Hello","sound":"chime.caf","badge":3}"#

  private static func has(_ events: [PhoneEvent], _ name: String) -> Bool {
    events.contains { $0.what.name == name }
  }

  @Test("a locked phone shows it on the lock screen, an unlocked one as a banner, both in the list")
  func places() {
    for isLocked in [true, false] {
      var lab = Lab()
      lab.phone.settings.isLocked = isLocked
      let events = lab.receive(Self.alert)
      #expect(events.shown == (isLocked ? [.lockScreen, .list] : [.banner, .list]))
      #expect(events.has(.sound(.file("chime.caf")), .sound) && events.has(.badge(3), .badge))
      #expect(lab.app.badge == 3)
    }
  }

  @Test("denied or never asked: nothing shows, no sound, no badge, no service extension")
  func denied() {
    for (status, rule) in [(Permission.Status.denied, PhoneRule.denied), (.notDetermined, .notAsked)] {
      for state in [AppState.foreground, .suspended] {
        var lab = Lab(state: state) { $0.permission = Permission(status) }
        let events = lab.receive(Self.alert)
        #expect(events.has(.notPresented, rule))
        #expect(!Self.has(events, "presented") && !Self.has(events, "sound") && !Self.has(events, "badge"))
        #expect(lab.app.badge == 0 && lab.phone.notes.isEmpty)
      }
    }
  }

  @Test(
    "quietly to the list alone",
    arguments: [
      ("provisional", #"{"alert":"Hello","sound":"default"}"#, PhoneRule.provisional),
      ("passive", #"{"alert":"Hello","sound":"default","interruption-level":"passive"}"#, .passive),
      ("focus", #"{"alert":"Hello","sound":"default"}"#, .focus),
    ])
  func quietly(why: String, aps: String, rule: PhoneRule) {
    var lab = Lab { if why == "provisional" { $0.permission = Permission(.provisional) } }
    if why == "focus" { lab.phone.settings.focus = Focus() }
    let events = lab.receive(aps)
    #expect(events.has(.presented(.list, replaces: nil), rule) && !Self.has(events, "sound"))
  }

  @Test("through a Focus: allowed apps, and time-sensitive with its entitlement and the user's leave")
  func throughFocus() {
    let aps = #"{"alert":"Hello","interruption-level":"time-sensitive"}"#
    for (isEntitled, isAllowed) in [(true, true), (true, false), (false, true)] {
      var lab = Lab {
        $0.build.mayBeTimeSensitive = isEntitled
        $0.permission.timeSensitive = isAllowed
      }
      lab.phone.settings.focus = Focus()
      #expect(lab.receive(aps).shown == (isEntitled && isAllowed ? [.lockScreen, .list] : .list))
      lab.phone.settings.focus = Focus(allows: [Lab.topic])
      #expect(lab.receive(aps).shown == [.lockScreen, .list])
    }
  }

  @Test("before iOS 15 there is no interruption level")
  func level() {
    var lab = Lab(IOSVersion(14))
    #expect(lab.receive(#"{"alert":"Hello","interruption-level":"passive"}"#).shown == [.lockScreen, .list])
  }

  @Test("a critical sound needs its entitlement, else it plays as an ordinary one")
  func critical() {
    let aps = #"{"alert":"Hello","sound":{"critical":1,"name":"alarm.caf","volume":0.5}}"#
    var lab = Lab { $0.build.mayBeCritical = true }
    lab.phone.settings.focus = Focus()
    let events = lab.receive(aps)
    #expect(events.has(.sound(.critical("alarm.caf", volume: 0.5)), .criticalSound))
    #expect(events.shown == [.lockScreen, .list])
    var ordinary = Lab()
    #expect(ordinary.receive(aps).has(.sound(.file("alarm.caf")), .sound))
  }

  @Test("a badge of 0 removes it, and without one it stays")
  func badge() {
    var lab = Lab()
    _ = lab.receive(#"{"badge":7}"#)
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.app.badge == 7)
    _ = lab.receive(#"{"badge":0}"#)
    #expect(lab.app.badge == 0)
    _ = lab.receive(#"{"badge":-4}"#)
    #expect(lab.app.badge == 0)
  }

  @Test("what the user switched off, alone")
  func switchedOff() {
    var lab = Lab {
      ($0.permission.sound, $0.permission.badge, $0.permission.lockScreen) = (false, false, false)
    }
    let events = lab.receive(Self.alert)
    #expect(events.shown == .list && lab.app.badge == 0)
    #expect(events.has(.noSound, .soundOff) && events.has(.noBadge, .badgeOff))
  }

  @Test("a later one with the same collapse id replaces the earlier; one without has nothing to replace")
  func collapse() {
    var lab = Lab()
    _ = lab.receive(#"{"alert":"1"}"#, collapseId: "score")
    _ = lab.receive(#"{"alert":"2"}"#)
    let third = lab.receive(#"{"alert":"3"}"#, collapseId: "score")
    #expect(third.has(.presented([.lockScreen, .list], replaces: 1), .collapse))
    #expect(lab.phone.notes.map(\.id) == [2, 3])
  }

  private static let optionRows: [(IOSVersion, PresentationOptions, Presentation)] = [
    (IOSVersion(18), .list, .list), (IOSVersion(18), .banner, .banner),
    (IOSVersion(18), .alert, [.banner, .list]), (IOSVersion(14), .banner, .banner),
    (IOSVersion(13), .banner, [.banner, .list]),
  ]

  @Test("in the foreground as willPresent's options say, by the words of the version", arguments: optionRows)
  func options(_ version: IOSVersion, _ options: PresentationOptions, _ shown: Presentation) {
    var lab = Lab(version, state: .foreground) { $0.build.options = options }
    let events = lab.receive(Self.alert)
    #expect(events.shown == shown && !Self.has(events, "sound") && lab.app.badge == 0)
  }

  @Test(
    "the service extension runs for a text that may be shown",
    arguments: [
      (#"{"alert":"Hello","mutable-content":1}"#, PhoneEvent.What?.some(.extensionRan)),
      (#"{"alert":{"subtitle":"Hello"},"mutable-content":1}"#, .extensionRan),
      (#"{"badge":1,"mutable-content":1}"#, .extensionSkipped), (#"{"alert":"Hello"}"#, nil),
    ])
  func serviceExtension(aps: String, what: PhoneEvent.What?) {
    var lab = Lab { $0.build.serviceExtension = ServiceExtension() }
    #expect(lab.receive(aps).first { $0.what.name == "extension" }?.what == what)
    var old = Lab(IOSVersion(9)) { $0.build.serviceExtension = ServiceExtension() }
    #expect(!Self.has(old.receive(aps), "extension"))
    var denied = Lab {
      ($0.build.serviceExtension, $0.permission) = (ServiceExtension(), Permission(.denied))
    }
    #expect(!denied.receive(aps).contains { $0.what == .extensionRan })
  }

  @Test("keys of Localizable strings show themselves, with their arguments in place")
  func localized() {
    let content = PushContent(
      Array(
        #"{"aps":{"alert":{"title-loc-key":"HI %@","title-loc-args":["Ann"],"loc-key":"%2$@ after %1$@, %d%%","loc-args":["1","2"]}}}"#
          .utf8))
    #expect(content.title == "HI Ann")
    #expect(content.body == "2 after 1, %d%")
    #expect(LocalizedFormat.fill("%@ %@ %", with: ["one"]) == "one %@ %")
    // They are counted from 1.
    #expect(LocalizedFormat.fill("%0$@ %1$@", with: ["one"]) == "%0$@ one")
    #expect(LocalizedFormat.count(in: "%@ %@ %% %3$@") == 3)
  }

  @Test("a thousand and one: the oldest goes")
  func bound() {
    var lab = Lab()
    for _ in 1...1001 { _ = lab.receive(#"{"alert":"Hello"}"#) }
    #expect(lab.phone.notes.count == 1000 && lab.phone.notes.first?.id == 2)
  }

  @Test("every rule is of a section of the documentation, and a sentence")
  func rules() {
    for rule in PhoneRule.allCases {
      #expect(!rule.evidence.isEmpty && !rule.sentence.hasSuffix("."), "\(rule)")
    }
    #expect(Set(PhoneRule.allCases.map(\.sentence)).count == PhoneRule.allCases.count)
  }
}
