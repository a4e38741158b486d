import PushModel

/// Whether a provider does without a fault what drills need: one push to each token, all delivered, and an end. Pure.
package struct BaselineCheck {
  /// What was seen, and what the provider should do; nil if it did.
  package let problem: String?

  private static func task(of subject: DrillSubject) -> String {
    switch subject {
    case .command:
      "CMD has to send one push to each token of the file APNS_EMULATOR_TOKEN_FILE, and then to end with status 0"
    case .server: "the server has to send one push to each token that GET /api/v1/drills lists"
    }
  }

  /// `elsewhere` counts pushes by the console and to tokens that are not in the file.
  package init(_ facts: RunFacts, _ elsewhere: (console: Int, strangers: Int), _ firstRejection: Rejection?) {
    problem = Self.seen(facts, elsewhere, firstRejection).map {
      "\($0): \(Self.task(of: facts.subject))"
    }
  }

  private static func seen(
    _ facts: RunFacts, _ elsewhere: (console: Int, strangers: Int), _ firstRejection: Rejection?
  ) -> String? {
    let tries = facts.tokens.reduce(0) { $0 + $1.tries }
    let missing = facts.tokens.count { $0.deliveries == 0 }
    let doubled = facts.tokens.count { $0.deliveries > 1 }
    let ending = ending(facts)
    if tries == 0 {
      let end = ending ?? (facts.subject == .command ? "it ended with status 0" : "it was done")
      return "\(end), and sent nothing" + strangers(elsewhere)
    }
    if let ending {
      return
        "\(ending), with \(DrillJudge.pushes(facts.tokens.count - missing)) delivered of \(facts.tokens.count)"
    }
    if missing > 0 {
      let reason = firstRejection.map { "; the first that was rejected got \($0.reason)" } ?? ""
      let left =
        facts.leftBehind > 0 ? "; it left processes behind, which were ended: it has to wait for them" : ""
      return "\(missing) of \(facts.tokens.count) pushes were not delivered\(reason)\(left)"
    }
    if doubled > 0 { return "\(doubled) of \(facts.tokens.count) tokens got more than one push" }
    return facts.interfaces.isEmpty
      ? "pushes came by the console: drills are for the provider API and the gateway" : nil
  }

  private static func ending(_ facts: RunFacts) -> String? {
    switch facts.ending {
    case .ended(0): nil
    case .ended(let status): "it ended with status \(status)"
    case .stillRan:
      "it \(facts.subject == .command ? "still ran" : "was not done") after \(DrillJudge.seconds(facts.nanoseconds))"
    }
  }

  private static func strangers(_ elsewhere: (console: Int, strangers: Int)) -> String {
    let count = elsewhere.strangers
    return count > 0 ? " to these tokens (but \(DrillJudge.pushes(count)) to others)" : ""
  }
}

/// CMD can't be drilled.
package struct BaselineError: Error {
  package let result: DrillResult
  /// The end of what it said.
  package let output: [String]
}
