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
  private unowned let connection: TLSConnection
  /// Whole frames that wait, the struck one first. Bounded by what a connection reads at once, as reading stops.
  private var frames: [UInt8] = []
  /// What was wrong behind them.
  private var failure: LegacyParseFailure?
  private var decision: FaultEngine.Decision? {
    didSet { owner.framesWait = decision != nil }
  }
  private var timer: LoopEvent?

  init(_ service: FaultService, _ owner: GatewayConnection, _ connection: TLSConnection) {
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
    guard service.mayStrike(notification.token),
      let decision = service.decide(point(notification, provider))
    else { return nil }
    if decision.effects.stalls || decision.delayMilliseconds > 0 {
      hold(notification, decision)
      return .goOn
    }
    return carryOut(decision, notification)
  }

  /// A frame that can't be parsed waits like the others.
  func take(_ failure: LegacyParseFailure) { self.failure = failure }

  func connectionClosed() {
    if let decision { service.forget(self, decision) }
    (decision, timer, frames) = (nil, nil, [])
  }

  private func point(_ notification: LegacyNotification, _ provider: GatewayProvider) -> FaultPoint {
    var point = FaultPoint(.push, at: .gateway)
    point.topic = owner.topicName(provider)
    if let token = notification.token { point.token = token }
    (point.priority, point.connection) = (notification.priority, connection.remoteAddress.description)
    return point
  }

  // MARK: Waiting

  private func hold(_ notification: LegacyNotification, _ decision: FaultEngine.Decision) {
    self.decision = decision
    frames += notification.frame
    guard decision.effects.stalls else {
      connection.setPaused(true)
      timer = service.timer(decision.delayMilliseconds) { [unowned self] in goOn(decision) }
      return
    }
    connection.setStalled(true)
    service.hold(self, by: decision) { [unowned self] in
      connection.setStalled(false)
      var rest = decision
      rest.effects.stalls = false
      goOn(rest)
    }
  }

  /// Takes up what waited: the first frame with what the fault still wants, the others as though they came now.
  private func goOn(_ first: FaultEngine.Decision) {
    let (bytes, failure) = (frames, failure)
    (frames, self.failure, decision, timer) = ([], nil, nil, nil)
    var first: FaultEngine.Decision? = first
    var decoder = LegacyDecoder()
    var hasEnded = false
    _ = bytes.withUnsafeBytes { bytes in
      decoder.receive(bytes) { notification in
        let struck = first
        first = nil
        let next = struck.map { carryOut($0, notification) } ?? owner.take(notification)
        hasEnded = next == .stop
        return next
      }
    }
    guard !hasEnded else { return }
    if let failure { return isHolding ? take(failure) : owner.refuse(failure) }
    if !isHolding { owner.resume() }
  }

  // MARK: Effects

  /// There are no streams here: to end one is to reset the connection.
  private func carryOut(_ decision: FaultEngine.Decision, _ notification: LegacyNotification)
    -> LegacyDecoder.Next
  {
    let effects = decision.effects
    if let dribble = effects.dribble {
      connection.dribble(
        bytes: dribble.bytes, everyNanoseconds: dribble.everyMilliseconds * 1_000_000)
    }
    if effects.resetsConnection || effects.resetStream != nil {
      return swallow(decision, notification) { connection.abort("reset by a fault", reset: true) }
    }
    if !decision.garbage.isEmpty {
      return swallow(decision, notification) { connection.close(sendingRaw: decision.garbage) }
    }
    if let legacy = effects.legacy {
      return refuse(decision, notification, Rejection(legacyStatus: legacy.status), legacy)
    }
    if let reason = effects.reason {
      return refuse(decision, notification, reason, .init(status: reason.legacyStatus))
    }
    if effects.goAway != nil {
      return refuse(decision, notification, .shutdown, .init(status: Rejection.shutdown.legacyStatus))
    }
    if effects.halfCloses { return swallow(decision, notification) { connection.halfClose() } }
    // A delay or a dribble alone.
    return decision.isMagic ? owner.takeAnyway(notification) : owner.process(notification)
  }

  private func swallow(
    _ decision: FaultEngine.Decision, _ notification: LegacyNotification, _ end: () -> Void
  ) -> LegacyDecoder.Next {
    owner.record(
      notification, .internalServerError, decision.explanation, fault: decision.struck(isAnswered: false))
    end()
    return .stop
  }

  /// A server that goes names the last notification that it took (`Documentation/binary-protocol.md#statuses`, 10); any
  /// other error names the one that is wrong.
  private func refuse(
    _ decision: FaultEngine.Decision, _ notification: LegacyNotification, _ rejection: Rejection,
    _ packet: FaultEffects.LegacyError
  ) -> LegacyDecoder.Next {
    // A bad command 0 gets no packet, but as ever its close is the answer.
    owner.record(notification, rejection, decision.explanation, fault: decision.struck(isAnswered: true))
    let isShutdown = packet.status == Rejection.shutdown.legacyStatus
    let own = isShutdown ? owner.lastAccepted ?? 0 : notification.identifier
    let answer = LegacyErrorPacket(status: packet.status, identifier: packet.identifier ?? own)
    owner.end(answer, command: notification.command.rawValue, waitsForPeer: decision.effects.halfCloses)
    return .stop
  }
}
