import Basics
import Phone
import Testing

/// In a car and by headphones (`Documentation/device-behaviour.md#content-extension-and-actions`).
@Suite("In a car, by headphones")
struct SurroundingsTests {
  private static let aps = #"{"alert":"B","category":"C"}"#

  private static func lab(
    _ settings: String, category: String, version: IOSVersion = .standard, state: AppState = .suspended
  ) -> Lab {
    var lab = Lab(version, state: state)
    _ = lab.set(#"{"categories":{"C":{\#(category)}}}"#)
    _ = lab.order(#"{"do":"settings",\#(settings)}"#)
    return lab
  }

  private static let aside: Set<String> = ["no-car-play", "announced", "no-announcement"]

  /// What is told of car and headphones.
  private static func told(_ events: [PhoneEvent]) -> [String] {
    events.filter { aside.contains($0.what.name) }.map { "\($0.what.name) \($0.rule.name)" }
  }

  @Test("at home nobody hears of either")
  func home() {
    var lab = Self.lab(
      #""carPlay":false,"headphones":false"#, category: #""allowInCarPlay":true,"allowAnnouncement":true"#)
    let events = lab.receive(Self.aps)
    #expect(Self.told(events).isEmpty && events.shown == [.lockScreen, .list])
  }

  // MARK: A car

  @Test(
    "the category says allowInCarPlay, and the app is allowed carPlay, since iOS 10",
    arguments: [
      (18, true, true, nil), (18, false, true, "no-car-play car-play-category"),
      (18, true, false, "no-car-play car-play-permission"), (10, true, true, nil), (9, true, true, nil),
      (9, false, false, nil),
    ] as [(Int, Bool, Bool, String?)])
  func car(version: Int, category: Bool, permission: Bool, told: String?) {
    var lab = Self.lab(
      #""carPlay":true"#, category: #""allowInCarPlay":\#(category)"#, version: IOSVersion(version))
    _ = lab.set(#"{"permission":{"carPlay":\#(permission)}}"#)
    let events = lab.receive(Self.aps)
    let isThere = version >= 10 && told == nil
    #expect(events.shown == (isThere ? [.lockScreen, .list, .carPlay] : [.lockScreen, .list]))
    #expect(Self.told(events) == (told.map { [$0] } ?? []))
    #expect(lab.document("screen/list/0/notes/0/isInCar") == "\(isThere)")
  }

  @Test("an app that asks without carPlay has none", arguments: [true, false])
  func asked(isAsked: Bool) {
    var lab = Self.lab(#""carPlay":true"#, category: #""allowInCarPlay":true"#)
    _ = lab.set(#"{"permission":{"status":"not-determined"}}"#)
    _ = lab.order(
      #"{"do":"authorize","topic":"com.example.app","options":["alert"\#(isAsked ? #","carPlay""# : "")]}"#)
    _ = lab.order(#"{"do":"answer","topic":"com.example.app","allow":true}"#)
    let events = lab.receive(Self.aps)
    #expect(events.shown?.contains(.carPlay) == isAsked)
    #expect(Self.told(events) == (isAsked ? [] : ["no-car-play car-play-permission"]))
  }

  @Test("what is quiet, or not allowed, is not in the car either")
  func quiet() {
    for setting in [
      #""focus":{}"#, #""apps":{"com.example.app":{"permission":{"status":"provisional"}}}"#,
      #""apps":{"com.example.app":{"permission":{"status":"denied"}}}"#,
      #""apps":{"com.example.app":{"permission":{"alert":false}}}"#,
    ] {
      var lab = Self.lab(#""carPlay":true,\#(setting)"#, category: #""allowInCarPlay":true"#)
      let events = lab.receive(Self.aps)
      #expect(events.shown?.contains(.carPlay) != true && Self.told(events).isEmpty, "\(setting)")
    }
  }

  @Test("an app in the foreground decides by its options: what it shows as a banner is in the car too")
  func foreground() {
    for (options, isThere) in [(#"["banner"]"#, true), (#"["list"]"#, false)] {
      var lab = Self.lab(#""carPlay":true"#, category: #""allowInCarPlay":true"#, state: .foreground)
      _ = lab.set(#"{"options":\#(options)}"#)
      #expect(lab.receive(Self.aps).shown?.contains(.carPlay) == isThere)
    }
  }

  @Test("with all other places switched off the car is left")
  func carAlone() {
    var lab = Self.lab(#""carPlay":true"#, category: #""allowInCarPlay":true"#)
    _ = lab.set(#"{"permission":{"banner":false,"lockScreen":false,"list":false}}"#)
    #expect(lab.receive(Self.aps).shown == .carPlay)
    #expect(lab.document("screen/list") == "[]" && lab.document("screen/lockScreen") == "[]")
  }

  // MARK: Headphones

  @Test(
    "iOS 13 and 14 ask for category and option; later ones for neither, and earlier ones have no such thing",
    arguments: [
      (12, true, true, nil), (13, true, true, "announced announced"),
      (13, false, true, "no-announcement announcement-category"),
      (14, true, false, "no-announcement announcement-permission"), (15, false, true, "announced announced"),
      (18, false, false, "no-announcement announcement-permission"),
    ] as [(Int, Bool, Bool, String?)])
  func headphones(version: Int, category: Bool, permission: Bool, told: String?) {
    var lab = Self.lab(
      #""headphones":true"#, category: #""allowAnnouncement":\#(category)"#, version: IOSVersion(version))
    _ = lab.set(#"{"permission":{"announcement":\#(permission)}}"#)
    #expect(Self.told(lab.receive(Self.aps)) == (told.map { [$0] } ?? []))
  }

  @Test(
    "iOS 14 reads out for an app that has asked for announcement; iOS 15 does not ask", arguments: [14, 15])
  func announcementAsked(version: Int) {
    for isAsked in [true, false] {
      var lab = Self.lab(
        #""headphones":true"#, category: #""allowAnnouncement":true"#, version: IOSVersion(version))
      _ = lab.set(#"{"permission":{"status":"not-determined"}}"#)
      let options = isAsked ? #"["alert","announcement"]"# : #"["alert"]"#
      _ = lab.order(#"{"do":"authorize","topic":"com.example.app","options":\#(options)}"#)
      _ = lab.order(#"{"do":"answer","topic":"com.example.app","allow":true}"#)
      let isHeard = isAsked || version >= 15
      #expect(
        Self.told(lab.receive(Self.aps))
          == [isHeard ? "announced announced" : "no-announcement announcement-permission"])
    }
  }

  @Test("not while the phone is in use, and nothing that is quiet")
  func inUse() {
    var lab = Self.lab(#""headphones":true,"locked":false"#, category: "")
    #expect(Self.told(lab.receive(Self.aps)) == ["no-announcement announcement-in-use"])
    _ = lab.order(#"{"do":"settings","locked":true,"focus":{}}"#)
    #expect(Self.told(lab.receive(Self.aps)).isEmpty)
  }
}
