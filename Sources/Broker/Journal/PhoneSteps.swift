import Basics

/// What a phone has made of a notification: one thing that happened, or did not, and why.
public struct PhoneStep: Sendable {
  public let at: Timestamp
  /// In a word, as `presented` or `no-callback`.
  public let event: String
  public let detail: String
  /// The rule's name, the letters that say how it is known, and what it says.
  public let (rule, evidence, reason): (String, String, String)

  public init(
    at: Timestamp, event: String, detail: String = "", rule: String = "", evidence: String = "",
    reason: String = ""
  ) {
    (self.at, self.event, self.detail) = (at, event, detail)
    (self.rule, self.evidence, self.reason) = (rule, evidence, reason)
  }
}

/// Steps by the ids of notifications, those of the newest.
public struct PhoneSteps {
  /// Most of one notification, and in all, as counts: some twenty megabytes.
  public static let limitOfOne = 40
  public static let limit = 40_000

  private var steps: [UInt64: [PhoneStep]] = [:]
  /// Ids in the order in which they were first told of.
  private var ids = FIFO<UInt64>()
  private var count = 0

  public init() {}

  public subscript(id: UInt64) -> [PhoneStep] { steps[id] ?? [] }

  public mutating func add(_ step: PhoneStep, to id: UInt64) {
    if steps[id] == nil { ids.append(id) }
    guard steps[id, default: []].count < Self.limitOfOne else { return }
    steps[id, default: []].append(step)
    count += 1
    while count > Self.limit { count -= steps.removeValue(forKey: ids.removeFirst())?.count ?? 0 }
  }
}
