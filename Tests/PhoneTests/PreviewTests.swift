import Basics
import Phone
import Testing

/// Previews (`Documentation/device-behaviour.md#content-extension-and-actions`), and what a note says of media.
@Suite("Previews, attachments and the play button")
struct PreviewTests {
  private static let aps =
    #"{"alert":{"title":"T","subtitle":"S","body":"B"},"category":"C","mutable-content":1}"#
  private static let note = "screen/list/0/notes/0"

  private static func texts(_ lab: Lab, _ place: String = note) -> String {
    ["title", "subtitle", "body"].map { lab.document("\(place)/\($0)") }.joined(separator: " ")
  }

  private static func lab(_ previews: String, version: IOSVersion = .standard, category: String = "{}") -> Lab
  {
    var lab = Lab(version)
    _ = lab.set(
      #"{"categories":{"C":\#(category)},"serviceExtension":{"attachment":{"name":"N","type":"png"}}}"#)
    _ = lab.order(#"{"do":"settings","previews":"\#(previews)"}"#)
    return lab
  }

  @Test(
    "shown always, when unlocked or never, since iOS 11",
    arguments: [
      ("always", 18, true, true), ("when-unlocked", 18, false, true), ("never", 18, false, false),
      ("never", 10, true, true), ("never", 11, false, false),
    ])
  func setting(previews: String, version: Int, whileLocked: Bool, then: Bool) {
    var lab = Self.lab(previews, version: IOSVersion(version))
    let events = lab.receive(Self.aps)
    #expect(events.has(.noPreview, .previewsHidden) == !whileLocked)
    let (full, none) = (#""T" "S" "B""#, #"null null "Notification""#)
    #expect(Self.texts(lab) == (whileLocked ? full : none))
    #expect(Self.texts(lab, "screen/lockScreen/0") == (whileLocked ? full : none))
    #expect(lab.document("\(Self.note)/image") == (whileLocked ? #""N""# : "null"))
    #expect(lab.document("\(Self.note)/attachment") == (whileLocked ? Self.plain : "null"))
    #expect(lab.document("\(Self.note)/isPreviewHidden") == "\(!whileLocked)")
    _ = lab.order(#"{"do":"settings","locked":false}"#)
    #expect(Self.texts(lab) == (then ? full : none))
    #expect(lab.receive(Self.aps).has(.noPreview, .previewsHidden) == !then)
    #expect(Self.texts(lab, "screen/banner") == (then ? full : none))
  }

  private static let plain = #"{"name":"N","type":"png","bytes":0}"#

  @Test(
    "the category's own placeholder, and the texts that it leaves",
    arguments: [
      (#"{"hiddenPreviewsBodyPlaceholder":"1 message"}"#, #"null null "1 message""#),
      (#"{"hiddenPreviewsShowTitle":true}"#, #""T" null "Notification""#),
      (#"{"hiddenPreviewsShowSubtitle":true}"#, #"null "S" "Notification""#),
      (
        #"{"hiddenPreviewsShowTitle":true,"hiddenPreviewsShowSubtitle":true,"hiddenPreviewsBodyPlaceholder":"M"}"#,
        #""T" "S" "M""#
      ),
    ])
  func category(category: String, texts: String) {
    var lab = Self.lab("when-unlocked", category: category)
    _ = lab.receive(Self.aps)
    #expect(Self.texts(lab) == texts)
  }

  @Test("an app's own setting goes before the phone's")
  func ofApp() {
    var lab = Self.lab("never")
    _ = lab.set(#"{"permission":{"previews":"always"}}"#)
    _ = lab.receive(Self.aps)
    #expect(Self.texts(lab) == #""T" "S" "B""#)
    _ = lab.set(#"{"permission":{"previews":"when-unlocked"}}"#)
    #expect(Self.texts(lab) == #"null null "Notification""#)
    _ = lab.order(#"{"do":"settings","previews":"always"}"#)
    _ = lab.set(#"{"permission":{"previews":null}}"#)
    #expect(Self.texts(lab) == #""T" "S" "B""#)
  }

  @Test("what is hidden is no secret of the app's: its action and a tap work as ever")
  func hands() {
    var lab = Self.lab("never", category: #"{"actions":[{"id":"a","title":"A"}]}"#)
    _ = lab.receive(Self.aps)
    #expect(lab.document("\(Self.note)/actions/0/id") == #""a""#)
    #expect(lab.tapNewest().calls == "M5")
  }

  // MARK: Media

  @Test("an attachment's options stand in the note")
  func options() {
    let attachment =
      #"{"name":"N","type":"mp4","bytes":9,"typeHint":"public.mpeg-4","thumbnailHidden":true,"thumbnailClipping":{"x":0.5,"y":0.25,"width":0.125,"height":0.5},"thumbnailTime":2.5}"#
    var lab = Lab()
    _ = lab.set(#"{"serviceExtension":{"attachment":\#(attachment)}}"#)
    _ = lab.receive(Self.aps)
    #expect(lab.document("\(Self.note)/attachment") == attachment)
    _ = lab.order(
      #"{"do":"local","topic":"com.example.app","identifier":"i","content":{"body":"B","attachment":\#(attachment)}}"#
    )
    #expect(lab.document("\(Self.note)/attachment") == attachment)
    _ = lab.receive(#"{"alert":"x"}"#)
    #expect(lab.document("\(Self.note)/attachment") == "null")
  }

  @Test(
    "a type hint says what the file is, whatever its suffix",
    arguments: [
      ("bin", "public.png", 10_000_000, true), ("bin", "public.png", 10_000_001, false),
      ("png", "public.zip-archive", 1, false), ("bin", "MP3", 5_000_001, false),
      ("png", "public.mpeg", 50_000_000, true), ("mp4", "com.microsoft.waveform-audio", 5_000_001, false),
    ] as [(String, String, Int, Bool)])
  func hint(type: String, hint: String, bytes: Int, isTaken: Bool) {
    var lab = Lab()
    _ = lab.set(
      #"{"serviceExtension":{"attachment":{"name":"N","type":"\#(type)","bytes":\#(bytes),"typeHint":"\#(hint)"}}}"#
    )
    #expect(lab.receive(Self.aps).contains { $0.rule == .attachmentDropped } == !isTaken)
    #expect((lab.document("\(Self.note)/image") == "null") == !isTaken)
  }

  @Test(
    "options that are none",
    arguments: [
      (#""thumbnailClipping":{"x":0,"y":0,"width":1.5,"height":1}"#, "a number from 0 to 1, got 1.5"),
      (#""thumbnailClipping":{"x":0}"#, "thumbnailClipping.y: expected a number from 0 to 1, got nothing"),
      (#""thumbnailTime":-1"#, "thumbnailTime: expected a number from 0 to 86400, got -1"),
    ])
  func wrong(option: String, sentence: String) {
    var lab = Lab()
    let app = #"{"serviceExtension":{"attachment":{"name":"N","type":"png",\#(option)}}}"#
    let refusal = lab.refusal(#"{"do":"settings","apps":{"com.example.app":\#(app)}}"#)
    #expect(refusal.hasPrefix("invalid") && refusal.contains(sentence), "\(refusal)")
  }

  @Test("the content extension's play button stands in the view of the note")
  func playButton() {
    let frame = #"{"x":10.5,"y":20.5,"width":44.5,"height":44.5}"#
    let button = ##"{"type":"overlay","frame":\##(frame),"tint":"#ff9500"}"##
    var lab = Lab()
    for (more, shown) in [
      ("", "nothing"), (#","mediaPlayButton":\#(button)"#, button),
      (#","mediaPlayButton":{"type":"none"}"#, #"{"type":"none"}"#),
    ] {
      _ = lab.set(#"{"contentExtension":{"name":"N","categories":["C"]\#(more)}}"#)
      _ = lab.receive(Self.aps)
      #expect(lab.document("\(Self.note)/customView/mediaPlayButton") == shown)
    }
    for wrong in [#"{"type":"loud"}"#, ##"{"type":"none","tint":"#ff95"}"##, "{}"] {
      let app = #"{"contentExtension":{"name":"N","categories":[],"mediaPlayButton":\#(wrong)}}"#
      #expect(lab.refusal(#"{"do":"settings","apps":{"com.example.app":\#(app)}}"#).hasPrefix("invalid"))
    }
  }
}
