import Basics

/// What became of drills: a table for people, JSON for programs, JUnit for a CI.
package struct DrillReport: Sendable {
  package var command: [String]
  package var baseline: DrillResult
  package var drills: [DrillResult] = []
  /// Drills that are not for this CMD, and why.
  package var skipped: [(id: String, because: String)] = []

  package init(command: [String], baseline: DrillResult) {
    (self.command, self.baseline) = (command, baseline)
  }

  package var isPassed: Bool { ([baseline] + drills).allSatisfy { !$0.judgement.verdict.isFailure } }

  // MARK: For people

  /// Below the table.
  package var summary: String {
    let failed = drills.filter { $0.judgement.verdict.isFailure }
    let untold = drills.count { $0.judgement.verdict == .untold }
    let rest = untold == 0 ? "" : ", \(untold) untold: CMD makes no report"
    let head = "\(drills.count - failed.count) of \(drills.count) drills passed\(rest)"
    let commands = failed.map { "  \($0.again)" }
    let others = Dictionary(grouping: skipped, by: \.because).sorted { $0.key < $1.key }.map {
      because, drills in
      let count = drills.count
      return "\(count == 1 ? "\(drills[0].id) was" : "\(count) drills were") left out: \(because)"
    }
    return ([head] + others + (commands.isEmpty ? [] : ["to see one again:"] + commands)).joined(
      separator: "\n")
  }

  // MARK: For programs

  package var json: JSONValue {
    [
      "passed": .bool(isPassed), "command": .array(command.map(JSONValue.string)),
      "baseline": baseline.json, "drills": .array(drills.map(\.json)),
      "skipped": .array(skipped.map { ["id": .string($0.id), "because": .string($0.because)] }),
    ]
  }

  /// One test case for the baseline and for each drill; `untold` is no failure.
  package var junit: String {
    let cases = ([baseline] + drills).map { result in
      JUnitSuite.Case(
        name: result.id, group: "drill", nanoseconds: result.nanoseconds,
        failures: result.judgement.verdict.isFailure
          ? [result.judgement.sentence + (result.again.isEmpty ? "" : "; again: \(result.again)")] : [])
    }
    let others = skipped.map {
      JUnitSuite.Case(name: $0.id, group: "drill", nanoseconds: 0, skipped: $0.because)
    }
    return JUnitSuite(name: "drills", cases: cases + others).text
  }
}

/// Lines of one width, whatever comes: each is shown as soon as it is known.
package struct DrillTable: Sendable {
  private static let numbers = ["sent", "once", "twice", "never", "refused", "took"]
  /// Wide enough for the largest number of pushes.
  private static let width = 7

  private let first: Int

  /// For drills of these ids.
  package init(_ ids: [String]) {
    first = ([DrillResult.baselineId] + ids).map(\.count).max() ?? 0
  }

  package var head: String { line("drill", Self.numbers, "verdict", "") }

  package func line(_ result: DrillResult) -> String {
    let numbers = result.judgement.numbers
    let counts = [numbers.sent, numbers.once, numbers.twice, numbers.never, numbers.refused].map { "\($0)" }
    let sentence = ([result.judgement.sentence] + result.notes).filter { !$0.isEmpty }.joined(separator: "; ")
    return line(
      result.id, counts + [DrillJudge.seconds(result.nanoseconds)], result.judgement.verdict.rawValue,
      sentence.visible)
  }

  private func line(_ id: String, _ numbers: [String], _ verdict: String, _ sentence: String) -> String {
    let start = id + String(repeating: " ", count: max(0, first - id.count))
    let middle = numbers.map { String(repeating: " ", count: max(0, Self.width - $0.count)) + $0 }
    let end =
      sentence.isEmpty ? "" : String(repeating: " ", count: max(0, 7 - verdict.count)) + "  " + sentence
    return start + middle.map { " " + $0 }.joined() + "  " + verdict + end
  }
}

/// Words as a shell takes them.
package enum ShellWords {
  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%")

  package static func text(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  private static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.allSatisfy(plain.contains) else { return word }
    return "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
