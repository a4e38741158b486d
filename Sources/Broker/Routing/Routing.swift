import Basics
import PushModel

/// Takes notifications from providers: looks the token up, says what it is worth, and has what is accepted delivered.
public final class Routing {
  private let registry: Registry
  private let history: History
  private let deliveries: Deliveries
  private let feedback: Feedback
  private let apps: Apps
  private let options: BrokerOptions

  init(
    _ registry: Registry, _ history: History, _ deliveries: Deliveries, _ feedback: Feedback, _ apps: Apps,
    _ options: BrokerOptions
  ) {
    (self.registry, self.history, self.deliveries) = (registry, history, deliveries)
    (self.feedback, self.apps, self.options) = (feedback, apps, options)
  }

  /// Takes a notification: looks the token up, then hands it to the device or stores it.
  ///
  /// The last of a provider's checks (`Documentation/binary-protocol.md#statuses`, 8,
  /// `Documentation/provider-api.md#order-of-checks` step 6). On the binary protocol a token whose app is gone is
  /// taken and dropped, as the feedback service is where that is told (`Documentation/binary-protocol.md#feedback`);
  /// over HTTP it is 410.
  @inline(__always)
  public func submit(_ submission: Submission, now: Timestamp) -> SubmissionResult {
    submit(submission.plain, detail: submission.detail, now: now)
  }

  /// The same for whoever seldom has a detail.
  public func submit(_ submission: PlainSubmission, detail: NotificationDetail?, now: Timestamp)
    -> SubmissionResult
  {
    guard
      let row = submission.registration.flatMap({ known($0, submission) }) ?? registry.find(
        presented: submission.token)
        ?? adopt(submission, now: now)
    else { return reject(submission, detail, .badDeviceToken, registration: nil, now: now) }
    let registration = registry[row]
    if !isPlainlyGood(registration, for: submission),
      let refusal = refusal(submission, row, registration, now)
    {
      var result = reject(submission, detail, refusal.rejection, registration: row, now: now)
      result.goneAt = refusal.goneAt
      return result
    }
    let id = history.received(submission, detail, registration: row, now: now)
    history.countAccepted(submission.interface)
    return SubmissionResult(
      id: id, rejection: nil, isCongested: route(submission, id: id, row: row, registration, now: now))
  }

  /// Hands an accepted notification to its device, or stores it. Answers whether the device is behind.
  @inline(__always)
  private func route(
    _ submission: PlainSubmission, id: UInt64, row: RegistrationID, _ registration: Registration,
    now: Timestamp
  ) -> Bool {
    guard registration.goneAt == .never else {
      history.ended(id, .discarded, now)
      return false
    }
    if registration.isAbandoned, registry.session(of: registration) != nil {
      feedback.reportGone(row, now: now)
      history.ended(id, .discarded, now)
      return false
    }
    return deliveries.take(submission, id: id, to: row, registration, now: now)
  }

  /// The connection that a push to this token waits for, if its device is there.
  public func link(of token: Span<UInt8>) -> DeviceLink? {
    registry.find(presented: token).flatMap { deliveries.session(of: $0)?.link }
  }

  /// Remembers a notification that was refused before its token was looked up.
  public func recordRejection(_ submission: Submission, _ rejection: Rejection, now: Timestamp) -> UInt64 {
    history.recordRejected(
      submission.plain, submission.detail, rejection,
      registration: registry.find(presented: submission.plain.token), now: now)
  }

  /// The row that the checks found, unless the token map has changed since.
  @inline(never)
  private func known(_ row: RegistrationID, _ submission: PlainSubmission) -> RegistrationID? {
    guard registry.contains(row), registry.find(presented: submission.token) == row else { return nil }
    return row
  }

  /// What nearly every push is: nothing stands against it by any rule.
  @inline(__always)
  private func isPlainlyGood(_ registration: Registration, for submission: PlainSubmission) -> Bool {
    registration.environment == submission.environment && registration.topic == submission.topic
      && registration.isActive && options.tokenLifetimeSeconds == nil
  }

  /// Why a push is refused whose token is known; over HTTP the checks have asked the same, and the token map may have changed
  /// since.
  @inline(never)
  private func refusal(
    _ submission: PlainSubmission, _ row: RegistrationID, _ registration: Registration, _ now: Timestamp
  ) -> (rejection: Rejection, goneAt: Timestamp?)? {
    if submission.interface == .gateway {
      let isGood =
        registration.environment == submission.environment && registration.topic == submission.topic
      return isGood ? nil : (.badDeviceToken, nil)
    }
    return switch standing(row, registration, submission.topic, submission.environment, now) {
    case .active: nil
    case .unknown, .otherEnvironment: (.badDeviceToken, nil)
    case .unregistered(let since): (.unregistered, since)
    case .expired(let since): (.expiredToken, since)
    case .otherTopic: (.deviceTokenNotForTopic, nil)
    }
  }

  /// Takes a notification that came by another process, and has its id there, or says why not.
  public func submitRelayed(_ submission: PlainSubmission, id: UInt64, now: Timestamp) -> SubmissionResult {
    guard let row = registry.find(presented: submission.token) ?? adopt(submission, now: now) else {
      return SubmissionResult(id: id, rejection: .badDeviceToken)
    }
    let registration = registry[row]
    if !isPlainlyGood(registration, for: submission),
      let refusal = refusal(submission, row, registration, now)
    {
      return SubmissionResult(id: id, rejection: refusal.rejection, goneAt: refusal.goneAt)
    }
    return SubmissionResult(
      id: id, isCongested: route(submission, id: id, row: row, registration, now: now))
  }

  /// Registers the unknown token of a frame, if that is wanted.
  @inline(never)
  private func adopt(_ submission: PlainSubmission, now: Timestamp) -> RegistrationID? {
    guard options.adoptsTokens, let topic = submission.topic,
      let token = CustomToken(bytes: Array(submission.token))
    else { return nil }
    return apps.adoptUnknown(token, topic: topic, environment: submission.environment, now: now)
  }

  /// What a token is worth for a topic in an environment over HTTP.
  public func standing(
    of token: DeviceToken, topic: TopicID?, environment: Environment, now: Timestamp
  ) -> DeviceTokenStanding {
    guard let row = registry.find(token) else { return .unknown }
    return standing(row, registry[row], topic, environment, now)
  }

  private func standing(
    _ row: RegistrationID, _ registration: Registration, _ topic: TopicID?, _ environment: Environment,
    _ now: Timestamp
  ) -> DeviceTokenStanding {
    guard registration.environment == environment else { return .otherEnvironment }
    if !registration.isActive, now >= goneTakesEffect(registration) {
      return .unregistered(since: registration.goneAt)
    }
    if let seconds = options.tokenLifetimeSeconds {
      let end = registration.issuedAt.adding(nanoseconds: Timestamp(seconds: seconds).nanoseconds)
      if now >= end { return .expired(since: end) }
    }
    return registration.topic == topic ? .active(row) : .otherTopic(registration.topic)
  }

  /// When 410 begins for a token whose app was reported gone (`Documentation/provider-api.md#storage-and-delivery`,
  /// `gone_grace`).
  public func goneTakesEffect(_ registration: Registration) -> Timestamp {
    registration.goneAt.adding(nanoseconds: Timestamp(seconds: options.goneGraceSeconds).nanoseconds)
  }

  private func reject(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, _ rejection: Rejection,
    registration: RegistrationID?, now: Timestamp
  ) -> SubmissionResult {
    SubmissionResult(
      id: history.recordRejected(submission, detail, rejection, registration: registration, now: now),
      rejection: rejection)
  }
}
