import Credentials
import PushModel

extension ProviderTrust {
  /// What makes a legacy handshake fail, and the log line for it; nil lets the client in.
  ///
  /// A certificate without a topic or an environment passes: its provider gets status 3 for each frame, or a silent
  /// close (`Documentation/binary-protocol.md#error-packet`, `#client-certificate`).
  func handshakeError(
    _ leaf: [UInt8], _ intermediates: [[UInt8]], at now: Timestamp, _ logger: Logger
  ) -> Int32? {
    let verdict = verifyChain(leafDER: leaf, intermediatesDER: intermediates, at: now)
    guard let problem = verdict.problem else { return nil }
    let passes = verdict.isAccepted || problem.code == .namesNoTopic || problem.code == .namesNoEnvironment
    logger.log(
      .warning, passes ? "certificate let through" : "certificate refused",
      [
        ("certificate", .string(verdict.certificate?.commonName ?? "?")),
        ("because", .string(problem.sentence)),
      ])
    return passes ? nil : problem.verificationError
  }
}
