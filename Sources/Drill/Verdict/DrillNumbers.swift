/// What became of the pushes of a run, as counts.
package struct DrillNumbers: Sendable, Equatable {
  /// Tokens in CMD's file.
  package var sent = 0
  /// Delivered once, and more than once.
  package var once = 0
  package var twice = 0
  /// Not delivered, and not rejected.
  package var never = 0
  /// Not delivered: the emulator has rejected them, and said so.
  package var refused = 0
  /// Reported by CMD, whatever became of them.
  package var reported = 0
  /// Not delivered though they should have been, and not reported where that is enough.
  package var lost = 0
  /// Delivered more than once though that is wrong.
  package var doubled = 0

  package init() {}
}

/// How a drill went.
package enum DrillVerdict: String, Sendable, CaseIterable {
  case ok
  case fail = "FAIL"
  /// Pushes were not delivered, and nobody can know whether CMD has noticed: it makes no report.
  case untold
  /// CMD waits for the time to try again, which is right.
  case waiting
  /// CMD was still running.
  case hangs

  package var isFailure: Bool { self == .fail || self == .hangs }
}

/// A verdict, its numbers, and a sentence for people; the sentence is empty where there is nothing to say.
package struct DrillJudgement: Sendable, Equatable {
  package var verdict: DrillVerdict
  package var numbers: DrillNumbers
  package var sentence: String

  package init(verdict: DrillVerdict, numbers: DrillNumbers, sentence: String) {
    (self.verdict, self.numbers, self.sentence) = (verdict, numbers, sentence)
  }
}
