import PushModel

/// Whether two outcomes say the same of a push, though they may be of different protocols.
public enum OutcomeComparison {
  /// Which protocol an outcome is of.
  public enum Form: Sendable { case legacy, http }

  public static func areEqual(
    _ old: CapturedOutcome, _ oldForm: Form, _ new: CapturedOutcome, _ newForm: Form
  ) -> Bool {
    guard old.isAccepted == new.isAccepted else { return false }
    if old.isAccepted { return true }
    switch (oldForm, newForm) {
    case (.http, .http): return old.status == new.status && old.reason == new.reason
    // After command 0 nothing is said but the end of the connection.
    case (.legacy, .legacy): return old.isClosed == new.isClosed && (old.isClosed || old.status == new.status)
    case (.legacy, .http): return isNamed(old, new.reason)
    case (.http, .legacy): return isNamed(new, old.reason)
    }
  }

  /// Whether a status of the binary protocol is what the table has for a reason. A connection that was closed without a
  /// status is any rejection.
  private static func isNamed(_ legacy: CapturedOutcome, _ reason: String?) -> Bool {
    if legacy.isClosed, legacy.status == 0 { return true }
    return Rejection.allCases.contains { $0.reason == reason && Int($0.legacyStatus) == legacy.status }
  }

  /// A few words for reports: `accepted`, `status 8`, `closed`, `200`, `400 BadDeviceToken`.
  public static func words(_ outcome: CapturedOutcome, _ form: Form) -> String {
    switch form {
    case .legacy:
      outcome.isAccepted ? "accepted" : outcome.isClosed ? "closed" : "status \(outcome.status)"
    case .http: "\(outcome.status)" + (outcome.reason.map { " \($0)" } ?? "")
    }
  }
}
