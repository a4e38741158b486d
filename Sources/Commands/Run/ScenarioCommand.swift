import Basics
import Credentials
import Platform
import Scenario

/// `scenario run`: plays scenarios on an emulator of their own, with a frozen clock; exit 1 if an expectation fails.
enum ScenarioCommand {
  static let files = Argument(ValueKind<String>.file, "scenarios, one JSON file each", isRepeatable: true)
  private static let junit = Flag("junit", .file, "write a report in JUnit's format, for CI")

  static let flags: [any FlagDescription] = [CommonFlags.jsonObject, junit]

  static func run(_ settings: Settings) throws -> ExitStatus {
    SignalMask.ignoreSignalsOfWriting()
    let files = try settings.arguments.map { path in try ScenarioFile(path: path, text: TextFile.read(path)) }
    let credentials = try TemporaryCredentials()
    var results: [ScenarioResult] = []
    for file in files {
      let result = ScenarioRunner.play(file, with: credentials)
      results.append(result)
      if !settings.isOn(CommonFlags.jsonObject) { try Output.line(ScenarioReport.text(result) + "\n") }
    }
    try Output.line(
      settings.isOn(CommonFlags.jsonObject)
        ? ScenarioReport.json(results).text : ScenarioReport.summary(results))
    if let path = settings[junit] {
      try FileReplacement(path).write(Array(ScenarioReport.junit(results).utf8), permissions: 0o644)
    }
    return results.allSatisfy(\.isPassed) ? .success : .failure
  }

  static func schema(_ settings: Settings) throws -> ExitStatus {
    try Output.line(IndentedJSON.text(Scenario.schema))
    return .success
  }
}
