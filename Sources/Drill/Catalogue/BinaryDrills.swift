import Basics

/// The binary protocol: a rejection ends the connection, and what was sent behind it is lost unless it is sent again.
extension DrillCatalogue {
  private static let evidence = DrillEvidence("binary-protocol", "what-follows-an-error")
  private static let transport = DrillEvidence("binary-protocol", "transport")
  private static let behind = "behind the rejected one"
  private static let again =
    "all behind the notification that the error packet names has to be sent again on a new connection"

  static let binary = [
    oneBad("binary-one-bad-token", "one bad token in the middle of the batch", []),
    oneBad(
      "binary-late-error", "the same, and the error packet comes half a second late",
      [DrillFault(.always, forMiddleToken: true, ["delayMs": 500])]),
    oneBad(
      "binary-error-in-pieces", "the same, and the error packet comes one byte at a time",
      [DrillFault(.always, ["dribble": ["bytes": 1, "everyMs": 50]])]),
    Drill(
      id: "binary-shutdown", interface: .binary,
      summary: "amid the batch an error packet with status 10, which names the last one that was taken",
      faults: [DrillFault(.middle, ["goaway": ["reason": "Shutdown"]])],
      words: DrillWords(lost: "behind the last one that was taken", remedy: again),
      advice: .lostAfterError, evidence: DrillEvidence("binary-protocol", "statuses")),
    Drill(
      id: "binary-closed-silently", interface: .binary,
      summary: "amid the batch the connection ends without an error packet",
      faults: [DrillFault(.middle, ["halfClose": true, "taken": true])],
      right: DrillRight { ($0.mayDouble, $0.reports) = (true, .ofAll) },
      words: DrillWords(
        lost: "behind the end of the connection",
        remedy: "what was written last may be lost: send it again, or report it"),
      evidence: evidence),
    refused(
      "binary-connection-refused", "the first two connections are refused", ["refuse": true], .binary,
      transport),
    refused(
      "binary-tls-alert", "the first two TLS handshakes end with an alert", ["tlsAlert": 80], .binary,
      transport),
    Drill(
      id: "binary-feedback", interface: .binary,
      summary: "every tenth token is gone, and the feedback service says so",
      tokens: .someGone,
      right: DrillRight { $0.readsFeedback = true },
      words: DrillWords(lost: behind, remedy: again),
      advice: .feedbackNotRead, evidence: DrillEvidence("binary-protocol", "feedback")),
  ]

  private static func oneBad(_ id: String, _ summary: String, _ faults: [DrillFault]) -> Drill {
    Drill(
      id: id, interface: .binary, summary: summary, faults: faults, tokens: .middleBad,
      quietMilliseconds: 700,
      words: DrillWords(
        lost: behind, remedy: again, hangs: "waits on a connection that has ended"),
      advice: .lostAfterError, evidence: evidence)
  }
}
