import PushModel

extension CourierServerSession {
  /// What the owner has to do about a frame.
  public enum FrameAction: Equatable {
    case nothing
    /// Write these bytes.
    case send([UInt8])
    /// Find out who this is, then call `identityAccepted` or `identityRefused`. Until then a further connect is an error.
    case verify(ConnectRequest)
    /// The identity wants exactly these topics from now on.
    case replaceFilter(FilterUpdate, of: DeviceToken)
    /// The identity wants the token of a topic; call `tokenProvided`.
    case provideToken(AppTokenRequest, for: DeviceToken)
    case acknowledge(Acknowledgement)
    /// The identity joins or leaves channels; answer with `ChannelConfirmation`.
    case subscribe(ChannelSubscription)
    /// End the connection.
    case close(CourierCloseReason)
  }

  /// The hot path: the receipt that `frame` is on an established connection; nil for anything else, which then
  /// goes to `frameReceived`.
  @inlinable
  public func acknowledgement(in frame: CourierFrame) throws(CourierProtocolError) -> Acknowledgement? {
    guard frame.commandByte == CourierCommand.acknowledgement.rawValue, isEstablished else { return nil }
    return try Acknowledgement.read(frame)
  }

  /// A whole frame has arrived.
  public mutating func frameReceived(_ frame: CourierFrame, at now: Instant) -> FrameAction {
    do throws(CourierProtocolError) {
      return try read(frame, at: now)
    } catch {
      return close(.protocolError(error))
    }
  }

  /// The bytes could not be cut into frames.
  public mutating func decodingFailed(_ error: CourierProtocolError) -> FrameAction {
    close(.protocolError(error))
  }

  private mutating func read(
    _ frame: CourierFrame, at now: Instant
  ) throws(CourierProtocolError) -> FrameAction {
    guard !isClosed else { return .nothing }
    switch frame.command {
    case .connect: return connectReceived(try ConnectRequest(frame), at: now)
    case .filter: return filterReceived(try FilterUpdate(frame))
    case .appTokenRequest: return tokenRequested(try AppTokenRequest(frame), at: now)
    case .message: return messageReceived(try UpstreamMessage(frame))
    case .acknowledgement: return isEstablished ? .acknowledge(try Acknowledgement.read(frame)) : .nothing
    case .keepAlive: return keepAliveReceived(at: now)
    case .channels: return channelsReceived(try ChannelSubscription(frame))
    case .setState, .setActiveInterval, .flushAnswer, .flush: return .nothing
    case .connected, .keepAliveAnswer, .noStorage, .appTokenResponse, .appState, nil: return .nothing
    }
  }

  private mutating func connectReceived(_ request: ConnectRequest, at now: Instant) -> FrameAction {
    switch state {
    case .awaitingConnect(let stranger):
      state = .verifying(stranger)
      return .verify(request)
    case .established(var established) where !established.isVerifying:
      guard established.takesConnect(at: now) else {
        state = .closed
        return .close(.tooManyConnects)
      }
      established.isVerifying = true
      state = .established(established)
      return .verify(request)
    case .verifying, .established:
      state = .closed
      return .close(.connectWhileVerifying)
    case .closed: return .nothing
    }
  }

  /// A filter for a token that is not connected here is a late one, for a token that has been replaced.
  private mutating func filterReceived(_ update: FilterUpdate) -> FrameAction {
    onBehalf(of: update.baseToken, .filter, otherwise: .nothing) { .replaceFilter(update, of: $0) }
  }

  /// A stranger's token gets a refusal rather than silence, for the device waits for the answer.
  private mutating func tokenRequested(_ request: AppTokenRequest, at now: Instant) -> FrameAction {
    let refusal = AppTokenResponse(answering: request, with: nil)
    let action = onBehalf(of: request.baseToken, .appTokenRequest, otherwise: .send(refusal.encoded)) {
      .provideToken(request, for: $0)
    }
    if case .send = action { keepQuiet(from: now) }
    return action
  }

  /// What a device sends upward is acknowledged and goes no further
  /// (`Documentation/device-protocol.md#minimal-server`).
  private mutating func messageReceived(_ message: UpstreamMessage) -> FrameAction {
    onBehalf(of: nil, .message, otherwise: .nothing) { _ in
      .send(Acknowledgement(messageId: message.messageId).encodedStatusFirst)
    }
  }

  private mutating func channelsReceived(_ subscription: ChannelSubscription) -> FrameAction {
    let refusal = ChannelConfirmation(
      index: subscription.index, baseToken: subscription.baseToken, status: ChannelConfirmation.statusRefused)
    return onBehalf(of: subscription.baseToken, .channels, otherwise: .send(refusal.encoded)) { _ in
      .subscribe(subscription)
    }
  }

  private mutating func keepAliveReceived(at now: Instant) -> FrameAction {
    keepQuiet(from: now)
    return .send(KeepAliveAnswer().encoded)
  }

  /// Lets `body` act for an identity of this connection; `otherwise` if the named one is not here. Without any identity the
  /// command ends the connection.
  private mutating func onBehalf(
    of named: DeviceToken?, _ command: CourierCommand, otherwise: @autoclosure () -> FrameAction,
    _ body: (DeviceToken) -> FrameAction
  ) -> FrameAction {
    switch state {
    case .established(let established): return established.identity(named).map(body) ?? otherwise()
    case .awaitingConnect, .verifying: return close(.commandBeforeConnect(command.rawValue))
    case .closed: return .nothing
    }
  }
}
