import Basics
import Drill

/// Runs as they might have been seen.
enum Facts {
  /// All of so many pushes were delivered once.
  static func good(_ count: Int = 100, _ kinds: DrillTokens = .allGood) -> RunFacts {
    var facts = RunFacts()
    facts.tokens = (0..<count).map { index in
      var token = TokenFacts(kinds.kind(index, of: count))
      token.tries = 1
      if token.kind == .good { token.deliveries = 1 } else { token.rejections = 1 }
      return token
    }
    (facts.nanoseconds, facts.faultHits, facts.interfaces) = (400_000_000, 1, [.http2])
    (facts.connections, facts.providerTokens) = (1, 1)
    return facts
  }

  /// The same, but for what `change` does.
  static func run(
    _ count: Int = 100, _ kinds: DrillTokens = .allGood, _ change: (inout RunFacts) -> Void
  ) -> RunFacts {
    var facts = good(count, kinds)
    change(&facts)
    return facts
  }

  static func baseline(_ change: (inout RunFacts) -> Void = { _ in }) -> BaselineFacts {
    BaselineFacts(run(100, .allGood, change))
  }

  static func judge(
    _ id: String, _ facts: RunFacts, _ baseline: BaselineFacts = Facts.baseline()
  ) throws -> DrillJudgement {
    let drill = try DrillCatalogue.chosen([id])[0]
    return DrillJudge(drill, facts, baseline).judgement
  }
}

extension RunFacts {
  /// Pushes to these places did not arrive.
  mutating func lose(_ places: Range<Int>, rejected: Bool = false) {
    for place in places {
      tokens[place].deliveries = 0
      tokens[place].rejections = rejected ? 1 : 0
    }
  }
}
