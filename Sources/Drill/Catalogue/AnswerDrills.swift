import Basics

/// HTTP/2: answers that are errors, late, or in pieces.
extension DrillCatalogue {
  private static let evidence = DrillEvidence("provider-api", "reasons")
  private static let response = DrillEvidence("provider-api", "response")

  static let answers = [
    Drill(
      id: "shutdown", interface: .http2, summary: "503 Shutdown for three pushes",
      faults: [DrillFault(.next(3), ["reason": "Shutdown"])],
      words: DrillWords(
        lost: "rejected with Shutdown", remedy: "send them again at once, on a new connection"),
      evidence: evidence),
    busy("service-unavailable", "ServiceUnavailable", "503 ServiceUnavailable for three pushes"),
    busy("internal-server-error", "InternalServerError", "500 InternalServerError for three pushes"),
    Drill(
      id: "too-many-requests", interface: .http2, summary: "429 TooManyRequests for one token, once",
      faults: [DrillFault(.next(1), forMiddleToken: true, ["reason": "TooManyRequests"])],
      right: DrillRight { ($0.reports, $0.pausesBeforeRetry) = (.ofRejected, true) },
      words: DrillWords(
        lost: "after TooManyRequests for one token",
        remedy: "that token waits, or is reported; the others are sent as ever"),
      evidence: evidence),
    Drill(
      id: "too-many-provider-token-updates", interface: .http2,
      summary: "429 TooManyProviderTokenUpdates for three pushes",
      faults: [DrillFault(.next(3), ["reason": "TooManyProviderTokenUpdates"])],
      right: DrillRight { ($0.reports, $0.providerTokens) = (.ofRejected, .noMore) },
      words: DrillWords(
        lost: "rejected with TooManyProviderTokenUpdates",
        remedy: "go on with the provider token that there is: a new one makes it worse"),
      advice: .tokenRenewedTooOften, evidence: DrillEvidence("provider-api", "renewal")),
    Drill(
      id: "expired-provider-token", interface: .http2, summary: "403 ExpiredProviderToken, once",
      faults: [DrillFault(.middle, ["reason": "ExpiredProviderToken"])],
      right: DrillRight { $0.providerTokens = .more },
      words: DrillWords(
        lost: "rejected with ExpiredProviderToken",
        remedy: "make a new provider token, and send them again"),
      evidence: DrillEvidence("provider-api", "renewal")),
    dead("unregistered", "410 Unregistered for every tenth token", .someGone),
    dead("bad-device-token", "400 BadDeviceToken for every tenth token", .someBad),
    Drill(
      id: "slow-answers", interface: .http2, summary: "each answer takes 300 ms; twice as many pushes",
      faults: [DrillFault(.always, ["delayMs": 300])], times: 2, waitMilliseconds: 15_000,
      quietMilliseconds: 500,
      words: DrillWords(
        lost: "whose answers were slow", remedy: "open as many streams side by side as SETTINGS allow",
        hangs: "sends one push after the other"),
      advice: .oneStreamAtATime, evidence: DrillEvidence("provider-api", "settings")),
    Drill(
      id: "answers-in-pieces", interface: .http2, summary: "answers come one byte at a time",
      faults: [DrillFault(.always, ["dribble": ["bytes": 1, "everyMs": 1]])],
      // An answer has some 70 bytes, so these take 7 s on one connection.
      mostPushes: 100,
      words: DrillWords(
        lost: "whose answers came in pieces", remedy: "read on until a frame is whole",
        hangs: "waits for whole answers"),
      evidence: response),
  ]

  private static func busy(_ id: String, _ reason: String, _ summary: String) -> Drill {
    Drill(
      id: id, interface: .http2, summary: summary,
      faults: [DrillFault(.next(3), ["reason": .string(reason)])],
      right: DrillRight { ($0.reports, $0.mayWait, $0.pausesBeforeRetry) = (.ofRejected, true, true) },
      // Long enough to see whether it tries again in haste; to wait on is right.
      waitMilliseconds: 5000,
      words: DrillWords(
        lost: "rejected with \(reason)",
        remedy: "report them to who asked for them, or try again later, with pauses that grow"),
      advice: .retryWithoutPause, evidence: evidence)
  }

  private static func dead(_ id: String, _ summary: String, _ tokens: DrillTokens) -> Drill {
    Drill(
      id: id, interface: .http2, summary: summary, tokens: tokens,
      right: DrillRight { $0.reportsDeadTokens = true },
      words: DrillWords(
        lost: "to good tokens",
        remedy: "the batch goes on behind a token that is rejected; that one is given up"),
      advice: .retryOfRefused, evidence: evidence)
  }
}
