import Advice
import Broker
import Phone
import PushModel

/// Looks at some payloads as `explain` does: reading each would cost more than all else that is done about a push, and who makes a mistake
/// in one makes it in the next.
struct PayloadSample {
  /// Payloads in a second, and of those that are new at a time, as counts.
  private static let perSecond = 8
  private static let atOnce = 2

  /// What others have an eye on: the verdict, and rules of their own.
  private static let elsewhere: Set<LintRule> = [
    .missingType, .backgroundPriority, .backgroundWithoutPriority, .tooLarge, .empty,
  ]

  private var left = perSecond

  /// Another second has passed.
  mutating func timePassed() { left = Self.perSecond }

  /// Hands over what is wrong with the payloads of the newest of these notifications that were accepted.
  mutating func look(
    at ids: Range<UInt64>, in journal: Journal,
    _ body: (_ problem: PayloadProblem, _ push: UInt64, _ connection: UInt32) -> Void
  ) {
    for id in ids.suffix(min(left, Self.atOnce)) {
      guard let record = journal[id], record.connection != 0, record.rejection == nil else { continue }
      left -= 1
      let lint = PayloadLint(
        payload: Array(record.payload), type: record.saidPushType, priority: record.priority)
      for rule in Set(lint.findings.map(\.rule)).subtracting(Self.elsewhere).sorted(by: { $0.name < $1.name })
      {
        body(PayloadProblem(rule), id, record.connection)
      }
    }
  }
}

extension PayloadProblem {
  /// In general: what came may be a secret.
  fileprivate init(_ rule: LintRule) {
    self.init(
      kind: rule.name, severity: Severity(rule.severity),
      sentence: "\(rule.meaning).",
      remedy: "Paste it into `apns-emulator explain`, which says where, and what a phone does with it.")
  }
}

extension Severity {
  fileprivate init(_ severity: LintRule.Severity) {
    self =
      switch severity {
      case .error: .error
      case .warning: .warning
      case .advice: .note
      }
  }
}

extension JournalRecord {
  /// nil if its provider said none, or can't say one and its topic leaves several.
  var saidPushType: PushType? {
    if marks.contains(.saysPushType) { return pushType }
    return interface == .gateway && pushType != .alert ? pushType : nil
  }
}
