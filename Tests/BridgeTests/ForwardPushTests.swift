import Basics
import PushModel
import Testing

import Bridge

@Suite("A frame as a request")
struct ForwardPushTests {
  /// `Documentation/provider-api.md#push-types`, `#keys`.
  @Test(
    "the push type follows from topic and payload",
    arguments: [
      (#"{"aps":{"alert":"Hi"}}"#, "com.example.app", PushType.alert),
      (#"{"aps":{"badge":0}}"#, "com.example.app", .alert),
      (#"{"aps":{"sound":"default","content-available":1}}"#, "com.example.app", .alert),
      (#"{"aps":{"content-available":1}}"#, "com.example.app", .background),
      (#"{"aps":{},"alert":"not here"}"#, "com.example.app", .background),
      (#"{}"#, "pass.com.example", .background),
      (#"no JSON"#, "com.example.app", .alert),
      (#"{"aps":{"alert":"Hi"}}"#, "com.example.app.voip", .voip),
      (#"{"aps":{}}"#, "com.example.app.complication", .complication),
      (#"{"aps":{"event":"end"}}"#, "com.example.app.push-type.liveactivity", .liveactivity),
      (#"{"aps":{"content-changed":true}}"#, "com.example.app.push-type.widgets", .widgets),
      (#"{"mdm":"token"}"#, "com.apple.mgmt.External.1234", .mdm),
    ])
  func pushType(payload: String, topic: String, type: PushType) {
    #expect(PushType(forwarding: Array(payload.utf8), to: topic) == type)
  }

  @Test("it is tried until its expiration, for 30 days at most, and for ten seconds at least")
  func expiry() {
    let now = Timestamp(seconds: 1_700_000_000)
    #expect(ForwardPush.expiry(nil, received: now) == Timestamp(seconds: 1_700_000_000 + 30 * 86400))
    #expect(ForwardPush.expiry(.max, received: now) == Timestamp(seconds: 1_700_000_000 + 30 * 86400))
    #expect(ForwardPush.expiry(1_700_000_100, received: now) == Timestamp(seconds: 1_700_000_100))
    for past in [0, 1, 1_699_999_999] as [UInt32] {
      #expect(ForwardPush.expiry(past, received: now) == Timestamp(seconds: 1_700_000_010))
    }
  }

  @Test("the path has the token in lower case")
  func path() {
    #expect(ForwardPush.sample(1, token: 0xab).path == "/3/device/" + String(repeating: "ab", count: 32))
  }
}
