import Basics
import Console
import Phone
import Testing

@Suite("POST /api/v1/explain") struct ExplainTests {
  private func explained(_ json: String) throws -> JSONValue {
    let response = try ConsoleLab().ask("POST", "/api/v1/explain", json: json)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONReader.read(response.body))
  }

  @Test("answers as explain --json does")
  func same() throws {
    let payload = #"{"aps":{"content-available":1}}"#
    let answer = try explained(
      #"{"payload":\#(JSONValue.string(payload).text),"pushType":"background","priority":10,"ios":"17.2","appState":"force-quit"}"#
    )
    let own = PushExplanation(
      payload: Array(payload.utf8), type: .background, priority: .immediate, state: .forceQuit,
      version: IOSVersion(17, 2))
    #expect(answer.text == own.json.text)
    #expect(answer["findings"].elements.map { $0["rule"].string } == ["background-priority"])
    #expect(answer["note"].isNull)
  }

  @Test("without a type or priority the provider said none")
  func absent() throws {
    let bare = try explained(#"{"payload":"{\"aps\":{\"alert\":\"Hello\"}}"}"#)
    let said = try explained(
      #"{"payload":"{\"aps\":{\"alert\":\"Hello\"}}","pushType":null,"priority":null}"#)
    #expect(bare.text == said.text)
    #expect(bare["findings"].elements.map { $0["rule"].string } == ["missing-type"])
    #expect(bare["phone"].text == #"{"ios":"26","appState":"suspended"}"#)
  }

  @Test("the note shows what the phone shows, where it shows it")
  func note() throws {
    let payload =
      #"{\"aps\":{\"alert\":{\"title\":\"T\",\"loc-key\":\"K %@\",\"loc-args\":[\"a\"]},\"thread-id\":\"x\"}}"#
    let note = try explained(#"{"payload":"\#(payload)","appState":"foreground"}"#)["note"]
    #expect(note["title"].string == "T" && note["body"].string == "K a" && note["subtitle"].isNull)
    #expect(note["thread"].string == "x" && note["places"].text == #"["banner","list"]"#)
  }

  @Test("a call rings and a Live Activity starts, as the phone's screen has them")
  func callsAndActivities() throws {
    let call = try explained(#"{"payload":"{\"caller\":\"Ada\"}","pushType":"voip"}"#)
    #expect(call["call"]["caller"].string == "Ada" && call["call"]["state"].string == "ringing")
    #expect(call["note"].isNull && call["activities"].elements.isEmpty)
    let start =
      #"{\"aps\":{\"event\":\"start\",\"timestamp\":1,\"attributes-type\":\"T\",\"attributes\":{},\"content-state\":{\"stops\":3},\"alert\":{\"title\":\"x\",\"body\":\"y\"}}}"#
    let activity = try explained(#"{"payload":"\#(start)","pushType":"liveactivity"}"#)
    #expect(activity["call"].isNull)
    #expect(activity["activities"].elements.map { $0["contentState"].text } == [#"{"stops":3}"#])
  }

  @Test("what is being written need not be JSON")
  func unfinished() throws {
    let answer = try explained(#"{"payload":"{\"aps\":{"}"#)
    #expect(answer["findings"].elements.map { $0["rule"].string } == ["missing-type", "not-json"])
    #expect(answer["onArrival"].elements.isEmpty)
    #expect(try explained(#"{"payload":""}"#)["findings"].elements.first?["rule"].string == "empty")
  }

  @Test("bytes that came are looked at as they came, though no text has them")
  func bytes() throws {
    let payload = Array(#"{"aps":{"alert":"caf"#.utf8) + [0xe9] + Array(#""}}"#.utf8)
    let answer = try explained(#"{"payloadBase64":"\#(Base64.encode(payload))","pushType":"alert"}"#)
    #expect(answer.text == PushExplanation(payload: payload, type: .alert).json.text)
    #expect(answer["findings"].elements.map { $0["rule"].string } == ["not-json"])
    #expect(answer["onArrival"].elements.isEmpty && answer["note"].isNull)
  }

  @Test(
    "what it can't take it says",
    arguments: [
      (#"{"payload":"","payloadBase64":"e30="}"#, "expected no payloadBase64 beside it, got both"),
      (#"{"payloadBase64":"e"}"#, "Base64 of 1 to 15360 bytes"),
      ("{}", "payload: expected a string of at most 15360 bytes, or payloadBase64 in its place, got nothing"),
      (#"{"payload":{}}"#, "payload"), (#"{"payload":"","pushType":"loud"}"#, "alert"),
      (#"{"payload":"","priority":7}"#, "1, 5 or 10"), (#"{"payload":"","ios":"6"}"#, "from 7 on"),
      (#"{"payload":"","appState":"asleep"}"#, "force-quit"), (#"{"payload":"","to":"me"}"#, "appState"),
    ])
  func refused(json: String, expected: String) throws {
    let message = try ConsoleLab().refusal("POST", "/api/v1/explain", 400, json: json)
    #expect(message.contains(expected), "\(message)")
  }

  @Test("a payload that is too long to be looked at is refused; one that Apple would refuse is explained")
  func long() throws {
    let text = String(repeating: "x", count: 15360)
    let rules = try explained(#"{"payload":"\#(text)"}"#)["findings"].elements.map { $0["rule"].string }
    #expect(rules.contains("too-large"))
    let message = try ConsoleLab().refusal(
      "POST", "/api/v1/explain", 400, json: #"{"payload":"\#(text)x"}"#)
    #expect(message.contains("at most 15360 bytes"))
  }
}
