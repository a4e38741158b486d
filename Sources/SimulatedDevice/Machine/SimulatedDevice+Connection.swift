import CourierWire
import PushModel

/// Coming into contact and staying there.
extension SimulatedDevice {
  /// The next step towards a connection.
  mutating func proceed(_ now: Instant, _ actions: inout [DeviceAction]) {
    if needsActivation {
      phase = .activating
      actions.append(.activate(state.udid))
    } else {
      phase = .connecting(giveUpAt: now.adding(nanoseconds: Self.openingNanoseconds))
      actions.append(.connect)
    }
  }

  mutating func activated(_ now: Instant, _ actions: inout [DeviceAction]) {
    guard phase == .activating else { return }
    needsActivation = false
    actions.append(.emit(.activated(state.udid)))
    proceed(now, &actions)
  }

  mutating func activationFailed(_ reason: String, _ now: Instant, _ actions: inout [DeviceAction]) {
    guard phase == .activating else { return }
    retryLater("activation failed: \(reason)", now, &actions)
  }

  /// The nonce is as `Documentation/device-protocol.md#authentication` has it.
  mutating func transportOpened(_ date: Timestamp, _ actions: inout [DeviceAction]) {
    guard case .connecting = phase else { return }
    var nonce: [UInt8] = [0]
    withUnsafeBytes(of: UInt64(clamping: date.milliseconds).bigEndian) { nonce.append(contentsOf: $0) }
    withUnsafeBytes(of: random.next()) { nonce.append(contentsOf: $0) }
    phase = .signing(nonce: nonce)
    actions.append(.sign(nonce: nonce))
  }

  mutating func signed(
    _ certificate: [UInt8], _ signature: [UInt8], _ now: Instant, _ actions: inout [DeviceAction]
  ) {
    guard case .signing(let nonce) = phase else { return }
    var request = ConnectRequest()
    request.baseToken = state.baseToken
    (request.state, request.flags) = (1, 0x41)
    (request.carrier, request.protocolVersion) = ("WiFi", 11)
    (request.systemVersion, request.systemBuild, request.hardwareModel) = ("18.0", "22A3354", "iPhone17,1")
    (request.certificate, request.nonce, request.signature) = (certificate, nonce, signature)
    request.simulatedDevice = 1
    request.topicNames = state.apps.prefix(Self.topicNamesInConnect).map(\.topic)
    session = CourierClientSession(keepAliveNanoseconds: keepAliveNanoseconds)
    decoder = CourierDecoder()
    phase = .online
    actions.append(.send(session.connect(request, at: now)))
  }

  mutating func transportClosed(_ reason: String, _ now: Instant, _ actions: inout [DeviceAction]) {
    switch phase {
    case .connecting, .signing, .online: retryLater(reason, now, &actions)
    case .idle, .activating, .waiting, .stopped: break
    }
  }

  mutating func timePassed(_ now: Instant, _ actions: inout [DeviceAction]) {
    switch phase {
    case .connecting(let giveUpAt) where now >= giveUpAt:
      actions.append(.disconnect)
      retryLater("the courier did not take the connection", now, &actions)
    case .waiting(let until) where now >= until: proceed(now, &actions)
    case .online: sessionTimePassed(now, &actions)
    case .idle, .activating, .connecting, .signing, .waiting, .stopped: break
    }
  }

  private mutating func sessionTimePassed(_ now: Instant, _ actions: inout [DeviceAction]) {
    switch session.timePassed(at: now) {
    case .nothing: break
    case .send(let bytes): actions.append(.send(bytes))
    case .close(let reason): hangUp(reason, now, &actions)
    }
  }

  /// Ends the connection from this side.
  mutating func hangUp(
    _ reason: CourierClientSession.CloseReason, _ now: Instant, _ actions: inout [DeviceAction]
  ) {
    actions.append(.disconnect)
    guard case .refused = reason else { return retryLater(reason.description, now, &actions) }
    guard state.baseToken != nil else {
      needsActivation = true
      return retryLater(reason.description, now, &actions)
    }
    state.baseToken = nil
    actions.append(.persist(state))
    actions.append(.emit(.disconnected(reason: reason.description)))
    endSession()
    proceed(now, &actions)
  }

  /// Tells why there is no connection, and waits.
  mutating func retryLater(_ reason: String, _ now: Instant, _ actions: inout [DeviceAction]) {
    if let connectedSince, now >= connectedSince.adding(nanoseconds: Self.stableNanoseconds) {
      failures = 0
    }
    failures += 1
    endSession()
    actions.append(.emit(.disconnected(reason: reason)))
    phase = .waiting(until: now.adding(nanoseconds: backoff.wait(after: failures)))
  }

  mutating func endSession() {
    connectedSince = nil
    session.connectionClosed()
    decoder = CourierDecoder()
  }

  mutating func stop(_ actions: inout [DeviceAction]) {
    if session.isConnected { actions.append(.emit(.disconnected(reason: "stopped"))) }
    switch phase {
    case .connecting, .signing, .online: actions.append(.disconnect)
    case .idle, .activating, .waiting, .stopped: break
    }
    endSession()
    phase = .stopped
  }
}
