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
    guard let row = lookUp(submission.token) else {
      return reject(submission, detail, .badDeviceToken, registration: nil, now: now)
    }
    let registration = registry[row]
    if let rejection = mismatch(submission, registration, now) {
      var result = reject(submission, detail, rejection, registration: row, now: now)
      if rejection == .unregistered { result.goneAt = registration.goneAt }
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

  @inline(__always)
  func lookUp(_ token: UnsafeRawBufferPointer) -> RegistrationID? {
    guard token.count == DeviceToken.byteCount, let base = token.baseAddress else { return nil }
    return registry.find(DeviceToken(loadingFrom: base))
  }

  @inline(__always)
  private func mismatch(_ submission: PlainSubmission, _ registration: Registration, _ now: Timestamp)
    -> Rejection?
  {
    guard registration.environment == submission.environment else { return .badDeviceToken }
    if registration.goneAt != .never, submission.interface != .gateway,
      now >= goneTakesEffect(registration)
    {
      return .unregistered
    }
    guard registration.topic != submission.topic else { return nil }
    return submission.interface == .gateway ? .badDeviceToken : .deviceTokenNotForTopic
  }

  /// When 410 begins for a token whose app was reported gone (`Documentation/provider-api.md#storage-and-delivery`,
  /// `gone_grace`).
  public func goneTakesEffect(_ registration: Registration) -> Timestamp {
    registration.goneAt.adding(nanoseconds: options.goneGraceSeconds * 1_000_000_000)
  }

  /// Remembers a notification that is accepted and goes nowhere, or to nobody by its token: a broadcast.
  public func recordAccepted(_ submission: Submission, now: Timestamp) -> UInt64 {
    history.countAccepted(submission.interface)
    return history.received(submission.plain, submission.detail, registration: nil, now: now)
  }

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
