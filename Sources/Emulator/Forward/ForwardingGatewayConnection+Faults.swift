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
      return carryOut(fault.plan, fault.decision, notification, provider)
    }
    let topic = provider.topic.map { service.broker.registry[$0].label }
    let decision = service.faults.decide(notification, topic: topic, connection: connection?.remoteAddress)
    guard let decision else { return nil }
    let plan = FaultPlan(decision, on: .frames)
    guard let hold = plan.hold else { return carryOut(plan, decision, notification, provider) }
    fault = ForwardFault(decision: decision, plan: plan)
    self.hold(hold, decision)
    return false
  }

  /// The provider has gone: what is delayed goes on without it, what stands still never will.
  func giveUpStalled() {
    guard let fault, fault.timer == nil, !fault.isOver else { return }
    dropWaiting()
  }

  // MARK: Waiting

  /// Those behind it wait too, as they do on the gateway.
  private func hold(_ hold: FaultPlan.Hold, _ decision: FaultEngine.Decision) {
    switch hold {
    case .delay(let milliseconds):
      fault?.timer = service.faults.timer(milliseconds) { [unowned self] in proceed() }
    case .stall:
      connection?.setStalled(true)
      service.faults.hold(self, by: decision) { [unowned self] in
        connection?.setStalled(false)
        proceed()
      }
    }
  }

  private func proceed() {
    fault?.isOver = true
    fault?.timer = nil
    advance()
  }

  // MARK: Effects

  /// Nil if it is to be forwarded after all.
  private func carryOut(
    _ plan: FaultPlan, _ decision: FaultEngine.Decision, _ notification: LegacyNotification,
    _ provider: GatewayProvider
  ) -> Bool? {
    for step in plan.steps {
      switch step {
      case .dribble(let dribble):
        connection?.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyNanoseconds)
      // A magic token is nobody's elsewhere either.
      case .take:
        guard decision.isMagic else { return nil }
        accept(notification, provider)
      case .refuse(let refusal):
        record(decision, notification, provider, refusal.rejection)
        refuse(refusal, notification, halfCloses: plan.steps.last == .halfClose)
        // The connection ends once those before it are answered.
        return true
      case .swallow: record(decision, notification, provider, nil)
      case .reset, .resetStream: breakOff { $0.abort("reset by a fault", reset: true) }
      case .garbage(let bytes): breakOff { $0.close(sendingRaw: bytes) }
      case .halfClose: breakOff { $0.halfClose() }
      case .close, .goAway: breakOff { $0.close() }
      }
    }
    return true
  }

  private func record(
    _ decision: FaultEngine.Decision, _ notification: LegacyNotification, _ provider: GatewayProvider,
    _ rejection: Rejection?
  ) {
    var submission = provider.submission(notification)
    submission.detail = NotificationDetail(decision, isAnswered: rejection != nil)
    _ = service.broker.recordRejection(
      submission, rejection ?? .internalServerError, now: service.clock.now())
  }

  /// The packet waits for the answers to those before it. A server that goes names the last that it took
  /// (`Documentation/binary-protocol.md#statuses`, 10).
  private func refuse(_ refusal: FaultRefusal, _ notification: LegacyNotification, halfCloses: Bool) {
    let own = refusal.status == Rejection.shutdown.legacyStatus ? nil : notification.identifier
    let ending = window.refuse(
      command: notification.command.rawValue, status: refusal.status, identifier: refusal.identifier ?? own,
      halfCloses: halfCloses)
    if let ending { end(ending) }
  }

  private func accept(_ notification: LegacyNotification, _ provider: GatewayProvider) {
    _ = service.broker.recordAccepted(provider.submission(notification), now: service.clock.now())
    let sequence = window.begin(
      command: notification.command.rawValue, identifier: notification.identifier, token: [])
    if let ending = window.settle(sequence, nil) { end(ending) }
  }

  /// The connection goes wrong, and nothing more can be said on it.
  private func breakOff(_ end: (TLSConnection) -> Void) {
    isEnding = true
    dropWaiting()
    guard let connection else { return }
    self.connection = nil
    end(connection)
  }
}
