import PushModel

/// What became of a scenario.
public struct ScenarioResult: Sendable {
  public let file: String
  public let name: String
  public internal(set) var steps: [StepResult] = []
  /// Why it could not be played to its end.
  public internal(set) var problem: ScenarioFailure?
  /// How long it took in wall-clock time.
  public internal(set) var nanoseconds: Int64 = 0

  init(_ file: ScenarioFile) { (self.file, name) = (file.path, file.scenario.name) }

  public var failures: [ScenarioFailure] { steps.flatMap(\.failures) + (problem.map { [$0] } ?? []) }
  public var isPassed: Bool { failures.isEmpty }
  /// Expectations that were looked at, as a count.
  public var checked: Int { steps.reduce(0) { $0 + $1.checked } }
}

/// What became of a step.
public struct StepResult: Sendable {
  let place: JSONPlaces.Place
  /// Since the beginning, on the scenario's clock.
  let seconds: Int64
  let title: String
  /// Words of the scenario's author.
  let say: String?
  var outcomes: [PushOutcome] = []
  var events: [PhoneLine] = []
  var checked = 0
  var failures: [ScenarioFailure] = []
}

/// An expectation that did not come true.
public struct ScenarioFailure: Sendable, Equatable {
  public let place: JSONPlaces.Place
  public let expected: String
  public let got: String
}
