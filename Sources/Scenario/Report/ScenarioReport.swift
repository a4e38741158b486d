import Basics
import Phone

/// What became of scenarios: for people, for programs, and for a CI that reads JUnit.
package enum ScenarioReport {
  /// One scenario, step by step.
  package static func text(_ result: ScenarioResult) -> String {
    let head = "\(result.name.visible)  (\(result.file.visible))"
    let steps = result.steps.flatMap { lines($0, result.file) }
    let problem = result.problem.map { [line($0, result.file)] } ?? []
    return ([head] + steps + problem).joined(separator: "\n")
  }

  /// All of them in a line.
  package static func summary(_ results: [ScenarioResult]) -> String {
    let failed = results.count { !$0.isPassed }
    let checked = results.reduce(0) { $0 + $1.checked }
    return "\(results.count - failed) of \(results.count) scenarios passed, \(checked) expectations checked"
  }

  private static func lines(_ step: StepResult, _ file: String) -> [String] {
    let time = SpanText.text(step.seconds * 1_000_000_000)
    let head = String(repeating: " ", count: max(0, 8 - time.count)) + "\(time)  \(step.title.visible)"
    let outcomes = step.outcomes.map { "          → \($0.name.visible): \($0.text.visible)" }
    let events = step.events.map { line in
      let name = line.event.what.name
      let gap = String(repeating: " ", count: max(1, 14 - name.count))
      let detail = line.event.detail.isEmpty ? line.event.rule.sentence : line.event.detail
      return "          \(name)\(gap)\(detail.visible)  (\(line.event.rule.name): \(line.event.evidence))"
    }
    let checks = step.checked == 0 || !step.failures.isEmpty ? [] : ["          ok"]
    let say = step.say.map { ["          \"\($0.visible)\""] } ?? []
    return [head] + say + outcomes + events + checks + step.failures.map { line($0, file) }
  }

  private static func line(_ failure: ScenarioFailure, _ file: String) -> String {
    "\(file.visible):\(failure.place): expected \(failure.expected.visible), got \(failure.got.visible)"
  }

  // MARK: For programs

  package static func json(_ results: [ScenarioResult]) -> JSONValue {
    ["passed": results.allSatisfy(\.isPassed).json, "scenarios": .array(results.map(document))]
  }

  private static func document(_ result: ScenarioResult) -> JSONValue {
    [
      "file": result.file.json, "name": result.name.json, "passed": result.isPassed.json,
      "steps": .array(result.steps.map(document)),
      "failures": .array(result.failures.map { document($0, result.file) }),
    ]
  }

  private static func document(_ step: StepResult) -> JSONValue {
    [
      "line": step.place.line.json, "seconds": step.seconds.json, "title": step.title.json,
      "say": step.say.json, "outcomes": .array(step.outcomes.map(document)),
      "events": .array(
        step.events.map { line in
          .object([("phone", line.phone.json), ("topic", line.event.topic.name.json)] + line.event.members)
        }),
      "checked": step.checked.json, "failed": step.failures.count.json,
    ]
  }

  private static func document(_ outcome: PushOutcome) -> JSONValue {
    [
      "to": outcome.name.json, "interface": outcome.interface.rawValue.json,
      "accepted": outcome.isAccepted.json, "status": outcome.status.json, "reason": outcome.reason.json,
      "legacyStatus": outcome.legacyStatus.json,
    ]
  }

  private static func document(_ failure: ScenarioFailure, _ file: String) -> JSONValue {
    [
      "file": file.json, "line": failure.place.line.json, "column": failure.place.column.json,
      "expected": failure.expected.json, "got": failure.got.json,
    ]
  }

  // MARK: JUnit

  /// One test case for each scenario.
  package static func junit(_ results: [ScenarioResult]) -> String {
    JUnitSuite(
      name: "scenarios",
      cases: results.map { result in
        JUnitSuite.Case(
          name: result.name, group: result.file, nanoseconds: result.nanoseconds,
          failures: result.failures.map { line($0, result.file) })
      }
    ).text
  }
}

/// A time span as people write it: `0s`, `20m`, `1h30m`.
package enum SpanText {
  package static func text(_ nanoseconds: Int64) -> String {
    let all = nanoseconds / 1_000_000
    let parts = [
      (all / 86_400_000, "d"), (all / 3_600_000 % 24, "h"), (all / 60_000 % 60, "m"), (all / 1000 % 60, "s"),
      (all % 1000, "ms"),
    ]
    let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
    return text.isEmpty ? "0s" : text
  }
}

/// What became of a scenario.
package struct ScenarioResult: Sendable {
  package let file: String
  package let name: String
  package internal(set) var steps: [StepResult] = []
  /// Why it could not be played to its end.
  package internal(set) var problem: ScenarioFailure?
  /// How long it took in wall-clock time.
  package internal(set) var nanoseconds: Int64 = 0

  init(_ file: ScenarioFile) { (self.file, name) = (file.path, file.scenario.name) }

  package var failures: [ScenarioFailure] { steps.flatMap(\.failures) + (problem.map { [$0] } ?? []) }
  package var isPassed: Bool { failures.isEmpty }
  /// Expectations that were looked at, as a count.
  package var checked: Int { steps.reduce(0) { $0 + $1.checked } }
}

/// What became of a step.
package struct StepResult: Sendable {
  let place: JSONPlaces.Place
  /// Since the beginning, on the scenario's clock.
  package let seconds: Int64
  let title: String
  /// Words of the scenario's author.
  let say: String?
  var outcomes: [PushOutcome] = []
  var events: [PhoneLine] = []
  var checked = 0
  var failures: [ScenarioFailure] = []
}

/// An expectation that did not come true.
package struct ScenarioFailure: Sendable, Equatable {
  package let place: JSONPlaces.Place
  package let expected: String
  package let got: String
}
