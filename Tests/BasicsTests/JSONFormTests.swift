import Basics
import PushModel
import Testing

@Suite struct JSONFormTests {
  private struct Part: JSONDocument, Equatable {
    var count: UInt8 = 3

    static let form = JSONForm<Part>([JSONField("count", .whole(1...9), \.count)])
  }

  private struct Whole: JSONDocument, Equatable {
    var topic: Topic?
    var part: Part?
    var isOn = false
    var tokens: [DeviceToken] = []

    static let form = JSONForm<Whole>(
      [
        JSONField("topic", .topic, \.topic).needed, JSONField("part", Part.form.kind(Part()), \.part),
        JSONField(flag: "on", \.isOn), JSONField("tokens", .list(of: .token), \.tokens),
        JSONField(ignored: "seen"),
      ], rules: [("minProperties", 1)])
  }

  private func read(_ json: String) throws -> Whole {
    var whole = Whole()
    try Whole.form.read(JSONObject(body: Array(json.utf8)), into: &whole)
    return whole
  }

  @Test("What is written is read again, and what only answers have is ignored")
  func roundTrip() throws {
    let token = String(repeating: "ab", count: 32)
    let json = #"{"topic":"a.b","part":{"count":9},"on":true,"tokens":["\#(token)"]"#
    let whole = try read(json + #","seen":5}"#)
    #expect(whole.part == Part(count: 9) && whole.isOn && whole.tokens.map(\.hex) == [token])
    #expect(whole.document.text == json + "}")
  }

  @Test("What is left out keeps its value, and is not written where there is none")
  func absent() throws {
    let whole = try read(#"{"topic":"a","part":{}}"#)
    #expect(whole.part?.count == 3)
    #expect(whole.document.text == #"{"topic":"a","part":{"count":3},"tokens":[]}"#)
    #expect(try read(#"{"topic":"a","part":{"count":7.0}}"#).part?.count == 7)
  }

  @Test("Of members with the same name the last counts")
  func twice() throws { #expect(try read(#"{"topic":"a","topic":"b"}"#).topic?.name == "b") }

  @Test(
    "Errors say which member, what was expected, and what came: strings in quotes, all else as it stands",
    arguments: [
      ("{}", "topic: expected a bundle id, as com.example.app, got nothing"),
      (#"{"topic":5}"#, "topic: expected a bundle id, as com.example.app, got 5"),
      (#"{"topic":"a b"}"#, #"topic: expected a bundle id, as com.example.app, got "a b""#),
      (#"{"topic":-0.5}"#, "topic: expected a bundle id, as com.example.app, got -0.5"),
      (#"{"topic":"a","to":1}"#, #"the body: expected one of topic, part, on, tokens, seen, got "to""#),
      (
        #"{"topic":"a","part":{"counts":1}}"#,
        #"part: expected one of count, got "counts"; did you mean count?"#
      ),
      (#"{"topic":"a","part":{"count":10}}"#, "part.count: expected a number from 1 to 9, got 10"),
      (#"{"topic":"a","part":{"count":"5"}}"#, #"part.count: expected a number from 1 to 9, got "5""#),
      (#"{"topic":"a","part":null}"#, "part: expected an object, got null"),
      (#"{"topic":"a","part":[1,[2],{}]}"#, "part: expected an object, got a list of 3"),
      (#"{"topic":"a","on":"yes"}"#, #"on: expected true or false, got "yes""#),
      (#"{"topic":"a","on":[]}"#, "on: expected true or false, got an empty list"),
      (#"{"topic":"a","tokens":{"a":1}}"#, "tokens: expected an array of strings, got an object"),
      (#"{"topic":"a","tokens":true}"#, "tokens: expected an array of strings, got true"),
      (#"{"topic":"a","tokens":["x"]}"#, #"tokens[0]: expected 64 hexadecimal digits, got "x""#),
      ("[1,2]", "the body: expected a JSON object, got a list of 2"),
      ("false", "the body: expected a JSON object, got false"),
      ("{", #"the body: expected a JSON object, got "{": line 1, column 2: expected a string, got the end"#),
    ])
  func errors(json: String, sentence: String) {
    #expect(throws: DocumentError(sentence)) { try read(json) }
  }

  @Test("What came is told in short, however long it is")
  func long() {
    let error = DocumentError("a", expected: "b", got: .string(String(repeating: "x", count: 1000)))
    #expect(error.description == #"a: expected b, got "\#(String(repeating: "x", count: 80))…""#)
  }

  @Test("The schema has the members that may be sent")
  func schema() {
    #expect(
      Whole.form.schema.text
        == #"{"type":"object","additionalProperties":false,"required":["topic"],"minProperties":1,"#
        + #""properties":{"topic":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,255}$"},"#
        + #""part":{"type":"object","additionalProperties":false,"#
        + #""properties":{"count":{"type":"integer","minimum":1,"maximum":9}}},"on":{"type":"boolean"},"#
        + #""tokens":{"type":"array","items":{"type":"string","pattern":"^[0-9A-Fa-f]{64}$"}},"seen":{}}}"#)
  }
}
