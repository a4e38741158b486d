import Console
import ConsoleAnswers
import PushModel

/// Drills as a test wants them: a run is over at once, or when the test says so.
final class FakeDrills: DrillBoard {
  var overview: DrillOverview
  /// What every run comes to, at once; nil: nothing yet.
  var outcome: Result<DrillOutcome, ConsoleError>? = .success(.failed)
  /// Why no run can begin.
  var refusal: ConsoleError?
  private(set) var begun: [(id: String, timeout: Int64?)] = []
  private(set) var notSent: [CustomToken]?
  private(set) var abandonments = 0
  private var ended: ((Result<DrillOutcome, ConsoleError>) -> Void)?

  init(_ overview: DrillOverview = .idle) { self.overview = overview }

  func begin(
    _ id: String, timeout: Int64?, ended: @escaping (Result<DrillOutcome, ConsoleError>) -> Void
  ) throws {
    if let refusal { throw refusal }
    begun.append((id, timeout))
    if let outcome { ended(outcome) } else { self.ended = ended }
  }

  func complete(notSent: [CustomToken]?) throws -> String {
    if let refusal { throw refusal }
    self.notSent = notSent
    return begun.last?.id ?? "baseline"
  }

  func abandon() { abandonments += 1 }

  func finish(_ result: Result<DrillOutcome, ConsoleError>) { ended?(result) }
}

extension DrillOverview {
  private static let entry = Entry(
    "shutdown", "http2", summary: "503 for three pushes", remedy: "send them again",
    DrillPlace(page: "Documentation/drills.md", heading: "shutdown"),
    skipped: "the server does not speak HTTP/2")

  static let idle = DrillOverview(topic: ConsoleLab.app, hasBaseline: false, running: nil, [entry])
  static let running = DrillOverview(
    topic: ConsoleLab.app, hasBaseline: true,
    running: Running(id: "shutdown", tokens: ["ab", "cd"], udids: ["drill-1-1", nil]), [entry])
}

extension DrillOutcome {
  /// One with all that an outcome may have.
  static var failed: DrillOutcome {
    var outcome = DrillOutcome()
    (outcome.id, outcome.verdict, outcome.sentence) = ("shutdown", "FAIL", "3 pushes were lost")
    outcome.counts = (10, 7, 0, 0, 3, 0, 3, 0)
    (outcome.nanoseconds, outcome.status) = (400_000_000, 0)
    outcome.evidence = DrillPlace(page: "Documentation/provider-api.md", heading: "reasons")
    outcome.advice = [("lost-at-goaway", "error", 3, "3 pushes were lost.")]
    return outcome
  }
}
