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
