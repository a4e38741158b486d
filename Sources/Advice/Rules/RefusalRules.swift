import Basics
import PushModel

/// A push that was refused, as far as the rules need it.
struct RefusedPush {
  let rejection: Rejection
  let identifier: UInt32
  /// Digests.
  let token: UInt64
  let payload: UInt64
  let occurrence: Occurrence

  var now: Instant { occurrence.moment.instant }

  init(
    _ push: borrowing SeenPush, _ rejection: Rejection, _ compared: inout ComparedPush, from origin: Origin,
    at moment: Moment
  ) {
    (self.rejection, identifier) = (rejection, push.identifier)
    (token, payload) = (compared.token, compared.payload)
    var occurrence = Occurrence(.wrongEnvironment, from: origin, at: moment)
    (occurrence.push, occurrence.fault) = (push.id, push.fault)
    self.occurrence = occurrence
  }
}

/// What a provider does after a push was refused. The refusal itself is not held against it, whether a fault made it or not.
struct RefusalRules {
  /// Refused pushes that are remembered, as a count. About 100 bytes each.
  static let limit = 4096
  /// Failed pushes that may be tried again, as a count.
  static let failureLimit = 1024
  /// Rejected frames of a connection that wait for their error packet, as a count.
  static let untoldLimit = 64
  /// Statuses of error packets that say nothing against the frame: processing error, shutdown, unknown
  /// (`Documentation/binary-protocol.md#statuses`).
  static let vague: Set<UInt8> = [1, 10, 255]
  /// Pushes to a token that were sent within this time of its first refusal may have been under way, in nanoseconds. Ours.
  static let underWay = Numerals.second / 10
  /// As `underWay`, where a fault was injected into the first: it may have held the answer back.
  static let underWayAtFault = 10 * Numerals.second
  /// The same push may be refused so often; the number is ours.
  static let sameRefusals: UInt64 = 3
  /// Refusals of the same push are counted together while each comes within this time of the one before, in nanoseconds. Ours.
  static let sameTime = 60 * Numerals.second
  /// Who tries again within this time left no pause, in nanoseconds: Apple says 15 minutes (`Documentation/provider-api.md#reasons`).
  static let pause = Numerals.second

  private struct RefusedToken: Hashable {
    var provider: ProviderID
    var rule: AdviceRule
    var token: UInt64
    /// Where the payload and the reason matter, too.
    var payload: UInt64 = 0
    var reason: Rejection?
  }

  private struct Refused {
    var first: Instant
    var last: Instant
    var payload: UInt64
    /// Whether a fault was injected into the first.
    var isByFault: Bool
    /// How often with the same payload, one after the other: what came side by side with another counts once.
    var times: UInt64 = 1

    init(_ refusal: RefusedPush) {
      (first, last, payload) = (refusal.now, refusal.now, refusal.payload)
      isByFault = refusal.occurrence.fault != nil
    }

    /// Counts one more with the same payload; false if it came side by side with the one before.
    mutating func count(at now: Instant) -> Bool {
      guard now.nanoseconds(since: last) > 0 else { return false }
      (last, times) = (now, times &+ 1)
      return true
    }
  }

  private struct Failed: Hashable {
    var provider: ProviderID
    var token: UInt64
  }

  private struct Failure {
    var at: Instant
    var payload: UInt64
    var fault: String?
    /// One retry is told of for each failure: what is the same besides was another push.
    var isRetried = false
  }

  private var refused = BoundedTable<RefusedToken, Refused>(limit: limit)
  private var failures = BoundedTable<Failed, Failure>(limit: failureLimit)
  private var newestFailure: Instant?

  /// Whether every push has to be seen.
  var isLooking: Bool { newestFailure != nil }

  mutating func saw(
    _ push: borrowing SeenPush, compared: inout ComparedPush, on connection: KnownConnection,
    at moment: Moment, in findings: inout FindingTable
  ) {
    if isLooking {
      lookForRetry(push.id, &compared, from: connection.origin, at: moment, in: &findings)
    }
    guard let rejection = push.rejection else { return }
    let refusal = RefusedPush(push, rejection, &compared, from: connection.origin, at: moment)
    if push.interface != .gateway {
      judge(refusal, in: &findings)
    } else if connection.untold.count < Self.untoldLimit {
      connection.untold.append(refusal)
    }
  }

  /// An error packet tells of a frame, and of no other on that connection. Answers the device token that it says to be bad or gone.
  mutating func told(
    of identifier: UInt32, on connection: KnownConnection, in findings: inout FindingTable
  ) -> UInt64? {
    let refusal = connection.untold.first { $0.identifier == identifier }
    connection.untold = []
    guard let refusal, !Self.vague.contains(refusal.rejection.legacyStatus) else { return nil }
    judge(refusal, in: &findings)
    return hasRefused(refusal.token, of: connection.provider) ? refusal.token : nil
  }

  private mutating func judge(_ refusal: RefusedPush, in findings: inout FindingTable) {
    switch refusal.rejection {
    case .unregistered, .expiredToken: remember(.pushesToGoneToken, refusal, in: &findings)
    case .badDeviceToken, .deviceTokenNotForTopic, .invalidTokenSize:
      remember(.pushesToBadToken, refusal, in: &findings)
    case .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken:
      if refusal.occurrence.fault == nil { findings.add(refusal.occurrence) }
    case .shutdown, .idleTimeout, .expiredProviderToken: break
    default: rememberPush(refusal, in: &findings)
    }
  }

  /// Whether the provider was told that the push's device token is bad or gone.
  func hasRefused(_ push: inout ComparedPush, of provider: ProviderID) -> Bool {
    !refused.isEmpty && hasRefused(push.token, of: provider)
  }

  private func hasRefused(_ token: UInt64, of provider: ProviderID) -> Bool {
    [AdviceRule.pushesToGoneToken, .pushesToBadToken].contains {
      refused[RefusedToken(provider: provider, rule: $0, token: token)] != nil
    }
  }

  mutating func timePassed(_ moment: Moment) {
    guard let newest = newestFailure, moment.instant.nanoseconds(since: newest) >= Self.pause else { return }
    failures.removeAll()
    newestFailure = nil
  }

  mutating func clear() { self = RefusalRules() }

  /// A token that no push may go to any more.
  private mutating func remember(_ rule: AdviceRule, _ refusal: RefusedPush, in findings: inout FindingTable)
  {
    let key = RefusedToken(provider: refusal.occurrence.provider, rule: rule, token: refusal.token)
    let now = refusal.now
    guard var former = refused[key] else {
      refused.set(key, Refused(refusal))
      return
    }
    if former.payload == refusal.payload, former.count(at: now) { refused.set(key, former) }
    let underWay = former.isByFault ? Self.underWayAtFault : Self.underWay
    guard now.nanoseconds(since: former.first) >= underWay || former.times >= Self.sameRefusals
    else { return }
    var occurrence = refusal.occurrence
    occurrence.rule = rule
    findings.add(occurrence)
  }

  /// A push that is wrong, or that the service could not take.
  private mutating func rememberPush(_ refusal: RefusedPush, in findings: inout FindingTable) {
    switch refusal.rejection.status {
    case 500, 503:
      failures.set(
        Failed(provider: refusal.occurrence.provider, token: refusal.token),
        Failure(at: refusal.now, payload: refusal.payload, fault: refusal.occurrence.fault))
      newestFailure = refusal.now
    case 400, 403, 404, 405, 413: countSame(refusal, in: &findings)
    default: break
    }
  }

  /// A push that stays wrong however often it comes.
  private mutating func countSame(_ refusal: RefusedPush, in findings: inout FindingTable) {
    let key = RefusedToken(
      provider: refusal.occurrence.provider, rule: .retryOfRefused, token: refusal.token,
      payload: refusal.payload, reason: refusal.rejection)
    let now = refusal.now
    guard var former = refused[key], now.nanoseconds(since: former.last) < Self.sameTime else {
      refused.set(key, Refused(refusal))
      return
    }
    guard former.count(at: now) else { return }
    refused.set(key, former)
    guard former.times >= Self.sameRefusals else { return }
    var occurrence = refusal.occurrence
    occurrence.rule = .retryOfRefused
    occurrence.count = former.times == Self.sameRefusals ? former.times : 1
    findings.add(occurrence)
  }

  private mutating func lookForRetry(
    _ id: UInt64, _ push: inout ComparedPush, from origin: Origin, at moment: Moment,
    in findings: inout FindingTable
  ) {
    let key = Failed(provider: origin.provider, token: push.token)
    guard var failure = failures[key], !failure.isRetried else { return }
    let pause = moment.instant.nanoseconds(since: failure.at)
    guard pause > 0, pause < Self.pause, push.payload == failure.payload else { return }
    failure.isRetried = true
    failures.set(key, failure)
    var occurrence = Occurrence(.retryWithoutPause, from: origin, at: moment)
    (occurrence.push, occurrence.fault, occurrence.measure) = (id, failure.fault, pause)
    findings.add(occurrence)
  }
}

extension RefusalRules {
  static let pushesToGoneToken = RuleTerms(
    severity: .warning, rises: (3, .error),
    remedy:
      "Delete a device token at its first 410 or entry of the feedback service, until the app registers it again."
  ) {
    "\(Numerals.count($0.count, "push", "pushes")) went to device tokens that this provider had been told are gone."
  }

  static let pushesToBadToken = RuleTerms(
    severity: .warning, rises: (3, .error),
    remedy: "Delete a device token that is refused as bad: it is malformed, or of another environment or app."
  ) {
    "\(Numerals.count($0.count, "push", "pushes")) went to device tokens that this provider had been told are bad."
  }

  static let retryOfRefused = RuleTerms(
    severity: .error,
    remedy:
      "Try no push again that was refused with 400, 403, 404, 405 or 413 before what the reason names is mended."
  ) {
    "\(Numerals.count($0.count, "push", "pushes")) came again unchanged and got the same refusal, three times or more."
  }

  static let retryWithoutPause = RuleTerms(
    least: 3, severity: .warning, rises: (20, .error),
    remedy: "After 500 or 503 wait before trying again, 15 minutes by Apple's word, and longer each time; "
      + "only Shutdown is for a new connection at once."
  ) {
    let number = Numerals.count($0.count, "push", "pushes")
    return "\(number) that the service could not take came again within a second, the quickest after "
      + "\(Numerals.duration($0.measure ?? 0))."
  }

  static let wrongEnvironment = RuleTerms(
    severity: .error,
    remedy:
      "Send sandbox tokens to the sandbox and production tokens to production, with a certificate or key for it."
  ) {
    // A certificate is refused with its connection, a key with each push.
    $0.examples.isEmpty
      ? "\(Numerals.count($0.count, "connection", "connections")) came with a certificate that is not for this environment."
      : "\(Numerals.count($0.count, "push", "pushes")) came with a certificate or key of the other environment."
  }
}
