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
      return reject(submission, detail, .badDeviceToken, registration: -1, now: now)
    }
    let registration = registry.registrations[Int(row)]
    if let rejection = mismatch(submission, registration, now) {
      var result = reject(submission, detail, rejection, registration: row, now: now)
      if rejection == .unregistered { result.goneAt = registration.goneAt }
      return result
    }
    let id = record(submission, detail, registration: row, rejection: nil, now: now)
    counters.accepted += 1
    meter.countAccepted(submission.interface)
    return SubmissionResult(
      id: id, rejection: nil, isCongested: route(submission, id: id, row: row, registration, now: now))
  }

  /// Remembers a notification that was refused before its token was looked up.
  public func recordRejection(_ submission: Submission, _ rejection: Rejection, now: Timestamp) -> UInt64 {
    reject(
      submission.plain, submission.detail, rejection, registration: lookUp(submission.token) ?? -1, now: now
    ).id
  }

  @inline(__always)
  func lookUp(_ token: UnsafeRawBufferPointer) -> Int32? {
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
    counters.accepted += 1
    meter.countAccepted(submission.interface)
    return record(submission.plain, submission.detail, registration: -1, rejection: nil, now: now)
  }

  private func reject(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, _ rejection: Rejection,
    registration: Int32, now: Timestamp
  ) -> SubmissionResult {
    counters.rejected += 1
    meter.count(rejection, isAnswered: detail?.fault?.isAnswered != false, submission.interface)
    return SubmissionResult(
      id: record(submission, detail, registration: registration, rejection: rejection, now: now),
      rejection: rejection
    )
  }

  @inline(__always)
  func record(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, registration: Int32,
    rejection: Rejection?, now: Timestamp
  ) -> UInt64 {
    counters.received += 1
    let (id, record, memory) = journal.append()
    var box = memory
    let parts = Self.store(submission, in: &box)
    record.initialize(
      to: JournalRecord(
        id: id, receivedAt: now, arrivedAt: meter.instant, storedAt: .never, sentAt: .never,
        endedAt: rejection == nil ? .never : now, box: box, messageID: submission.messageID,
        interface: submission.interface, command: submission.command, environment: submission.environment,
        pushType: submission.pushType, priority: submission.priority, rejection: rejection,
        state: rejection == nil ? .discarded : .rejected, expiration: submission.expiration,
        identifier: submission.identifier, registration: registration, topic: submission.topic,
        connection: submission.connection, credential: submission.credential, tokenStart: parts.token,
        tokenCount: UInt32(truncatingIfNeeded: submission.token.count), payloadStart: parts.payload,
        payloadCount: UInt32(truncatingIfNeeded: submission.payload.count),
        fieldsCount: UInt32(truncatingIfNeeded: submission.fields.count)))
    if let detail { journal.attach(detail, to: id) }
    note(.notification, id, rejection == nil ? .discarded : .rejected, now)
    if id >= journal.drainsFrom { journal.drain() }
    return id
  }

  /// Copies the frame (or token and payload) into the record's memory; answers where the two lie in it.
  @inline(__always)
  private static func store(_ submission: PlainSubmission, in box: inout ByteBox) -> (
    token: UInt32, payload: UInt32
  ) {
    guard let frame = submission.frame.baseAddress else {
      box.assign(submission.token, submission.payload, submission.fields)
      return (0, UInt32(truncatingIfNeeded: submission.token.count))
    }
    box.assign(submission.frame)
    return (offset(submission.token, in: frame), offset(submission.payload, in: frame))
  }

  @inline(__always)
  private static func offset(_ part: UnsafeRawBufferPointer, in frame: UnsafeRawPointer) -> UInt32 {
    guard let base = part.baseAddress else { return 0 }
    return UInt32(truncatingIfNeeded: base - frame)
  }
}
