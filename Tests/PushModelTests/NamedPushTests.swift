import PushModel
import Testing

@Suite struct NamedPushTests {
  @Test(
    "A push of a Live Activity goes to the token that its event is for, and anything else to the topic's own",
    arguments: [
      (#"{"aps":{"event":"start","attributes-type":"Ride"}}"#, 1),
      (#"{"aps":{"event":"start","attributes-type":"Walk"}}"#, 0), (#"{"aps":{"event":"update"}}"#, 3),
      (#"{"aps":{"event":"end"}}"#, 3), (#"{"aps":{"alert":"Hi"}}"#, 0), ("[", 0),
    ])
  func meantToken(payload: String, expected: Int) {
    let contexts = [nil, "start:Ride", "activity:activity-1", "activity:activity-2"].map {
      $0.flatMap(TokenContext.init)
    }
    #expect(NamedPush.place(among: contexts, for: Array(payload.utf8)) == expected)
    #expect(NamedPush.place(among: [], for: Array(payload.utf8)) == nil)
  }

  @Test("What shows nothing is a background push, which may not ask for more than priority 5")
  func manner() throws {
    let topic = try #require(Topic("com.example.app"))
    let silent = NamedPush.manner(of: Array(#"{"aps":{"content-available":1}}"#.utf8), to: topic)
    #expect(silent.type == .background && silent.priority == .conserving)
    let seen = NamedPush.manner(of: Array(#"{"aps":{"alert":"Hi"}}"#.utf8), to: topic)
    #expect(seen.type == .alert && seen.priority == nil)
  }
}
