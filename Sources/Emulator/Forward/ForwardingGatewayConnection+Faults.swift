import Broker
import Faults
import LegacyWire
import PushModel
import Transport

/// What goes wrong on purpose with a push before it is forwarded: as on the gateway itself, and the other service does not
/// hear of it. What was begun before it goes on.
extension ForwardingGatewayConnection {
  /// Whether a fault has dealt with the frame: false if it must wait, nil if it is to be forwarded as ever.
  func strike(_ notification: LegacyNotification, _ provider: GatewayProvider) -> Bool? {
    if let fault {
      guard fault.isOver else { return false }
      self.fault = nil
      return carryOut(fault.decision, notification, provider)
    }
    guard service.faults.mayStrike(notification.token),
      let decision = service.faults.decide(point(notification, provider))
    else { return nil }
    guard decision.effects.stalls || decision.delayMilliseconds > 0 else {
      return carryOut(decision, notification, provider)
    }
    hold(decision)
    return false
  }

  /// The provider has gone: what is delayed goes on without it, what stands still never will.
  func giveUpStalled() {
    guard let fault, fault.timer == nil, !fault.isOver else { return }
    dropWaiting()
  }

  private func point(_ notification: LegacyNotification, _ provider: GatewayProvider) -> FaultPoint {
    var point = FaultPoint(.push, at: .gateway)
    point.topic = provider.topic < 0 ? nil : service.broker.registry.topics[Int(provider.topic)].label
    if let token = notification.token { point.token = token }
    (point.priority, point.connection) = (notification.priority, connection?.remoteAddress.description)
    return point
  }

  // MARK: Waiting

  /// Those behind it wait too, as they do on the gateway.
  private func hold(_ decision: FaultEngine.Decision) {
    var rest = decision
    rest.effects.stalls = false
    fault = ForwardFault(decision: rest)
    guard decision.effects.stalls else {
      fault?.timer = service.faults.timer(decision.delayMilliseconds) { [unowned self] in proceed() }
      return
    }
    connection?.setStalled(true)
    service.faults.hold(self, by: decision) { [unowned self] in
      connection?.setStalled(false)
      proceed()
    }
  }

  private func proceed() {
    fault?.isOver = true
    fault?.timer = nil
    advance()
  }

  // MARK: Effects

  private func carryOut(
    _ decision: FaultEngine.Decision, _ notification: LegacyNotification, _ provider: GatewayProvider
  ) -> Bool? {
    if let dribble = decision.effects.dribble {
      connection?.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyMilliseconds * 1_000_000)
    }
    switch decision.outcome(inFrames: true) {
    case .refused(let rejection):
      record(decision, notification, provider, rejection)
      refuse(decision, notification, rejection)
    case .unanswered:
      record(decision, notification, provider, nil)
      breakOff(decision)
    case .takenUp:
      // A magic token is nobody's elsewhere either.
      guard decision.isMagic else { return nil }
      accept(notification, provider)
    }
    return true
  }

  private func record(
    _ decision: FaultEngine.Decision, _ notification: LegacyNotification, _ provider: GatewayProvider,
    _ rejection: Rejection?
  ) {
    var submission = provider.submission(notification)
    submission.detail = NotificationDetail(
      explanation: decision.explanation, fault: decision.struck(isAnswered: rejection != nil))
    _ = service.broker.recordRejection(
      submission, rejection ?? .internalServerError, now: service.clock.now())
  }

  /// The packet waits for the answers to those before it. A server that goes names the last that it took
  /// (`Documentation/binary-protocol.md#statuses`, 10).
  private func refuse(
    _ decision: FaultEngine.Decision, _ notification: LegacyNotification, _ rejection: Rejection
  ) {
    let status = decision.effects.legacy?.status ?? rejection.legacyStatus
    let own = status == Rejection.shutdown.legacyStatus ? nil : notification.identifier
    let ending = window.refuse(
      command: notification.command.rawValue, status: status,
      identifier: decision.effects.legacy?.identifier ?? own)
    if let ending { end(ending) }
  }

  private func accept(_ notification: LegacyNotification, _ provider: GatewayProvider) {
    service.broker.recordAccepted(provider.submission(notification), now: service.clock.now())
    let sequence = window.begin(
      command: notification.command.rawValue, identifier: notification.identifier, token: [])
    if let ending = window.settle(sequence, nil) { end(ending) }
  }

  /// The connection goes wrong, and nothing more can be said on it.
  private func breakOff(_ decision: FaultEngine.Decision) {
    isEnding = true
    dropWaiting()
    guard let connection else { return }
    self.connection = nil
    if decision.effects.resetsConnection || decision.effects.resetStream != nil {
      connection.abort("reset by a fault", reset: true)
    } else if !decision.garbage.isEmpty {
      connection.close(sendingRaw: decision.garbage)
    } else {
      connection.halfClose()
    }
  }
}
