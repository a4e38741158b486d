import Basics

/// HTTP/2: connections that don't come about, break, or say nothing.
extension DrillCatalogue {
  private static let evidence = DrillEvidence("provider-api", "connection")
  private static let reconnect = "try again, after a pause that grows with each try"

  static let connections = [
    refused(
      "connection-refused", "the first two connections are refused", ["refuse": true], .http2, evidence),
    // internal_error (RFC 8446, 6.2).
    refused(
      "tls-alert", "the first two TLS handshakes end with an alert", ["tlsAlert": 80], .http2, evidence),
    Drill(
      id: "connection-reset", interface: .http2,
      summary: "the connection is reset amid the batch; that push was not taken",
      faults: [DrillFault(.middle, ["reset": true])],
      right: DrillRight { $0.mayDouble = true },
      words: DrillWords(
        lost: "that had no answer when the connection was reset",
        remedy: "send them again on a new connection"),
      evidence: evidence),
    Drill(
      id: "reset-after-delivery", interface: .http2,
      summary: "the connection is reset amid the batch; that push was taken and delivered",
      faults: [DrillFault(.middle, ["reset": true, "taken": true])],
      right: DrillRight { $0.mayDouble = true },
      words: DrillWords(
        lost: "that had no answer when the connection was reset",
        remedy: "send them again on a new connection; apns-collapse-id keeps the user from seeing two"),
      evidence: evidence),
    Drill(
      id: "no-answer", interface: .http2, summary: "amid the batch the connection falls silent",
      faults: [DrillFault(.middle, ["stall": true])],
      right: DrillRight { $0.mayDouble = true },
      words: DrillWords(
        lost: "that had no answer",
        remedy: "give up a connection that is silent for a minute, and send them again",
        hangs: "does not get over a connection that is silent"),
      evidence: evidence),
  ]

  /// For both protocols.
  static func refused(
    _ id: String, _ summary: String, _ effect: JSONValue, _ interface: DrillInterface,
    _ evidence: DrillEvidence
  ) -> Drill {
    Drill(
      id: id, interface: interface, summary: summary, faults: [DrillFault(.next(2), effect)],
      right: DrillRight { $0.pausesBeforeReconnect = true },
      words: DrillWords(
        lost: "for which there was no connection at first", remedy: reconnect,
        hangs: "does not get over a connection that failed"),
      advice: .reconnectStorm, evidence: evidence)
  }
}
