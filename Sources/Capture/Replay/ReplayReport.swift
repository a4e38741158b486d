import PushModel

/// What a replay has found, in constant memory.
public struct ReplayReport {
  /// Most pairs of outcomes counted apart; there are some fifty reasons.
  private static let pairLimit = 4096

  /// Pushes that were sent and have an outcome.
  public private(set) var pushes = 0
  public private(set) var same = 0
  public private(set) var different = 0
  /// Of those, pushes whose token is unknown now and was not then.
  public private(set) var unknownTokens = 0
  /// Pushes whose outcome nobody told.
  public private(set) var unanswered = 0
  /// Pushes that the other protocol has no words for.
  public private(set) var untranslatable = 0
  /// Pushes that the capture says it lost.
  public var lost = 0
  private var counted: [String: Int] = [:]
  private var silences = 0
  /// How often each pair of old and new outcome came.
  public var pairs: [String: Int] {
    let silence = OutcomeComparison.words(.silence, .legacy)
    let all = silences > 0 ? ["\(silence) → \(silence)": silences] : [:]
    return all.merging(counted, uniquingKeysWith: +)
  }

  public init() {}

  /// Whether everything came out as it was recorded.
  public var isClean: Bool { different == 0 && unanswered == 0 }
  /// Everything that was dealt with.
  public var total: Int { pushes + unanswered + untranslatable }

  /// Silence then and now: what nearly all pushes of the gateway are.
  public mutating func addSilences(_ count: Int) {
    pushes += count
    same += count
    silences += count
  }

  public mutating func add(old: String, new: String, areEqual: Bool) {
    pushes += 1
    if areEqual { same += 1 } else { different += 1 }
    if !areEqual, ["400 BadDeviceToken", "status 8"].contains(new) { unknownTokens += 1 }
    count("\(old) → \(new)")
  }

  public mutating func addUnanswered(old: String, why: String) {
    unanswered += 1
    count("\(old) → \(why)")
  }

  public mutating func addUntranslatable() { untranslatable += 1 }

  private mutating func count(_ pair: String) {
    let known = counted.count < Self.pairLimit || counted[pair] != nil
    counted[known ? pair : "others", default: 0] += 1
  }
}

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
