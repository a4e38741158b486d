import Broker
import Faults
import LegacyWire
import PushModel
import Transport

/// One provider on the binary gateway while its notifications are forwarded.
///
///     TLS up ─→ identified ─ frame ─→ waiting ─ window and queue have room ─→ under way ─ taken, in silence ─→ done
///                                                                                └─ rejected ─→ six bytes, close
///
/// The provider is not read from while frames wait, so it feels the other service's pace through TCP; at most what one
/// read brings waits here. A provider that closes has still sent what it sent: its frames go on without it.
final class ForwardingGatewayConnection: ConnectionHandler {
  /// What has been read and not begun.
  private enum Waiting {
    /// With the id under which it is kept; nil for one that will be refused.
    case frame([UInt8], kept: Int64?)
    case failure(LegacyParseFailure)

    var kept: Int64? { if case .frame(_, let kept) = self { kept } else { nil } }
  }

  private enum Stage {
    case taking
    /// The provider has ended its side: it is closed when all is answered.
    case heardAll
    /// An error packet has been sent, or the connection breaks: no more frames are taken.
    case ending
    /// The emulator is ending: no more frames are taken, and the provider hears how far it got.
    case shuttingDown
  }

  /// A fault that holds up the first frame that waits to be forwarded.
  private struct HeldUp {
    var decision: FaultEngine.Decision
    var plan: FaultPlan
    /// The delay is over, or the rule was switched off: what else the fault wants is due.
    var isOver = false
    /// Fires when the delay is over; nil for a stall.
    var timer: LoopEvent?
  }

  let number: Int
  private let service: ForwardService
  /// nil once the provider has gone.
  private var connection: SocketConnection?
  private var decoder = LegacyDecoder()
  private var provider: GatewayProvider?
  private var waiting: ArraySlice<Waiting> = []
  private var window: ForwardWindow
  /// Kept ones that the provider is told it must send again, or that are to go wrong: they are kept until it has had the chance
  /// to hear of that.
  private var forgotten: [Int64] = []
  private var stage = Stage.taking
  private var isAdvancing = false
  /// What holds the first of those that wait up on purpose.
  private var fault: HeldUp?

  init(_ service: ForwardService, number: Int, _ connection: SocketConnection) {
    (self.service, self.number, self.connection) = (service, number, connection)
    window = ForwardWindow(size: service.options.window)
  }

  private var isEnding: Bool { stage == .ending || stage == .shuttingDown }
  var forgottenCount: Int { forgotten.count }
  var capturedAs: UInt32 { provider?.connection ?? 0 }

  // MARK: The provider's side

  func connectionOpened(_ connection: SocketConnection) {
    switch service.identify(connection) {
    case .wrongEnvironment: connection.close()
    case .provider(let provider):
      self.provider = provider
      self.provider?.connection = service.capture?.gatewayOpened(provider) ?? 0
      service.connections[number] = self
    }
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    guard let provider, !isEnding else { return }
    service.broker.noteRead()
    let failure = decoder.receive(bytes) {
      let frame = Array($0.frame)
      let isRefused = (LegacyCheck.rejection($0, service.limits) ?? provider.rejection) != nil
      waiting.append(.frame(frame, kept: isRefused ? nil : service.keep(frame, of: provider)))
      return .goOn
    }
    if let failure { waiting.append(.failure(failure)) }
    advance()
    connection.hold(decoder.heldBytes)
  }

  /// It may still read, and hears of a rejection of what it sent.
  func connectionPeerEnded(_ connection: SocketConnection) {
    if !isEnding { stage = .heardAll }
    advance()
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    self.connection = nil
    giveUpStalled()
    forget(kept: [])
    advance()
  }

  /// These need not outlive the process once the connection is closed: until then its provider may not have heard of it.
  func forget(kept: [Int64]) {
    forgotten += kept
    guard connection == nil else { return }
    service.forget(kept: forgotten)
    forgotten = []
  }

  // MARK: Going on

  /// Begins what may begin, and reads on if nothing waits.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    // Beginning one may end the connection, and nothing waits then.
    while let next = waiting.first, window.mayBegin, begin(next) { waiting = waiting.dropFirst() }
    isAdvancing = false
    if waiting.isEmpty { waiting = [] }
    connection?.setPaused(!waiting.isEmpty && !isEnding)
    service.pump()
    if stage == .heardAll, waiting.isEmpty, window.isEmpty { connection?.close() }
    forgetIfDone()
  }

  /// The verdict on one that was under way: no rejection means accepted, `push` if it was by the other service.
  func settled(_ sequence: UInt64, _ rejection: Rejection?, _ push: ForwardPush?) {
    if let ending = window.settle(sequence, rejection, push) {
      end(ending)
    } else if isEnding, window.isEmpty {
      endNow()
    }
    advance()
  }

  private func forgetIfDone() {
    if connection == nil, waiting.isEmpty, window.isEmpty { service.forget(self) }
  }

  // MARK: Frames

  /// False if it must wait.
  private func begin(_ next: Waiting) -> Bool {
    guard let provider, !isEnding else { return false }
    switch next {
    case .failure(let failure):
      _ = service.broker.recordFailure(
        failure, decoder.malformedFrame, from: provider, now: service.clock.now())
      refuse(failure.command, failure.identifier, .protocolError)
      return true
    case .frame(let bytes, let kept):
      return bytes.withUnsafeBytes { bytes in
        guard case .notification(let notification) = LegacyFrameParser.next(in: bytes) else { return true }
        return begin(notification, kept, provider)
      }
    }
  }

  private func begin(_ notification: LegacyNotification, _ kept: Int64?, _ provider: GatewayProvider) -> Bool
  {
    var submission = provider.submission(notification)
    if let rejection = LegacyCheck.rejection(notification, service.limits) ?? provider.rejection {
      submission.detail = NotificationDetail(rejection, notification, service.limits)
      _ = service.broker.recordRejection(submission, rejection, now: service.clock.now())
      let identifier = LegacyCheck.reportedIdentifier(notification, rejection, service.limits)
      refuse(notification.command.rawValue, identifier, rejection)
      return true
    }
    guard !window.holds(notification.token) else { return false }
    guard service.hasRoom else {
      service.waitForRoom(self)
      return false
    }
    guard !service.restored.holds(notification.token) else {
      service.waitForRestored(self)
      return false
    }
    if let isDone = strike(notification, provider) {
      if isDone, let kept { service.forget(kept: [kept]) }
      return isDone
    }
    let sequence = window.begin(
      command: notification.command.rawValue, identifier: notification.identifier,
      token: Array(submission.token))
    service.take(submission, kept: kept ?? 0, connection: number, sequence: sequence)
    return true
  }

  /// Refused by the gateway itself; those before it come first all the same.
  private func refuse(_ command: UInt8, _ identifier: UInt32, _ rejection: Rejection) {
    let sequence = window.begin(command: command, identifier: identifier, token: [])
    if let ending = window.settle(sequence, rejection) { end(ending) }
  }

  // MARK: The end

  /// The error packet, then nothing more: what waits is thrown away. What is under way already can't be called back. A bad
  /// command 0 gets no packet (`Documentation/binary-protocol.md#error-packet`).
  private func end(_ ending: ForwardWindow.Ending) {
    stage = .ending
    dropWaiting()
    service.throwAway(of: number, accepted: ending.thrownAway)
    if ending.command != LegacyCommand.simple.rawValue {
      connection?.send(LegacyErrorPacket(status: ending.status, identifier: ending.identifier).bytes)
    }
    if ending.halfCloses { connection?.halfClose() } else { connection?.close() }
  }

  /// Maintenance: what has not begun is thrown away, and the provider hears how far it got once the rest is answered.
  func shutDown() {
    guard let connection, connection.isOpen else { return }
    stage = .shuttingDown
    dropWaiting()
    if window.isEmpty { endNow() }
  }

  private func dropWaiting() {
    let kept = waiting.compactMap(\.kept)
    waiting = []
    forget(kept: kept)
    if let fault { service.faults.forget(self, fault.decision) }
    fault = nil
  }

  /// Everything up to the last accepted notification went through (`Documentation/binary-protocol.md#statuses`, 10).
  func endNow() {
    guard let connection, connection.isOpen else { return }
    if let last = window.lastAccepted {
      connection.send(LegacyErrorPacket(.shutdown, last).bytes)
      forgotten += service.kept(of: number)
    } else if stage == .shuttingDown {
      // It hears nothing, and takes everything for accepted.
      forgotten = []
    }
    stage = .ending
    connection.close()
  }
}

/// What goes wrong on purpose with a push before it is forwarded: as on the gateway itself, and the other service does not
/// hear of it. What was begun before it goes on.
extension ForwardingGatewayConnection {
  /// Whether a fault has dealt with the frame: false if it must wait, nil if it is to be forwarded as ever.
  private func strike(_ notification: LegacyNotification, _ provider: GatewayProvider) -> Bool? {
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
    fault = HeldUp(decision: decision, plan: plan)
    self.hold(hold, decision)
    return false
  }

  /// The provider has gone: what is delayed goes on without it, what stands still never will.
  private func giveUpStalled() {
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
  private func breakOff(_ end: (SocketConnection) -> Void) {
    stage = .ending
    dropWaiting()
    guard let connection else { return }
    self.connection = nil
    end(connection)
  }
}
