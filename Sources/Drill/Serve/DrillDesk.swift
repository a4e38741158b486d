import Basics
import Console
import ConsoleAnswers
import PushModel

/// Where clients of the console ask for runs, one at a time. Whoever turns the loop looks whether one was asked for; nothing is run here,
/// as a request is handled amid a turn.
///
///     idle ─ begin ─→ asked for ─ the phones have their tokens ─→ running ─ finish ─→ idle: the client has its answer
package final class DrillDesk: DrillBoard {
  /// The run that was asked for, until it is finished.
  package private(set) var asked: ServedRun?
  /// What the run without a fault has shown; nil before there was a good one.
  package var baseline: BaselineFacts?
  private let topic: Topic

  package init(_ topic: Topic) { self.topic = topic }

  package var overview: DrillOverview {
    DrillOverview(
      topic: topic.name, hasBaseline: baseline != nil, running: asked?.shown, DrillCatalogue.all.map(entry))
  }

  private func entry(_ drill: Drill) -> DrillOverview.Entry {
    DrillOverview.Entry(
      drill.id, drill.interface.rawValue, summary: drill.summary, remedy: drill.words.remedy,
      DrillPlace(page: "Documentation/drills.md", heading: drill.id),
      skipped: baseline.flatMap { DrillRunner.reasonToSkip(drill, $0, .server) })
  }

  package func begin(
    _ id: String, timeout: Int64?, ended: @escaping (Result<DrillOutcome, ConsoleError>) -> Void
  ) throws {
    let drill = try id == DrillResult.baselineId ? nil : known(id)
    if let asked {
      throw ConsoleError.conflict("\(asked.id) is running: wait for its end, or POST /api/v1/drills/complete")
    }
    if let drill { try check(drill) }
    asked = ServedRun(drill, limit: timeout.map { $0 * 1_000_000 } ?? limit(of: drill), ended: ended)
  }

  private func known(_ id: String) throws -> Drill? {
    do throws(UnknownDrill) { return try DrillCatalogue.chosen([id]).first } catch {
      throw ConsoleError.notFound("\(error)")
    }
  }

  private func check(_ drill: Drill) throws {
    guard let baseline else {
      throw ConsoleError.conflict("begin with the run without a fault: POST /api/v1/drills/baseline")
    }
    if let reason = DrillRunner.reasonToSkip(drill, baseline, .server) { throw ConsoleError.conflict(reason) }
  }

  /// In nanoseconds.
  private func limit(of drill: Drill?) -> Int64 {
    let longest = BaselineFacts.longestMilliseconds * 1_000_000
    return drill.flatMap { baseline?.limit($0) } ?? longest
  }

  package func complete(notSent: [CustomToken]?) throws -> String {
    guard let asked, asked.shown != nil else {
      throw ConsoleError.conflict("no drill is running; POST /api/v1/drills/{drill} begins one")
    }
    try asked.complete(notSent: notSent)
    return asked.id
  }

  package func abandon() { asked?.abandon() }

  /// The run is over; its client is answered.
  package func finish(_ result: Result<DrillOutcome, ConsoleError>) {
    let run = asked
    asked = nil
    run?.ended(result)
  }
}

/// A run with a server: what is asked of it, and what clients have told.
package final class ServedRun {
  /// nil for the run without a fault.
  let drill: Drill?
  /// How long the server may take, in nanoseconds.
  package let limit: Int64
  let ended: (Result<DrillOutcome, ConsoleError>) -> Void
  /// The server has done all that it will.
  package private(set) var isComplete = false
  /// Nobody waits for the verdict any more.
  package private(set) var isAbandoned = false
  /// Places of the tokens that the server says it could not send to; nil if it has not told.
  package private(set) var notSent: Set<Int>?
  /// As clients see it; nil before it has begun.
  private(set) var shown: DrillOverview.Running?
  private var places: [[UInt8]: Int] = [:]

  init(
    _ drill: Drill?, limit: Int64, ended: @escaping (Result<DrillOutcome, ConsoleError>) -> Void
  ) { (self.drill, self.limit, self.ended) = (drill, limit, ended) }

  var id: String { drill?.id ?? DrillResult.baselineId }

  /// Its phones are online, and the fault is there.
  package func began(tokens: [[UInt8]], udids: [UDID?]) {
    places = Dictionary(tokens.enumerated().map { ($1, $0) }) { first, _ in first }
    shown = DrillOverview.Running(
      id: id, tokens: tokens.map { Hex.encode($0) }, udids: udids.map { $0?.text })
  }

  func complete(notSent tokens: [CustomToken]?) throws {
    let told = try tokens?.enumerated().map { index, token in
      guard let place = places[token.bytes] else {
        throw ConsoleError.bad("notSent[\(index)]", expected: "a token of the run", got: token.hex)
      }
      return place
    }
    (notSent, isComplete) = (told.map(Set.init), true)
  }

  func abandon() { isAbandoned = true }
}
