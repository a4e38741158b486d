import Advice
import Testing

import Drill

/// Verdicts on runs that nobody ran. What is right for each fault is that of the table of `Documentation/drills.md`.
@Suite("The judge of drills")
struct DrillJudgeTests {
  @Test(
    "all once is right in every drill that has good tokens alone", arguments: DrillCatalogue.all.map(\.id))
  func allOnce(id: String) throws {
    let drill = try DrillCatalogue.chosen([id])[0]
    var facts = Facts.good(100, drill.tokens)
    for place in facts.tokens.indices where facts.tokens[place].kind != .good {
      facts.tokens[place].isReported = true
    }
    facts.feedback = (10, 10)
    if id == "expired-provider-token" { facts.providerTokens = 2 }
    let judgement = try Facts.judge(id, facts)
    #expect(judgement.verdict == .ok && judgement.sentence == "")
    let dead = facts.tokens.count { $0.kind != .good }
    #expect(judgement.numbers.once == 100 - dead && judgement.numbers.refused == dead)
    #expect(judgement.numbers.sent == 100 && judgement.numbers.lost == 0 && judgement.numbers.doubled == 0)
  }

  // MARK: A server that runs

  @Test("a server has settled a drill in which all is right", arguments: DrillCatalogue.all.map(\.id))
  func settled(id: String) throws {
    let drill = try DrillCatalogue.chosen([id])[0]
    var facts = Facts.good(100, drill.tokens)
    for place in facts.tokens.indices where facts.tokens[place].kind != .good {
      facts.tokens[place].isReported = true
    }
    #expect(DrillJudge(drill, facts, Facts.baseline()).isSettled)
    facts.lose(0..<1)
    let judge = DrillJudge(drill, facts, Facts.baseline())
    #expect(!judge.isSettled && !judge.hasAll)
  }

  @Test("a dead token is waited for until it is reported where it has to be, else until it was tried")
  func awaited() throws {
    func judge(_ id: String, _ change: (inout RunFacts) -> Void = { _ in }) throws -> DrillJudge {
      let drill = try DrillCatalogue.chosen([id])[0]
      return DrillJudge(drill, Facts.run(100, drill.tokens, change), Facts.baseline())
    }
    let unreported = try judge("unregistered")
    #expect(unreported.hasAll && !unreported.isSettled)
    #expect(try judge("binary-one-bad-token").isSettled)
    #expect(try !judge("binary-one-bad-token") { $0.tokens[50].tries = 0 }.isSettled)
    // Whoever reads the feedback service does not try those that are gone.
    #expect(try judge("binary-feedback") { $0.tokens[4].tries = 0 }.isSettled)
  }

  @Test("sentences are about the server, and it does not run but is not done")
  func server() throws {
    let lost = Facts.run {
      ($0.subject, $0.ending, $0.nanoseconds) = (.server, .stillRan, 2_500_000_000)
      $0.lose(50..<79)
    }
    let judgement = try Facts.judge("goaway-graceful", lost)
    #expect(judgement.verdict == .hangs)
    #expect(judgement.sentence.hasSuffix("not done after 2.5 s, with 29 pushes not delivered"))
    let nothing = Facts.run { facts in
      facts.subject = .server
      for place in facts.tokens.indices { facts.tokens[place] = TokenFacts() }
    }
    #expect(try Facts.judge("goaway-graceful", nothing).sentence == "the server sent nothing")
    #expect(
      DrillRunner.reasonToSkip(
        try DrillCatalogue.chosen(["binary-shutdown"])[0], Facts.baseline(), .server)
        == "the server does not speak the binary protocol")
  }

  // MARK: Lost

  @Test("pushes that are lost at GOAWAY are a failure, counted and told")
  func lostAtGoAway() throws {
    let judgement = try Facts.judge("goaway-graceful", Facts.run { $0.lose(50..<79) })
    #expect(judgement.verdict == .fail)
    #expect(judgement.numbers.once == 71 && judgement.numbers.never == 29 && judgement.numbers.lost == 29)
    #expect(judgement.sentence.hasPrefix("29 pushes under way at GOAWAY were never sent again: "))
  }

  @Test("one push is told of in the singular")
  func singular() throws {
    let judgement = try Facts.judge("refused-stream", Facts.run { $0.lose(50..<51) })
    #expect(judgement.sentence.hasPrefix("1 push on a stream that was refused was never sent again: "))
  }

  @Test("to report is no way out where the push has to be sent again")
  func reportedInVain() throws {
    let facts = Facts.run {
      $0.lose(50..<51)
      ($0.madeReport, $0.tokens[50].isReported) = (true, true)
    }
    #expect(try Facts.judge("connection-reset", facts).verdict == .fail)
  }

  @Test("what is lost behind a bad token carries the finding that names it")
  func lostAfterError() throws {
    let facts = Facts.run(100, .middleBad) {
      $0.interfaces = [.binary]
      $0.lose(51..<100)
      $0.findings = [
        FindingFacts(rule: .command0, severity: .note, count: 1, sentence: "another one"),
        FindingFacts(rule: .lostAfterError, severity: .error, count: 49, sentence: "49 frames were lost"),
      ]
    }
    let judgement = try Facts.judge("binary-one-bad-token", facts)
    #expect(judgement.verdict == .fail)
    #expect(
      judgement.sentence.hasPrefix(
        "lost-after-error: 49 pushes behind the rejected one were never sent again"))
    #expect(judgement.numbers.refused == 1 && judgement.numbers.never == 49 && judgement.numbers.once == 50)
  }

  @Test("the status of a CMD that failed is told with what is lost")
  func status() throws {
    let facts = Facts.run {
      $0.lose(50..<60)
      $0.ending = .ended(3)
    }
    #expect(try Facts.judge("goaway-zero", facts).sentence.hasSuffix("; it ended with status 3"))
  }

  @Test("a CMD that sends nothing at all in a drill fails it")
  func nothingSent() throws {
    let facts = Facts.run { facts in
      facts.lose(0..<100)
      for place in facts.tokens.indices { facts.tokens[place].tries = 0 }
      facts.ending = .ended(1)
    }
    let judgement = try Facts.judge("connection-refused", facts)
    #expect(
      judgement.verdict == .fail && judgement.sentence == "CMD sent nothing; it ended with status 1")
  }

  @Test("a fault that was not injected is said, where nothing else is to say")
  func noFault() throws {
    let judgement = try Facts.judge("goaway-graceful", Facts.run { $0.faultHits = 0 })
    #expect(judgement.verdict == .ok && judgement.sentence.contains("was not injected"))
  }

  // MARK: Twice

  @Test("a push that is delivered twice is a failure, unless its provider can't know")
  func twice() throws {
    let facts = Facts.run { $0.tokens[10].deliveries = 2 }
    let doubled = try Facts.judge("goaway-graceful", facts)
    #expect(doubled.verdict == .fail && doubled.numbers.doubled == 1 && doubled.numbers.twice == 1)
    #expect(doubled.sentence.hasPrefix("1 push was delivered twice"))
    for id in ["connection-reset", "reset-after-delivery", "no-answer", "binary-closed-silently"] {
      let judgement = try Facts.judge(id, facts)
      #expect(
        judgement.verdict == .ok && judgement.numbers.twice == 1 && judgement.numbers.doubled == 0, "\(id)")
    }
  }

  @Test("the rest sent again from the start is told as doubled")
  func fromTheStart() throws {
    let facts = Facts.run(100, .middleBad) { facts in
      for place in 0..<50 { facts.tokens[place].deliveries = 2 }
    }
    let judgement = try Facts.judge("binary-one-bad-token", facts)
    #expect(judgement.verdict == .fail && judgement.numbers.doubled == 50)
  }

  // MARK: Reports

  /// Three pushes were rejected and not sent again.
  private static func busy(_ change: (inout RunFacts) -> Void = { _ in }) -> RunFacts {
    Facts.run {
      $0.lose(0..<3, rejected: true)
      change(&$0)
    }
  }

  @Test(
    "what was rejected may be reported, in the file",
    arguments: ["service-unavailable", "internal-server-error"])
  func reported(id: String) throws {
    let facts = Self.busy { facts in
      facts.madeReport = true
      for place in 0..<3 { facts.tokens[place].isReported = true }
    }
    let judgement = try Facts.judge(id, facts)
    #expect(judgement.verdict == .ok)
    #expect(judgement.numbers.refused == 3 && judgement.numbers.reported == 3 && judgement.numbers.lost == 0)
  }

  @Test("a token in the output counts where CMD fails and did not print it in the baseline")
  func printed() throws {
    let facts = Self.busy { facts in
      facts.ending = .ended(1)
      for place in 0..<3 { facts.tokens[place].isPrinted = true }
    }
    #expect(try Facts.judge("service-unavailable", facts).verdict == .ok)
    // One that prints all tokens, always, tells nothing by that.
    let chatty = Facts.baseline { facts in
      for place in facts.tokens.indices { facts.tokens[place].isPrinted = true }
    }
    #expect(try Facts.judge("service-unavailable", facts, chatty).verdict == .untold)
    let fine = Self.busy { facts in for place in 0..<3 { facts.tokens[place].isPrinted = true } }
    #expect(try Facts.judge("service-unavailable", fine).verdict == .untold)
  }

  @Test(
    "without a report nobody can know; with one, in this run or in the baseline, what it leaves out is lost")
  func untold() throws {
    let untold = try Facts.judge("service-unavailable", Self.busy())
    #expect(untold.verdict == .untold && !untold.verdict.isFailure && untold.numbers.lost == 3)
    #expect(
      untold.sentence.hasPrefix(
        "3 pushes rejected with ServiceUnavailable were neither delivered nor reported"))
    #expect(try Facts.judge("service-unavailable", Self.busy { $0.madeReport = true }).verdict == .fail)
    let reports = Facts.baseline { $0.madeReport = true }
    #expect(try Facts.judge("service-unavailable", Self.busy(), reports).verdict == .fail)
  }

  @Test("to report the others is no way out when one token has too many requests")
  func others() throws {
    let facts = Facts.run { facts in
      facts.madeReport = true
      facts.lose(50..<51, rejected: true)
      facts.lose(51..<100)
      for place in 50..<100 { facts.tokens[place].isReported = true }
    }
    let judgement = try Facts.judge("too-many-requests", facts)
    #expect(judgement.verdict == .fail && judgement.numbers.lost == 49)
  }

  @Test("of a connection that ended silently, all that is not delivered may be reported")
  func closedSilently() throws {
    let lost = Facts.run { $0.lose(60..<70) }
    #expect(try Facts.judge("binary-closed-silently", lost).verdict == .untold)
    let reported = Facts.run { facts in
      facts.lose(60..<70)
      for place in 60..<70 { facts.tokens[place].isReported = true }
      facts.madeReport = true
    }
    #expect(try Facts.judge("binary-closed-silently", reported).verdict == .ok)
  }

  // MARK: Dead tokens

  @Test("dead tokens have to be reported, and not tried again")
  func dead() throws {
    let silent = Facts.good(100, .someGone)
    #expect(try Facts.judge("unregistered", silent).verdict == .untold)
    let forgotten = Facts.run(100, .someGone) { $0.madeReport = true }
    let judgement = try Facts.judge("unregistered", forgotten)
    #expect(
      judgement.verdict == .fail
        && judgement.sentence.hasPrefix("10 tokens that were rejected were not reported"))
    let stubborn = Facts.run(100, .someGone) { facts in
      facts.madeReport = true
      for place in facts.tokens.indices where facts.tokens[place].kind == .gone {
        (facts.tokens[place].isReported, facts.tokens[place].tries) = (true, 2)
      }
    }
    let again = try Facts.judge("unregistered", stubborn)
    #expect(again.verdict == .fail && again.sentence.hasPrefix("10 pushes to dead tokens were tried again"))
  }

  // MARK: Time

  @Test("a CMD that still runs hangs, with what it has not sent")
  func hangs() throws {
    let facts = Facts.run {
      $0.lose(50..<100)
      ($0.ending, $0.nanoseconds) = (.stillRan, 65_040_000_000)
    }
    let judgement = try Facts.judge("no-answer", facts)
    #expect(judgement.verdict == .hangs && judgement.verdict.isFailure)
    #expect(
      judgement.sentence
        == "does not get over a connection that is silent: still running after 65.0 s, with 50 pushes not delivered"
    )
  }

  @Test("one that waits to try again is right where Apple says that it should, and only there")
  func waiting() throws {
    let facts = Facts.run {
      $0.lose(0..<3, rejected: true)
      $0.ending = .stillRan
    }
    for id in ["service-unavailable", "internal-server-error"] {
      let judgement = try Facts.judge(id, facts)
      #expect(judgement.verdict == .waiting && !judgement.verdict.isFailure, "\(id)")
    }
    #expect(try Facts.judge("shutdown", facts).verdict == .hangs)
    #expect(try Facts.judge("too-many-requests", facts).verdict == .hangs)
    // Nothing is left to try again, so it hangs.
    let done = Facts.run { $0.ending = .stillRan }
    #expect(try Facts.judge("service-unavailable", done).verdict == .hangs)
    let silent = Facts.run {
      $0.lose(0..<3, rejected: false)
      $0.ending = .stillRan
    }
    #expect(try Facts.judge("service-unavailable", silent).verdict == .hangs)
    let hasty = Facts.run {
      $0.lose(0..<3, rejected: true)
      ($0.ending, $0.tokens[0].quickRetries) = (.stillRan, 1)
    }
    #expect(try Facts.judge("service-unavailable", hasty).verdict == .hangs)
  }

  @Test("one that waits and has lost others of which it can't report has failed nevertheless")
  func waitingAndLosing() throws {
    let facts = Facts.run {
      $0.lose(0..<3, rejected: true)
      ($0.ending, $0.tokens[20].deliveries) = (.stillRan, 2)
    }
    #expect(try Facts.judge("service-unavailable", facts).verdict == .fail)
  }

  @Test("a push that is tried again within a second more than once is a storm")
  func storm() throws {
    let once = Facts.run { $0.tokens[0].quickRetries = 1 }
    #expect(try Facts.judge("service-unavailable", once).verdict == .ok)
    let often = Facts.run { $0.tokens[0].quickRetries = 3 }
    let judgement = try Facts.judge("service-unavailable", often)
    #expect(judgement.verdict == .fail)
    #expect(
      judgement.sentence.hasPrefix("1 push was tried again within a second of a rejection up to 3 times"))
    // Shutdown is to be sent again at once.
    #expect(try Facts.judge("shutdown", often).verdict == .ok)
  }

  @Test("more than ten connections in a second beside those of the baseline are a storm")
  func reconnects() throws {
    let some = Facts.run { $0.mostConnectionsInASecond = 11 }
    #expect(try Facts.judge("connection-refused", some).verdict == .ok)
    let many = Facts.run { $0.mostConnectionsInASecond = 12 }
    let judgement = try Facts.judge("connection-refused", many)
    #expect(judgement.verdict == .fail && judgement.sentence.hasPrefix("12 connections in a second"))
    let pool = Facts.baseline { $0.connections = 8 }
    #expect(try Facts.judge("connection-refused", many, pool).verdict == .ok)
  }

  // MARK: Provider tokens and feedback

  @Test("no new provider token after TooManyProviderTokenUpdates, but one after ExpiredProviderToken")
  func providerTokens() throws {
    let one = Facts.good()
    let two = Facts.run { $0.providerTokens = 2 }
    #expect(try Facts.judge("too-many-provider-token-updates", one).verdict == .ok)
    let judgement = try Facts.judge("too-many-provider-token-updates", two)
    #expect(
      judgement.verdict == .fail
        && judgement.sentence.hasPrefix("2 provider tokens were used, 1 in the baseline"))
    #expect(try Facts.judge("expired-provider-token", two).verdict == .ok)
    #expect(try Facts.judge("expired-provider-token", one).verdict == .fail)
    // As many as before are no more than before.
    let each = Facts.baseline { $0.providerTokens = 100 }
    #expect(
      try Facts.judge("too-many-provider-token-updates", Facts.run { $0.providerTokens = 100 }, each).verdict
        == .ok)
    // One for each connection, as in the baseline, is a habit and no answer to the fault; how many connections there are is chance.
    let six = Facts.baseline { ($0.providerTokens, $0.connections) = (6, 6) }
    let seven = Facts.run { ($0.providerTokens, $0.connections) = (7, 7) }
    #expect(try Facts.judge("too-many-provider-token-updates", seven, six).verdict == .ok)
    let ten = Facts.run { ($0.providerTokens, $0.connections) = (10, 7) }
    #expect(try Facts.judge("too-many-provider-token-updates", ten, six).verdict == .fail)
    let another = Facts.run { ($0.providerTokens, $0.connections) = (2, 2) }
    #expect(try Facts.judge("too-many-provider-token-updates", another).verdict == .fail)
  }

  @Test("the feedback service has to be read where it has something")
  func feedback() throws {
    let unread = Facts.run(100, .someGone) { $0.feedback = (10, 0) }
    let judgement = try Facts.judge("binary-feedback", unread)
    #expect(judgement.verdict == .fail)
    #expect(
      judgement.sentence.hasPrefix(
        "the feedback service had 10 tokens and was not read, and 10 of them were pushed to"))
    #expect(
      try Facts.judge("binary-feedback", Facts.run(100, .someGone) { $0.feedback = (10, 10) }).verdict == .ok)
  }

  // MARK: Limits

  @Test("a run has five baselines and what the fault waits for, but no more than 90 s")
  func limit() throws {
    let drill = try DrillCatalogue.chosen(["goaway-graceful"])[0]
    #expect(Facts.baseline().limit(drill) == (5 * 400 + drill.waitMilliseconds) * 1_000_000)
    let slow = Facts.baseline { $0.nanoseconds = 60_000_000_000 }
    #expect(slow.limit(drill) == 90_000_000_000)
    let endless = Facts.baseline { $0.nanoseconds = .max }
    #expect(endless.limit(drill) == 90_000_000_000)
  }

  @Test("a timeout takes the place of both, also in the run without a fault")
  func timeout() throws {
    let drill = try DrillCatalogue.chosen(["goaway-graceful"])[0]
    var options = DrillOptions(command: ["true"])
    #expect(options.limit(of: nil, nil) == 90_000_000_000)
    #expect(options.limit(of: drill, Facts.baseline()) == Facts.baseline().limit(drill))
    options.timeout = 2500
    #expect(options.limit(of: nil, nil) == 2_500_000_000)
    #expect(options.limit(of: drill, Facts.baseline()) == 2_500_000_000)
  }

  @Test("what the baseline was comes through to other processes")
  func baselineDocument() throws {
    let baseline = Facts.baseline {
      ($0.interfaces, $0.madeReport, $0.tokens[7].isPrinted) = ([.binary, .http2], true, true)
    }
    #expect(BaselineFacts(baseline.json) == baseline && baseline.printed == [7])
    #expect(BaselineFacts(.null) == nil && BaselineFacts(["nanoseconds": 1]) == nil)
  }
}
