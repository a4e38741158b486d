import Basics

/// HTTP/2: the service asks for another connection, refuses streams, or changes how many there may be.
extension DrillCatalogue {
  private static let evidence = DrillEvidence("provider-api", "goaway")
  private static let settings = DrillEvidence("provider-api", "settings")
  private static let again =
    "what is above the last stream that GOAWAY names was not processed, and has to be sent again on a new connection"

  static let goAway = [
    goAway(
      "goaway-graceful",
      "GOAWAY amid the batch, which names the last stream that was processed; then the connection ends",
      ["reason": "Shutdown"]),
    goAway(
      "goaway-kept-open", "the same, and the connection stays open: new streams on it are refused",
      ["reason": "Shutdown", "keepsOpen": true]),
    goAway(
      "goaway-zero", "GOAWAY amid the batch, which names stream 0: nothing that is open was processed",
      ["reason": "Shutdown", "lastStream": "zero"]),
    goAway(
      "goaway-highest",
      "GOAWAY amid the batch, which names the highest stream that is open: all that are open are answered",
      ["reason": "Shutdown", "lastStream": "highest"]),
    Drill(
      id: "refused-stream", interface: .http2,
      summary: "one stream is refused: RST_STREAM with REFUSED_STREAM (7)",
      faults: [DrillFault(.middle, ["rstStream": 7])],
      words: DrillWords(
        lost: "on a stream that was refused",
        remedy: "REFUSED_STREAM says that it was not processed: send it again"),
      evidence: evidence),
    Drill(
      id: "stream-limit-one", interface: .http2,
      summary: "SETTINGS allow one stream at a time from the start",
      // The first good push would raise the limit.
      faults: [DrillFault(.always, ["initialStreamLimit": 1]), DrillFault(.always, ["streamLimit": 1])],
      words: DrillWords(
        lost: "beyond the limit", remedy: "wait with the next request until SETTINGS allow it",
        hangs: "does not get on with one stream at a time"),
      advice: .streamLimitIgnored, evidence: settings),
    Drill(
      id: "stream-limit-shrinks", interface: .http2,
      summary: "amid the batch SETTINGS shrink to one stream at a time",
      faults: [DrillFault(.middle, ["streamLimit": 1])],
      words: DrillWords(
        lost: "beyond the new limit", remedy: "follow SETTINGS that change, and send again what was refused",
        hangs: "does not get on with one stream at a time"),
      advice: .streamLimitIgnored, evidence: settings),
  ]

  private static func goAway(_ id: String, _ summary: String, _ effect: JSONValue) -> Drill {
    Drill(
      id: id, interface: .http2, summary: summary, faults: [DrillFault(.middle, ["goaway": effect])],
      words: DrillWords(
        lost: "under way at GOAWAY", remedy: again, hangs: "does not go on with a new connection"),
      advice: id == "goaway-kept-open" ? .streamsAfterGoAway : .lostAtGoAway, evidence: evidence)
  }
}
