import Basics
import Phone
import Testing

/// `Documentation/device-behaviour.md#service-extension`.
@Suite("Service extension")
struct ServiceExtensionTests {
  private static let aps = #"{"alert":{"title":"T","body":"B"},"mutable-content":1}"#

  private static func lab(_ script: String = "{}", _ version: IOSVersion = .standard) -> Lab {
    var lab = Lab(version)
    _ = lab.set(#"{"serviceExtension":\#(script)}"#)
    return lab
  }

  @Test(
    "runs for a text, mutable-content 1, alerts allowed, since iOS 10",
    arguments: [
      (#"{"alert":{"title":"x"},"mutable-content":1}"#, 10, true),
      (#"{"alert":{"subtitle":"x"},"mutable-content":1}"#, 10, true),
      (#"{"alert":{"body":"x"},"mutable-content":1}"#, 10, true),
      (#"{"alert":"x","mutable-content":1}"#, 18, true), (#"{"alert":"x","mutable-content":1}"#, 9, false),
      (#"{"alert":"x","mutable-content":0}"#, 18, false),
      (#"{"alert":"x","mutable-content":true}"#, 18, false),
      (#"{"alert":"x"}"#, 18, false), (#"{"sound":"default","mutable-content":1}"#, 18, false),
      (#"{"content-available":1,"mutable-content":1}"#, 18, false),
    ])
  func runs(aps: String, version: Int, does: Bool) {
    var lab = Self.lab("{}", IOSVersion(version))
    #expect(lab.receive(aps).has(.extensionRan, .extensionRuns) == does)
  }

  @Test("not without leave", arguments: [#"{"status":"denied"}"#, #"{"alert":false}"#])
  func denied(permission: String) {
    var lab = Self.lab()
    _ = lab.set(#"{"permission":\#(permission)}"#)
    let events = lab.receive(Self.aps)
    #expect(events.first?.what == .extensionSkipped && events.first?.rule == .extensionDenied)
  }

  @Test("nothing shows before it is done, and the app may be in any state", arguments: AppState.allCases)
  func before(state: AppState) {
    var lab = Self.lab(#"{"seconds":5,"changes":{"alert":{"title":"New"}}}"#)
    _ = lab.set(#"{"state":"\#(state.rawValue)"}"#)
    #expect(lab.receive(Self.aps).story == ["extension extension-runs"] && lab.phone.notes.isEmpty)
    #expect(lab.wait(seconds: 4).isEmpty)
    let done = lab.wait(seconds: 1)
    #expect(done.has(.extensionEnded, .extensionChanged) && done.shown != nil)
    #expect(lab.phone.notes.last?.push.content.title == "New")
  }

  @Test("those that are done at the same moment show in the order in which they came")
  func sameMoment() {
    var lab = Self.lab(#"{"seconds":5}"#)
    for _ in 1...3 { _ = lab.receive(Self.aps) }
    #expect(lab.wait(seconds: 5).filter { $0.what.name == "presented" }.map(\.push) == [1, 2, 3])
  }

  @Test("a thousand wait for their extension; what comes besides shows at once")
  func bound() {
    var lab = Self.lab(#"{"seconds":5}"#)
    for _ in 1...1000 { _ = lab.receive(Self.aps) }
    #expect(lab.phone.notes.isEmpty)
    #expect(lab.receive(Self.aps).shown != nil && lab.phone.notes.map(\.id) == [1001])
  }

  @Test("an address inside aps is none that it finds")
  func addressInAps() {
    var lab = Self.lab(#"{"download":{"from":"aps.image"}}"#)
    let address = #""image":"https://example.com/shoes.jpg""#
    let payload = #"{"aps":{"alert":"x","mutable-content":1,\#(address)},"data":{\#(address)}}"#
    #expect(lab.receive(payload: payload, .alert).has(.extensionEnded, .downloadMissing))
    _ = lab.set(#"{"serviceExtension":{"download":{"from":"data.image"}}}"#)
    #expect(lab.receive(payload: payload, .alert).has(.extensionEnded, .downloaded))
  }

  /// Sends a push with an address for the extension; answers what happened, and the attachment that shows.
  private static func download(_ more: String, _ payload: String) -> (events: [PhoneEvent], image: String) {
    var lab = lab(#"{"seconds":1,"download":{"from":"fcm_options.image"\#(more)}}"#)
    var events = lab.receive(payload: #"{"aps":\#(aps)\#(payload)}"#, .alert)
    events += lab.wait(seconds: 30)
    return (events, lab.document("screen/list/0/notes/0/image"))
  }

  private static let address = #","fcm_options":{"image":"https://example.com/a/shoes.jpg?size=2"}"#

  @Test(
    "fetches from the address in the payload",
    arguments: [
      (#","bytes":80000"#, address, PhoneRule.downloaded, #""shoes""#),
      (#","bytes":80000"#, #","fcm_options":{"image":"shoes.jpg"}"#, .downloadMissing, "null"),
      (#","bytes":80000"#, "", .downloadMissing, "null"),
      (#","fails":true"#, address, .downloadFailed, "null"),
      // Too large, and of no type that iOS takes: it is fetched, and dropped.
      (#","bytes":10000001"#, address, .attachmentDropped, "null"),
      ("", #","fcm_options":{"image":"https://example.com/shoes"}"#, .attachmentDropped, "null"),
      // A name without a suffix is no suffix.
      ("", #","fcm_options":{"image":"https://example.com/png"}"#, .attachmentDropped, "null"),
      // 29 s are enough, with the second that the rest takes; more are not.
      (#","bytes":2900,"bytesPerSecond":100"#, address, .downloaded, #""shoes""#),
      (#","bytes":2901,"bytesPerSecond":100"#, address, .extensionTimeOut, "null"),
    ])
  func downloads(script: String, payload: String, rule: PhoneRule, image: String) {
    let (events, shown) = Self.download(script, payload)
    #expect(events.contains { $0.rule == rule } && shown == image, "\(events.story)")
    #expect(events.shown != nil)
  }

  private static let outcomes: [(String, Int64, PhoneRule, String?)] = [
    (#"{"changes":{"alert":"New"},"seconds":29}"#, 29, .extensionChanged, "New"),
    (#"{"changes":{"alert":"New"},"seconds":30}"#, 30, .extensionChanged, "New"),
    (#"{"changes":{"alert":"New"},"seconds":31}"#, 30, .extensionTimeOut, "B"),
    (#"{"changes":{"alert":"New"},"seconds":31,"handsOver":true}"#, 30, .extensionHandsOver, "New"),
    (#"{"changes":{"alert":"New"},"crashes":true}"#, 0, .extensionCrashed, "B"),
    (#"{"changes":{"alert":""}}"#, 0, .extensionRemovedText, "B"),
    (#"{"changes":{"alert":{}}}"#, 0, .extensionRemovedText, "B"),
    (#"{"suppresses":true}"#, 0, .extensionMayNotSuppress, "B"),
  ]

  @Test("what shows after it", arguments: outcomes)
  func outcome(script: String, seconds: Int64, rule: PhoneRule, body: String?) {
    var lab = Self.lab(script)
    let first = lab.receive(Self.aps)
    let events = seconds == 0 ? first : lab.wait(seconds: seconds - 1) + lab.wait(seconds: 1)
    #expect(events.has(.extensionEnded, rule), "\(events.story)")
    #expect(lab.phone.notes.map(\.push.content.body) == [body])
    #expect(lab.app.state == .suspended)
  }

  @Test(
    "suppresses with the filtering entitlement, since iOS 13.3",
    arguments: [(IOSVersion(13, 2), false), (IOSVersion(13, 3), true)])
  func suppresses(version: IOSVersion, does: Bool) {
    var lab = Self.lab(#"{"suppresses":true}"#, version)
    _ = lab.set(#"{"filtering":true}"#)
    let events = lab.receive(Self.aps)
    #expect(events.has(.notPresented, .extensionSuppresses) == does && lab.phone.notes.isEmpty == does)
  }

  @Test("changes any content; the category is read after it")
  func changes() {
    var lab = Self.lab(
      #"""
      {"changes":{"badge":7,"sound":"new.caf","thread-id":"t","category":"C","interruption-level":"passive"}}
      """#)
    _ = lab.set(#"{"categories":{"C":{"actions":[{"id":"a","title":"A"}]}}}"#)
    let events = lab.receive(Self.aps)
    #expect(events.shown == .list && events.has(.badge(7), .badge) && events.has(.noSound, .passive))
    #expect(lab.document("screen/list/0/notes/0/title") == #""T""#)
    #expect(lab.document("screen/list/0/thread") == #""t""#)
    #expect(lab.document("screen/list/0/notes/0/actions/0/id") == #""a""#)
  }

  private static let attachmentLimits: [(types: [String], bytes: Int)] = [
    (["aiff", "wav", "mp3", "m4a"], 5_000_000), (["jpeg", "gif", "png"], 10_000_000),
    (["mpeg", "m2v", "mp4", "avi"], 50_000_000),
  ]
  private static let attachments: [(String, Int, Bool)] =
    attachmentLimits.flatMap { limit in
      limit.types.flatMap { [($0, limit.bytes, true), ($0, limit.bytes + 1, false)] }
    } + [("webp", 1, false), ("PNG", 1, true)]

  @Test("attachments: types and limits; a bad one is dropped", arguments: attachments)
  func attachment(type: String, bytes: Int, fits: Bool) {
    var lab = Self.lab(#"{"attachment":{"name":"media","type":"\#(type)","bytes":\#(bytes)}}"#)
    let events = lab.receive(Self.aps)
    #expect(events.has(.extensionEnded, .attachmentDropped) == !fits && events.shown != nil)
    #expect(lab.document("screen/list/0/notes/0/image") == (fits ? #""media""# : "null"))
  }

  @Test("its sound and badge play when it is done, also for an app that was removed: not at all")
  func removed() {
    var lab = Self.lab(#"{"seconds":10}"#)
    _ = lab.receive(Self.aps)
    lab.phone.remove(Lab.topic)
    #expect(lab.wait(seconds: 10).isEmpty && lab.phone.nextMoment == nil)
  }
}
