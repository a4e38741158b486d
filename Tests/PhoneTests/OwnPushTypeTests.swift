import Phone
import PushModel
import Testing

/// VoIP and other push types (`Documentation/device-behaviour.md#tokens-and-push-types`).
@Suite("VoIP and other push types")
struct OwnPushTypeTests {
  private static let voip = #"{"aps":{},"caller":"Ann"}"#
  private static let incoming =
    "pushRegistry:didReceiveIncomingPushWithPayload:forType:withCompletionHandler:"

  @Test(
    "VoIP wakes or launches the app, whatever ended it, and the call is on the screen",
    arguments: AppState.allCases)
  func voip(state: AppState) {
    var lab = Lab(state: state)
    let events = lab.receive(payload: Self.voip, .voip)
    #expect(events.methods == [Self.incoming] && events.has(.ringing, .voipReported))
    #expect(events.has(.handedOver(.voip), .voip))
    #expect(events.contains { $0.what == .launched } == !state.isRunning && lab.app.state.isRunning)
    #expect(lab.document("screen/call/caller") == #""Ann""#)
    #expect(lab.document("screen/call/state") == #""ringing""# && lab.phone.notes.isEmpty)
  }

  @Test("before iOS 11 the method has no completion handler; from 26.4 one of its own tells of the duty")
  func methods() {
    for (version, method) in [
      (IOSVersion(10), "pushRegistry:didReceiveIncomingPushWithPayload:forType:"),
      (IOSVersion(11), Self.incoming), (IOSVersion(26, 3), Self.incoming),
      (
        IOSVersion(26, 4),
        "pushRegistry:didReceiveIncomingVoIPPushWithPayload:metadata:withCompletionHandler: mustReport true"
      ),
    ] {
      var lab = Lab(version)
      #expect(lab.receive(payload: Self.voip, .voip).methods == [method])
    }
  }

  @Test("mustReport false: no call needs to be reported, since iOS 26.4")
  func needNotReport() {
    for (version, ends) in [(IOSVersion(26, 3), true), (IOSVersion(26, 4), false)] {
      var lab = Lab(version)
      _ = lab.set(#"{"reportsCalls":false,"mustReportCalls":false}"#)
      for _ in 1...3 {
        let events = lab.receive(payload: Self.voip, .voip)
        #expect(events.has(.terminated, .voipNotReported) == ends)
        #expect(events.has(.noCallback, .voipNeedNotReport) != ends)
      }
      #expect(lab.receive(payload: Self.voip, .voip).story.contains("dropped voip-barred") == ends)
    }
  }

  @Test(
    "each type has tokens since its own version; on an older system there is none, and nothing happens",
    arguments: [
      (PushType.voip, 8), (.complication, 9), (.fileprovider, 11), (.location, 15), (.pushtotalk, 16),
      (.controls, 18), (.widgets, 26),
    ])
  func since(type: PushType, version: Int) {
    let payload = #"{"aps":{"content-changed":true}}"#
    let isFirst = version == IOSVersion.supported.lowerBound.major
    for number in isFirst ? [version] : [version - 1, version] where number != 25 {
      var lab = Lab(IOSVersion(number))
      _ = lab.set(#"{"tokens":["\#(type.name)"]}"#)
      let isOld = number < version
      #expect(lab.phone.tokenTypes(of: Lab.topic) == (isOld ? [] : [type]), "iOS \(number)")
      #expect((lab.receive(payload: payload, type).story == ["dropped too-old"]) == isOld, "iOS \(number)")
    }
    #expect(PhoneRule.tooOld.evidence == [.documented])
  }

  @Test("no call reported: terminated, since iOS 13; after three times no more launches")
  func unreported() {
    var lab = Lab(IOSVersion(13))
    _ = lab.set(#"{"reportsCalls":false}"#)
    for _ in 1...3 {
      let events = lab.receive(payload: Self.voip, .voip)
      #expect(events.has(.terminated, .voipNotReported) && lab.app.state == .terminated)
      #expect(lab.document("screen/call") == "null")
    }
    #expect(lab.receive(payload: Self.voip, .voip).story == ["dropped voip-barred"])
    _ = lab.order(#"{"do":"open","topic":"com.example.app"}"#)
    #expect(lab.receive(payload: Self.voip, .voip).methods == [Self.incoming])

    var old = Lab(IOSVersion(12))
    _ = old.set(#"{"reportsCalls":false}"#)
    for _ in 1...5 { #expect(old.receive(payload: Self.voip, .voip).methods == [Self.incoming]) }
    #expect(old.app.state.isRunning && old.document("screen/call") == "null")
  }

  @Test("a call is answered and hung up, or declined")
  func call() {
    var lab = Lab()
    _ = lab.receive(payload: Self.voip, .voip)
    #expect(lab.order(#"{"do":"call","answer":true}"#).has(.answered, .callAnswered))
    #expect(lab.document("screen/call/state") == #""answered""#)
    #expect(lab.refusal(#"{"do":"call","answer":true}"#) == "absent: there is no call to answer or decline")
    #expect(lab.order(#"{"do":"call","decline":true}"#).has(.declined, .callAnswered))
    #expect(lab.document("screen/call") == "null")
    #expect(lab.refusal(#"{"do":"call","decline":true}"#) == "absent: there is no call to answer or decline")
  }

  @Test("complication: on the active watch face, 50 a day")
  func complication() {
    var lab = Lab()
    for _ in 1...50 {
      #expect(lab.receive(payload: "{}", .complication).has(.handedOver(.complication), .complication))
    }
    #expect(lab.receive(payload: "{}", .complication).story == ["dropped complication-spent"])
    _ = lab.wait(minutes: 24 * 60)
    #expect(lab.receive(payload: "{}", .complication).has(.handedOver(.complication), .complication))
    _ = lab.set(#"{"onWatchFace":false}"#)
    #expect(lab.receive(payload: "{}", .complication).story == ["dropped complication-away"])
  }

  @Test("location: its extension, with Always permission and the entitlement")
  func location() {
    var lab = Lab()
    let events = lab.receive(payload: "{}", .location)
    #expect(events.has(.handedOver(.location), .location))
    #expect(events.methods == ["didReceiveLocationPushPayload:completion:"])
    #expect(lab.app.state == .suspended)
    _ = lab.set(#"{"locationAlways":false}"#)
    #expect(lab.receive(payload: "{}", .location).story == ["dropped location-denied"])
  }

  @Test("push-to-talk: while joined, since iOS 16")
  func pushToTalk() {
    for version in [15, 16] {
      var lab = Lab(IOSVersion(version), state: .terminated)
      let events = lab.receive(payload: "{}", .pushtotalk)
      #expect(
        events.story
          == (version < 16
            ? ["dropped too-old"]
            : ["launched push-to-talk", "handed-over push-to-talk", "callback push-to-talk"]))
      _ = lab.set(#"{"inChannel":false}"#)
      #expect(
        lab.receive(payload: "{}", .pushtotalk).story == [
          "dropped " + (version < 16 ? "too-old" : "push-to-talk-idle")
        ])
    }
  }

  @Test("file provider: its extension signals a change")
  func fileProvider() {
    var lab = Lab()
    #expect(lab.receive(payload: "{}", .fileprovider).story == ["handed-over file-provider"])
  }

  @Test("MDM: the device checks in, without any app")
  func management() {
    var lab = Lab()
    let topic = Topic("com.apple.mgmt.External.1") ?? Lab.topic
    let events = lab.receive(payload: #"{"mdm":"magic"}"#, .mdm, topic: topic)
    #expect(events.story == ["handed-over management"] && lab.phone.notes.isEmpty)
  }

  @Test(
    "controls since iOS 18, widgets since iOS 26: content-changed loads them anew",
    arguments: [(PushType.controls, 17, 18, "controls"), (.widgets, 18, 26, "widgets")])
  func widgets(type: PushType, before: Int, since: Int, rule: String) {
    let changed = #"{"aps":{"content-changed":true}}"#
    var old = Lab(IOSVersion(before))
    #expect(old.receive(payload: changed, type).story == ["dropped too-old"])
    var lab = Lab(IOSVersion(since))
    #expect(lab.receive(payload: changed, type).story == ["handed-over \(rule)"])
    for payload in [#"{"aps":{"content-changed":false}}"#, #"{"aps":{}}"#, #"{"aps":{"content-changed":1}}"#]
    {
      #expect(lab.receive(payload: payload, type).story == ["dropped not-changed"], "\(payload)")
    }
  }

  @Test(
    "none of them shows or plays anything, though the payload has an alert",
    arguments: PushType.allCases.filter { $0 != .alert && $0 != .background && $0 != .liveactivity })
  func nothingShows(type: PushType) {
    var lab = Lab(IOSVersion(26))
    let events = lab.receive(
      payload: #"{"aps":{"alert":"x","sound":"default","badge":3,"content-changed":true}}"#, type)
    #expect(!events.contains { ["presented", "sound", "badge"].contains($0.what.name) } && !events.isEmpty)
    #expect(lab.phone.notes.isEmpty && lab.app.badge == 0)
  }
}
