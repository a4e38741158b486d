import PushModel

extension CourierClientSession {
  /// What a frame means to the owner.
  public enum FrameAction: Equatable {
    case nothing
    /// The server knows us; a token in it replaces the remembered one.
    case connected(ConnectedResponse)
    /// A token, or none. Write `next`, which may be empty.
    case tokenAnswered(AppTokenResponse, for: AppTokenRequest, next: [UInt8])
    /// A notification. Write the acknowledgement in any case; a repeated one has been seen on this connection.
    case notification(CourierMessage, acknowledgement: [UInt8], isRepeated: Bool)
    /// Nothing is stored for us.
    case nothingStored
    case appStateChanged(AppStateChange)
    case channelsConfirmed(ChannelConfirmation)
    /// End the connection.
    case close(CloseReason)
  }

  /// A whole frame has arrived.
  public mutating func frameReceived(_ frame: CourierFrame, at now: Instant) -> FrameAction {
    do throws(CourierProtocolError) {
      switch state {
      case .connecting: return try connectAnswered(frame, at: now)
      case .connected(var connected):
        connected.answerBy = nil
        state = .connected(connected)
        return try read(frame)
      case .opened, .closed: return .nothing
      }
    } catch {
      return decodingFailed(error)
    }
  }

  /// The bytes could not be cut into frames.
  public mutating func decodingFailed(_ error: CourierProtocolError) -> FrameAction {
    state = .closed
    return .close(.protocolError(error))
  }

  private mutating func connectAnswered(
    _ frame: CourierFrame, at now: Instant
  ) throws(CourierProtocolError) -> FrameAction {
    guard frame.command == .connected else { return .nothing }
    let response = try ConnectedResponse(frame)
    guard response.status == ConnectedResponse.statusAccepted else {
      state = .closed
      return .close(.refused(status: response.status))
    }
    state = .connected(connected(at: now))
    return .connected(response)
  }

  private mutating func read(_ frame: CourierFrame) throws(CourierProtocolError) -> FrameAction {
    switch frame.command {
    case .message: return notification(try CourierMessage(frame))
    case .appTokenResponse: return tokenAnswered(try AppTokenResponse(frame))
    case .noStorage: return .nothingStored
    case .appState: return .appStateChanged(try AppStateChange(frame))
    case .channels: return .channelsConfirmed(try ChannelConfirmation(frame))
    default: return .nothing
    }
  }

  private mutating func notification(_ message: CourierMessage) -> FrameAction {
    let acknowledgement = Acknowledgement(messageId: message.messageId, token: message.token)
    let isRepeated = !recent.insert(message.messageId)
    return .notification(message, acknowledgement: acknowledgement.encoded, isRepeated: isRepeated)
  }

  /// An answer nobody asked for, or for another topic than asked, is none.
  private mutating func tokenAnswered(_ response: AppTokenResponse) -> FrameAction {
    guard let request = tokenRequests.first, response.topic ?? request.topic == request.topic else {
      return .nothing
    }
    tokenRequests.removeFirst()
    let next = tokenRequests.first?.encoded ?? []
    return .tokenAnswered(response, for: request, next: next)
  }
}
