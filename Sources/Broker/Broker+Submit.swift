import PushModel

extension Broker {
  /// Takes a notification: looks the token up, then hands it to the device or keeps it.
  ///
  /// The last of a provider's checks (`Documentation/binary-protocol.md#statuses`, 8,
  /// `Documentation/provider-api.md#order-of-checks` step 6). On the binary interface a token whose app is gone is
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
      let row = submission.registration.flatMap({ known($0, submission) }) ?? lookUp(submission.token)
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

  /// Remembers a notification that was refused before its token was looked up.
  public func recordRejection(_ submission: Submission, _ rejection: Rejection, now: Timestamp) -> UInt64 {
    reject(
      submission.plain, submission.detail, rejection, registration: lookUp(submission.token), now: now
    ).id
  }

  /// A push for this token comes behind the next one: what belongs to a token is brought near in three steps (its place in
  /// the index; its row and slot; its device's link), so that nobody has to wait for memory. 32 bytes, lent for the call.
  @inline(__always)
  public func expect(tokenAt start: UnsafeRawPointer) {
    if let expected, slots.contains(expected), let session = slots[expected].session {
      deliveries.expect(session)
    }
    expected = registry.expect(DeviceToken(loadingFrom: start))
    if let expected { slots.expect(expected) }
  }

  @inline(__always)
  func lookUp(_ token: UnsafeRawBufferPointer) -> RegistrationID? {
    guard token.count == DeviceToken.byteCount, let base = token.baseAddress else {
      return registry.hasOtherLengths ? registry.find(otherLength: token) : nil
    }
    return registry.find(DeviceToken(loadingFrom: base))
  }

  /// The row that the checks found, unless the token map has changed since.
  @inline(never)
  private func known(_ row: RegistrationID, _ submission: PlainSubmission) -> RegistrationID? {
    guard registry.contains(row), lookUp(submission.token) == row else { return nil }
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
    case .unknown, .otherEnvironment, .elsewhere: (.badDeviceToken, nil)
    case .unregistered(let since): (.unregistered, since)
    case .expired(let since): (.expiredToken, since)
    case .otherTopic: (.deviceTokenNotForTopic, nil)
    }
  }

  /// The same of one whose checks were made elsewhere.
  func refusal(
    ofRelayed submission: PlainSubmission, _ row: RegistrationID, _ registration: Registration,
    _ now: Timestamp
  ) -> (rejection: Rejection, goneAt: Timestamp?)? {
    isPlainlyGood(registration, for: submission) ? nil : refusal(submission, row, registration, now)
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

  /// Remembers a notification that is accepted and goes nowhere, or to nobody by its token: a broadcast.
  public func recordAccepted(_ submission: Submission, now: Timestamp) -> UInt64 {
    history.countAccepted(submission.interface)
    return history.received(submission.plain, submission.detail, registration: nil, now: now)
  }

  @inline(never)
  private func reject(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, _ rejection: Rejection,
    registration: RegistrationID?, now: Timestamp
  ) -> SubmissionResult {
    history.countRejected(
      rejection, isAnswered: detail?.fault?.isAnswered != false, submission.interface)
    let id = history.received(submission, detail, registration: registration, rejection: rejection, now: now)
    return SubmissionResult(id: id, rejection: rejection)
  }
}
