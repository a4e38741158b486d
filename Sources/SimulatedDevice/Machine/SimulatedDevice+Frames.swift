import CourierWire
import PushModel

/// What the courier says.
extension SimulatedDevice {
  mutating func received(
    _ bytes: UnsafeRawBufferPointer, _ now: Instant, _ actions: inout [DeviceAction]
  ) {
    var input = bytes
    while case .online = phase, let action = nextFrame(in: &input, now) {
      carryOut(action, now, &actions)
    }
  }

  /// The meaning of the next frame; nil when all of `input` is used up.
  private mutating func nextFrame(
    in input: inout UnsafeRawBufferPointer, _ now: Instant
  ) -> CourierClientSession.FrameAction? {
    do throws(CourierProtocolError) {
      let frame = try decoder.next(&input, limit: CourierLimits.frameAfterConnect)
      return frame.map { session.frameReceived($0, at: now) }
    } catch {
      return session.decodingFailed(error)
    }
  }

  private mutating func carryOut(
    _ action: CourierClientSession.FrameAction, _ now: Instant, _ actions: inout [DeviceAction]
  ) {
    switch action {
    case .nothing, .nothingStored, .channelsConfirmed: break
    case .connected(let response): connected(response, now, &actions)
    case .tokenAnswered(let response, let request, let next):
      tokenAnswered(response, request, next, &actions)
    case .notification(let message, let acknowledgement, let isRepeated):
      actions.append(.send(acknowledgement))
      if !isRepeated { notify(message, &actions) }
    case .appStateChanged(let change): appStateChanged(change, now, &actions)
    case .close(let reason): hangUp(reason, now, &actions)
    }
  }

  /// The order is that of real clients: state, topics, then tokens
  /// (`Documentation/device-protocol.md#tokens-and-sessions`).
  private mutating func connected(
    _ response: ConnectedResponse, _ now: Instant, _ actions: inout [DeviceAction]
  ) {
    guard let baseToken = response.baseToken ?? state.baseToken else {
      let error = CourierProtocolError(.itemMissing, "connected without a base token")
      return hangUp(.protocolError(error), now, &actions)
    }
    if state.baseToken != baseToken {
      state.baseToken = baseToken
      actions.append(.persist(state))
    }
    connectedSince = now
    let requests = session.requestTokens(state.tokenRequests)
    actions.append(.emit(.connected(baseToken: baseToken)))
    actions.append(.send(SetState.active.encoded + filter + requests))
  }

  /// A notification for an app that is not there is acknowledged like any other, and nobody sees it.
  private mutating func notify(_ message: CourierMessage, _ actions: inout [DeviceAction]) {
    guard let app = state.apps.first(where: { $0.hash == message.topic }) else { return }
    actions.append(.emit(.notification(DeviceNotification(message, topic: app.topic))))
  }
}
