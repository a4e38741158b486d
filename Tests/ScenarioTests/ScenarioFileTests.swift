import Basics
import Foundation
import Phone
import Scenario
import Testing

/// What stands in a file, and where what is wrong with it.
@Suite("Scenario files")
struct ScenarioFileTests {
  private static let start = """
    {
      "name": "A story",
      "phones": {"anna": {"apps": {"com.example.app": {}}}},
      "steps": [
    """

  private static let errors: [(String, String)] = [
    ("{", "1:2: expected a string, got \"the end\""),
    (#"{"name": "x", "phones": {}}"#, "1:1: steps: expected an array of steps, got nothing"),
    (
      start + "\n    {\"wait\": \"soon\"}\n]}",
      "5:14: steps[0].wait: expected a duration as 61m or 1h30m, got \"soon\""
    ),
    (
      start + "\n    {\"wait\": \"1s\"},\n    {\"person\": {\"do\": \"tap\"}}\n]}",
      "6:16: steps[1].person.id: expected a number from 0 to 9223372036854775807, got nothing"
    ),
    (
      start + "\n    {\"push\": {\"to\": \"anna\", \"payload\": {}, \"type\": \"loud\"}}\n]}",
      "5:52: steps[0].push.type: expected one of alert, background"
    ),
    (
      start + "\n    {\"push\": {\"payload\": {}, \"to\": {\"start\": \"A\", \"activity\": \"a\"}}}\n]}",
      "5:36: steps[0].push.to: expected one of start, activity, got both"
    ),
    (
      start + "\n    {\"push\": {\"payload\": {}, \"to\": {\"on\": \"anna\"}}}\n]}",
      "5:36: steps[0].push.to: expected one of start, activity, got neither"
    ),
    (
      start + "\n    {\"remember\": {\"x\": {\"activity\": \"a b\"}}}\n]}",
      "5:37: steps[0].remember.x.activity: expected 1 to 100 bytes without spaces, got \"a b\""
    ),
    (
      start + "\n    {\"push\": {\"payload\": {}, \"to\": 3}}\n]}",
      "5:36: steps[0].push.to: expected a name, or an object with start or activity, got 3"
    ),
    (
      start + "\n    {\"say\": \"x\", \"expect\": {\"advice\": [\"lost\"]}}\n]}",
      "5:40: steps[0].expect.advice[0]: expected one of connection-per-push, reconnect-storm"
    ),
    (start + "\n    {\"sleep\": 1}\n]}", "5:5: steps[0]: expected one of say, push, person"),
    (
      #"{"name": "x", "phones": {"anna": {"apps": {"com.example.app": {"state": "asleep"}}}}, "steps": []}"#,
      "1:73: phones.anna.apps.com.example.app.state: expected one of foreground"
    ),
  ]

  @Test("line, column, what was expected and what came", arguments: errors)
  func wrong(text: String, sentence: String) {
    #expect {
      try ScenarioFile(path: "story.json", text: Array(text.utf8))
    } throws: { error in
      "\(error)".hasPrefix("story.json:\(sentence)")
    }
  }

  @Test("the place of a value, by its path or that of what it is in")
  func places() {
    let places = JSONPlaces(Array("{\n \"a\": [1,\n  {\"b\": 2}]}".utf8))
    #expect(places["a"].description == "2:7")
    #expect(places["a[1].b"].description == "3:9")
    #expect(places["a[1].c"].description == "3:3")
    #expect(places["z"].description == "1:1")
    #expect(places.isObject("a[1]") && !places.isObject("a") && places.problem == nil)
  }

  @Test("every member and every verb stands on the page about scenarios")
  func documented() throws {
    let page = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Documentation/scenarios.md"), encoding: .utf8)
    let names =
      Scenario.form.names + ScenarioStep.form.names + ScenarioPush.form.names + Expectation.form.names
      + ContextAddress.form.names
    for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
    for verb in PhoneVerb.all { #expect(page.contains("\n| `\(verb.name)` |"), "\(verb.name)") }
  }

  @Test("time spans as people write them")
  func spans() {
    #expect(SpanText.text(0) == "0s")
    #expect(SpanText.text(90_000_000_000) == "1m30s")
    #expect(SpanText.text(86_400_000_000_000 + 5_000_000) == "1d5ms")
  }
}
