import Basics
import Credentials
import Foundation
import Phone
import Scenario
import Testing

/// Scenarios against an emulator of their own.
@Suite("Scenarios", .serialized)
struct ScenarioRunTests {
  nonisolated(unsafe) private static let credentials = Result { try RunCredentials.make() }
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Examples/Scenarios")

  private static func shipped() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.sorted()
  }

  private static func file(_ name: String) throws -> ScenarioFile {
    try ScenarioFile(path: name, text: Array(Data(contentsOf: folder.appending(path: name))))
  }

  @Test("the twelve that are shipped pass, each looking at something in most of its steps")
  func shipped() throws {
    let names = try Self.shipped()
    #expect(names.count == 12)
    let credentials = try Self.credentials.get()
    for name in names {
      let result = ScenarioRunner.play(try Self.file(name), with: credentials)
      #expect(result.isPassed, "\(result.failures)")
      #expect(result.checked >= result.steps.count / 2, "\(name)")
    }
  }

  @Test("every run is the same")
  func same() throws {
    let name = "silent-push-throttled.json"
    let (first, second) = (
      ScenarioRunner.play(try Self.file(name), with: try Self.credentials.get()),
      ScenarioRunner.play(try Self.file(name), with: try TemporaryCredentials())
    )
    #expect(ScenarioReport.json([first]).text == ScenarioReport.json([second]).text)
    #expect(ScenarioReport.text(first) == ScenarioReport.text(second))
  }

  @Test("without one of its expectations' causes a scenario fails, with file, line, expected and got")
  func broken() throws {
    let text = try String(contentsOf: Self.folder.appending(path: "first-push.json"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let line = try #require(lines.firstIndex { $0.contains(#"{"badge": 1}"#) }) + 1
    let changed = text.replacing(#"{"badge": 1}"#, with: #"{"badge": 2}"#)
    let result = ScenarioRunner.play(
      try ScenarioFile(path: "first.json", text: Array(changed.utf8)), with: try Self.credentials.get())
    let failure = try #require(result.failures.first)
    #expect(result.failures.count == 1 && failure.place.line == line)
    #expect((failure.expected, failure.got) == ("badge 2", "1"))
    #expect(
      ScenarioReport.text(result).contains("first.json:\(failure.place): expected badge 2, got 1"))
    let junit = ScenarioReport.junit([result])
    #expect(junit.contains("tests=\"1\" failures=\"1\""))
    #expect(junit.contains("<failure message=\"first.json:\(failure.place): expected badge 2, got 1\">"))
  }

  @Test("what XML has signs for is written with them in a report for JUnit, whatever combines with it")
  func junit() throws {
    let text = #"{"name": "a&\u0301<\"b>", "phones": {}, "steps": []}"#
    let result = ScenarioRunner.play(
      try ScenarioFile(path: "x.json", text: Array(text.utf8)), with: try Self.credentials.get())
    #expect(ScenarioReport.junit([result]).contains("name=\"a&amp;\u{301}&lt;&quot;b&gt;\""))
  }

  private func play(
    _ steps: String, phones: String = #"{"anna": {"apps": {"com.example.app": {}}}}"#,
    in environment: String = "sandbox"
  ) throws -> ScenarioResult {
    let text =
      #"{"name": "x", "environment": "\#(environment)", "phones": \#(phones), "steps": [\#(steps)]}"#
    return ScenarioRunner.play(
      try ScenarioFile(path: "x.json", text: Array(text.utf8)), with: try Self.credentials.get())
  }

  @Test(
    "a step that can't be done ends the scenario, and says why",
    arguments: [
      (
        #"{"person": {"do": "tap", "note": "Hello"}}"#,
        "there is no notification \"Hello\" on anna; it shows none"
      ),
      (#"{"phone": {"on": "ben", "is": "offline"}}"#, "there is no phone \"ben\"; the scenario has anna"),
      (#"{"push": {"to": "@all", "payload": {}}}"#, "there is no alias all"),
      (#"{"mend": "it"}"#, "there is no fault it, so it can't be mended"),
      (
        #"{"push": {"to": "anna", "payload": {}, "type": "voip"}}"#,
        "anna has no token for a push of type voip; it has com.example.app"
      ),
      (
        #"{"push": {"to": {"start": "Game"}, "payload": {}}}"#,
        "anna has no token start:Game; it has no token of a Live Activity"
      ),
    ])
  func impossible(step: String, why: String) throws {
    let result = try play(#"{"say": "first"}, \#(step), {"say": "never"}"#)
    #expect(result.steps.count == 1 && result.problem?.got == "the error: \(why)")
  }

  @Test("time passes on the clock alone, and expectations may wait for it")
  func time() throws {
    let result = try play(
      #"""
      {"person": {"do": "local", "topic": "com.example.app", "identifier": "tea", "content": {"alert": "Tea"},
        "trigger": {"after": "30d"}}, "expect": {"none": "presented"}},
      {"say": "a month", "expect": {"within": "30d", "presented": ["lock screen", "list"], "count": 1}}
      """#)
    #expect(result.isPassed, "\(result.failures)")
    #expect(result.steps.map(\.seconds) == [0, 0] && result.nanoseconds < 60_000_000_000)
  }

  @Test("what is wrong with the provider is found, and nothing where it does all well")
  func advice() throws {
    let fine = try play(
      #"""
      {"push": {"to": "anna", "payload": {"aps": {"alert": "x"}}, "type": "alert"}, "expect": {"advice": []}}
      """#)
    #expect(fine.isPassed, "\(fine.failures)")
    let wrong = try play(
      #"""
      {"push": {"to": "anna", "payload": {"aps": {"alert": "x"}}}, "expect": [{"status": 200}, {"advice": ["no-push-type"]}]},
      {"say": "later", "expect": {"advice": []}}
      """#)
    #expect(wrong.failures.map(\.expected) == ["no advice"])
    #expect(wrong.failures.map(\.got) == ["advice no-push-type"])
  }

  @Test("many pushes, each on a connection of its own here, are nothing to advise against")
  func manyPushes() throws {
    let push = #"{"push": {"to": "anna", "payload": {"aps": {"alert": "x"}}, "type": "alert"}}"#
    let result = try play(
      (Array(repeating: push, count: 12) + [#"{"say": "end", "expect": {"advice": []}}"#]).joined(
        separator: ", "))
    #expect(result.isPassed, "\(result.failures)")
  }

  @Test("an erased phone has none of its apps; a restored one has them, with other tokens")
  func erased() throws {
    let erased = try play(
      #"""
      {"phone": {"is": "erased"}, "expect": {"token": "none"}}
      """#)
    #expect(erased.isPassed, "\(erased.failures)")
    let restored = try play(
      #"""
      {"remember": {"old": "anna"}},
      {"phone": {"is": "restored"}, "expect": [{"token": "changed"}, {"rule": "restored-unlaunched"}]},
      {"push": {"to": "anna", "payload": {"aps": {"alert": "x"}}, "type": "alert"},
        "expect": [{"status": 200}, {"presented": ["lock screen", "list"]}]},
      {"person": {"do": "open", "topic": "com.example.app"}, "expect": {"callback": "didRegisterForRemote"}}
      """#)
    #expect(restored.isPassed, "\(restored.failures)")
  }

  @Test("a token that nobody has asked for since a restore is told once, whatever a person does then")
  func restoredToken() throws {
    let result = try play(
      #"""
      {"phone": {"is": "restored"}, "expect": {"rule": "restored-unlaunched", "count": 1}},
      {"person": {"do": "settings", "muted": true}, "expect": {"rule": "restored-unlaunched", "count": 0}}
      """#)
    #expect(result.isPassed, "\(result.failures) \(String(describing: result.problem))")
  }

  // MARK: Tokens of Live Activities

  private static let gamer = #"{"anna": {"apps": {"com.example.app": {"activityTypes": ["Game"]}}}}"#

  /// A push to the old token is still taken; from then on it is gone.
  private static let oldIsGone = #"""
    {"push": {"to": "old", "payload": {}, "type": "liveactivity", "credential": "key"}, "expect": {"status": 200}},
    {"push": {"to": "old", "payload": {}, "type": "liveactivity", "credential": "key"},
     "expect": {"status": 410, "reason": "Unregistered"}}
    """#

  @Test(
    "the token that starts Live Activities is another one after what ends it",
    arguments: [
      (#"{"app": {"is": "reinstalled"}, "expect": {"rule": "token-changed", "detail": "to start Game"}}"#),
      #"""
      {"phone": {"is": "restored"}, "expect": {"event": "token", "detail": "start", "count": 0}},
      {"person": {"do": "open", "topic": "com.example.app"},
       "expect": {"rule": "token-changed", "detail": "to start Game"}}
      """#,
      #"""
      {"phone": {"is": "offline"}},
      {"person": {"do": "settings", "apps": {"com.example.app": {"activityTypes": []}}}},
      {"phone": {"is": "online"}},
      {"person": {"do": "settings", "apps": {"com.example.app": {"activityTypes": ["Game"]}}},
       "expect": {"rule": "token-changed", "detail": "to start Game"}}
      """#,
    ])
  func startToken(change: String) throws {
    let start =
      #"{"aps": {"event": "start", "timestamp": 1, "attributes-type": "Game", "attributes": {}, "content-state": {}, "alert": {"title": "T"}}}"#
    let result = try play(
      #"""
      {"remember": {"old": {"on": "anna", "topic": "com.example.app", "start": "Game"}}},
      \#(change), \#(Self.oldIsGone),
      {"push": {"to": {"start": "Game"}, "payload": \#(start), "type": "liveactivity", "credential": "key"},
       "expect": [{"status": 200}, {"rule": "activity-started"}]}
      """#, phones: Self.gamer)
    #expect(result.isPassed, "\(result.failures) \(String(describing: result.problem))")
  }

  @Test("a phone that is offline asks when it is back, and tells what has ended meanwhile")
  func awayToken() throws {
    let run = #"{"do": "activity", "topic": "com.example.app", "attributesType": "Game", "intent": true}"#
    let result = try play(
      #"""
      {"person": \#(run), "expect": {"event": "token", "detail": "for activity-1"}},
      {"remember": {"old": {"activity": "activity-1"}}},
      {"phone": {"is": "offline"}},
      {"person": \#(run), "expect": [{"event": "token-asked"}, {"none": "token"}]},
      {"person": {"do": "settings", "apps": {"com.example.app": {"entitlement": "none"}}}},
      {"phone": {"is": "online"}, "expect": {"none": "token"}}, \#(Self.oldIsGone),
      {"person": {"do": "settings", "apps": {"com.example.app": {"entitlement": "development"}}},
       "expect": [{"event": "token", "detail": "for activity-1"}, {"event": "token", "detail": "for activity-2"}]}
      """#)
    #expect(result.isPassed, "\(result.failures) \(String(describing: result.problem))")
  }

  @Test(
    "an app has a token only where its entitlement is for the scenario's environment",
    arguments: [
      ("sandbox", "development", ["production", "none"]),
      ("production", "production", ["development", "none"]),
    ])
  func entitlement(environment: String, own: String, others: [String]) throws {
    for other in others {
      let phones = #"{"anna": {"apps": {"com.example.app": {"entitlement": "\#(other)"}}}}"#
      let result = try play(
        #"{"push": {"to": "anna", "payload": {"aps": {"alert": "x"}}, "type": "alert"}}"#, phones: phones,
        in: environment)
      #expect(
        result.problem?.got
          == "the error: anna has no token for a push of type alert; it has none: the entitlement of com.example.app is "
          + "\(other), and the environment of the scenario \(environment)")
      let mended = try play(
        #"""
        {"say": "at first", "expect": {"token": "none"}},
        {"person": {"do": "settings", "apps": {"com.example.app": {"entitlement": "\#(own)"}}},
         "expect": {"token": "changed"}},
        {"push": {"to": "anna", "payload": {"aps": {"alert": "x"}}, "type": "alert"},
         "expect": [{"status": 200}, {"event": "presented"}]}
        """#, phones: phones, in: environment)
      #expect(mended.isPassed, "\(mended.failures) \(String(describing: mended.problem))")
    }
  }

  @Test("of the other environment the app waits for its token, without an entitlement registering fails")
  func registers() throws {
    let register = #"{"do": "register", "topic": "com.example.app"}"#
    let result = try play(
      #"""
      {"person": {"on": "anna", \#(register.dropFirst()), "expect": {"on": "anna", "event": "no-callback", "rule": "other-environment"}},
      {"person": {"on": "ben", \#(register.dropFirst()), "expect": {"on": "ben", "callback": "didFailToRegister"}}
      """#,
      phones: #"""
        {"anna": {"apps": {"com.example.app": {"entitlement": "production"}}},
         "ben": {"apps": {"com.example.app": {"entitlement": "none"}}}}
        """#)
    #expect(result.isPassed, "\(result.failures) \(String(describing: result.problem))")
  }

  @Test("a token that there is none of is told with those that there are")
  func otherToken() throws {
    let result = try play(
      #"{"push": {"to": {"activity": "activity-7"}, "payload": {}}}"#, phones: Self.gamer)
    #expect(
      result.problem?.got
        == "the error: anna has no token activity:activity-7; it has start:Game of com.example.app")
  }

  @Test("an app that is removed takes its tokens of all kinds along")
  func family() throws {
    let result = try play(
      #"""
      {"remember": {"voip": "anna"}},
      {"app": {"is": "removed", "topic": "com.example.app"}, "expect": {"token": "none"}}
      """#, phones: #"{"anna": {"apps": {"com.example.app": {"tokens": ["voip"]}}}}"#)
    #expect(result.isPassed, "\(result.failures)")
  }
}
