import PushModel

/// What happens to a connection besides frames.
extension CourierServerSession {
  /// The session has something to write and may be over.
  public enum VerdictAction: Equatable {
    /// Nobody waits for this verdict: the connection is closed, or no connect is pending.
    case nothing
    /// Write these bytes.
    case send([UInt8])
    /// Write these bytes, then end the connection.
    case sendAndClose([UInt8], CourierCloseReason)
  }

  /// Bytes have been read, before they are cut into frames. Nil: go on. Otherwise close.
  public mutating func bytesReceived(_ count: Int, at now: Instant) -> CourierCloseReason? {
    switch state {
    case .awaitingConnect(var stranger):
      state = stranger.takes(count) ? .awaitingConnect(stranger) : .closed
      return isClosed ? .tooManyBytesBeforeConnect : nil
    case .verifying(var stranger):
      state = stranger.takes(count) ? .verifying(stranger) : .closed
      return isClosed ? .tooManyBytesBeforeConnect : nil
    case .established(var established):
      established.lastHeard = now
      state = .established(established)
      return nil
    case .closed: return nil
    }
  }

  /// The clock has moved. Nil: go on. Otherwise close.
  public mutating func timePassed(at now: Instant) -> CourierCloseReason? {
    guard let deadline = nextDeadline, now >= deadline else { return nil }
    let reason: CourierCloseReason = isEstablished ? .idle : .authenticationTimeout
    state = .closed
    return reason
  }

  /// The verified device is `baseToken`. With `tokenWasKnown` it offered that very token and is not told again
  /// (`Documentation/device-protocol.md#connected`). `date` is the world's, which the device is told.
  public mutating func identityAccepted(
    _ request: ConnectRequest, baseToken: DeviceToken, tokenWasKnown: Bool, at now: Instant, date: Timestamp
  ) -> VerdictAction {
    switch state {
    case .verifying:
      state = .established(Established(first: baseToken, lastHeard: now))
    case .established(var established) where established.isVerifying:
      established.isVerifying = false
      if established.identity(baseToken) == nil { established.others.append(baseToken) }
      let isTooMany = established.identityCount > CourierLimits.identitiesPerConnection
      state = isTooMany ? .closed : .established(established)
      if isTooMany { return refusal(because: .tooManyIdentities, date) }
    case .awaitingConnect, .established, .closed: return .nothing
    }
    isSimulatedDevice = isSimulatedDevice || request.simulatedDevice != nil
    keepQuiet(from: now)
    return .send(
      ConnectedResponse(status: 0, baseToken: tokenWasKnown ? nil : baseToken, at: date).encoded)
  }

  /// Certificate, signature or token do not hold. The connection ends with it, as was seen at Apple
  /// (`Documentation/device-protocol.md#connected`).
  public mutating func identityRefused(date: Timestamp) -> VerdictAction {
    switch state {
    case .verifying: break
    case .established(let established) where established.isVerifying: break
    case .awaitingConnect, .established, .closed: return .nothing
    }
    state = .closed
    return refusal(because: .identityRefused, date)
  }

  private func refusal(because reason: CourierCloseReason, _ date: Timestamp) -> VerdictAction {
    let response = ConnectedResponse(status: ConnectedResponse.statusRefused, baseToken: nil, at: date)
    return .sendAndClose(response.encoded, reason)
  }

  /// The answer to `provideToken`, to be written; nil for `token` refuses with the status `refusal`. Empty when the
  /// connection is over.
  public mutating func tokenProvided(
    _ token: DeviceToken?, for request: AppTokenRequest, refusal: UInt8 = AppTokenResponse.statusRefused,
    at now: Instant
  ) -> [UInt8] {
    guard isEstablished else { return [] }
    keepQuiet(from: now)
    return AppTokenResponse(answering: request, with: token, refusal: refusal).encoded
  }

  /// The private command for a simulated device; nil for any other client, which must not see it. Unsolicited, so
  /// `mayPush` applies.
  public func appStateChanged(_ change: AppStateChange) -> [UInt8]? {
    isEstablished && isSimulatedDevice ? change.encoded : nil
  }

  /// An answer has been handed to the system. The owner may have held it back (a store's commit comes first), and the
  /// pause behind it counts from when it leaves.
  public mutating func answerLeft(at now: Instant) { keepQuiet(from: now) }

  /// The connection has ended, or the owner ends it.
  public mutating func connectionClosed() {
    state = .closed
  }

  mutating func close(_ reason: CourierCloseReason) -> FrameAction {
    state = .closed
    return .close(reason)
  }

  /// An answer goes out now: what nobody asked for has to wait a moment
  /// (`Documentation/device-protocol.md#quiet-after-an-answer`).
  mutating func keepQuiet(from now: Instant) {
    holdUntil = now.adding(nanoseconds: CourierLimits.quietNanoseconds)
  }
}
