import Broker
import Faults
import LegacyWire
import PushModel
import Transport

/// What goes wrong on one gateway connection. Made when the first fault strikes it.
///
///     open ─ delay, stall ─→ held up: frames wait in order ─ time over, rule off ─→ they are taken up ─→ open
///       └─ anything else ─→ the connection ends
///
/// A push that a fault strikes is not taken: nothing of it is stored or delivered. One that is delayed is taken when the
/// delay is over, and nothing that came after it overtakes it.
final class GatewayFaults {
  private let service: FaultService
  /// Owns this object.
  private unowned let owner: GatewayConnection
  private unowned let connection: SocketConnection
  /// Whole frames that wait, the struck one first. Bounded by what a connection reads at once, as reading stops.
  private var frames: [UInt8] = []
  /// What was wrong behind them.
  private var failure: LegacyParseFailure?
  private var decision: FaultEngine.Decision? {
    didSet { owner.framesWait = decision != nil }
  }
  private var timer: LoopEvent?

  init(_ service: FaultService, _ owner: GatewayConnection, _ connection: SocketConnection) {
    (self.service, self.owner, self.connection) = (service, owner, connection)
  }

  /// Whether frames wait.
  var isHolding: Bool { decision != nil }

  /// What becomes of a frame; nil if it is to be taken as ever.
  func take(_ notification: LegacyNotification, _ provider: GatewayProvider) -> LegacyDecoder.Next? {
    guard !isHolding else {
      frames += notification.frame
      return .goOn
    }
    let decision = service.decide(
      notification, topic: owner.topicName(provider), connection: connection.remoteAddress)
    guard let decision else { return nil }
    let plan = FaultPlan(decision, on: .frames)
    guard let hold = plan.hold else { return carryOut(plan, decision, notification) }
    frames += notification.frame
    self.hold(hold, plan, decision)
    return .goOn
  }

  /// A frame that can't be parsed waits like the others.
  func take(_ failure: LegacyParseFailure) { self.failure = failure }

  func connectionClosed() {
    if let decision { service.forget(self, decision) }
    (decision, timer, frames) = (nil, nil, [])
  }

  // MARK: Waiting

  private func hold(_ hold: FaultPlan.Hold, _ plan: FaultPlan, _ decision: FaultEngine.Decision) {
    self.decision = decision
    switch hold {
    case .delay(let milliseconds):
      connection.setPaused(true)
      timer = service.timer(milliseconds) { [unowned self] in goOn(plan, decision) }
    case .stall:
      connection.setStalled(true)
      service.hold(self, by: decision) { [unowned self] in
        connection.setStalled(false)
        goOn(plan, decision)
      }
    }
  }

  /// Takes up what waited: the first frame with what the fault still wants, the others as though they came now.
  private func goOn(_ plan: FaultPlan, _ decision: FaultEngine.Decision) {
    let (bytes, failure) = (frames, failure)
    (frames, self.failure, self.decision, timer) = ([], nil, nil, nil)
    var isFirst = true
    var decoder = LegacyDecoder()
    var hasEnded = false
    _ = bytes.withUnsafeBytes { bytes in
      decoder.receive(bytes) { notification in
        let next = isFirst ? carryOut(plan, decision, notification) : owner.take(notification)
        isFirst = false
        hasEnded = next == .stop
        return next
      }
    }
    guard !hasEnded else { return }
    if let failure { return isHolding ? take(failure) : owner.refuse(failure) }
    if !isHolding { owner.resume() }
  }

  // MARK: Effects

  private func carryOut(
    _ plan: FaultPlan, _ decision: FaultEngine.Decision, _ notification: LegacyNotification
  ) -> LegacyDecoder.Next {
    var next = LegacyDecoder.Next.stop
    for step in plan.steps {
      switch step {
      case .dribble(let dribble):
        connection.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyNanoseconds)
      case .take: next = owner.take(decision, notification)
      case .refuse(let refusal): refuse(refusal, decision, notification)
      case .swallow: owner.note(step, decision, notification)
      case .reset, .resetStream: connection.abort("reset by a fault", reset: true)
      case .garbage(let bytes): connection.close(sendingRaw: bytes)
      case .halfClose: connection.halfClose()
      case .close, .goAway: connection.close()
      }
    }
    return next
  }

  /// A server that goes names the last notification that it took (`Documentation/binary-protocol.md#statuses`, 10); any
  /// other error names the one that is wrong.
  private func refuse(
    _ refusal: FaultRefusal, _ decision: FaultEngine.Decision, _ notification: LegacyNotification
  ) {
    // A bad command 0 gets no packet, but as ever its close is the answer.
    owner.note(.refuse(refusal), decision, notification)
    let isShutdown = refusal.status == Rejection.shutdown.legacyStatus
    let own = isShutdown ? owner.lastAccepted ?? 0 : notification.identifier
    let packet = LegacyErrorPacket(status: refusal.status, identifier: refusal.identifier ?? own)
    owner.send(packet, command: notification.command.rawValue)
  }
}
