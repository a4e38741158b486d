import Broker
import Faults
import LegacyWire
import PushModel
import Transport

/// One provider on the binary gateway.
///
///     TLS up ─→ identified ─ frame ─→ verdict at once ─ accepted, in silence ─→ identified
///        │            │                      └─ rejected ─→ six bytes, orderly close; nothing later is looked at
///        │            └─ a fault holds it, or the sink's verdict comes later ─→ waiting, under way ─→ as above, in order
///        └─ certificate for the other environment: silent close (`Documentation/binary-protocol.md#client-certificate`)
///
/// While frames wait the provider is not read from, so it feels the pace of whoever takes its pushes through TCP; at most what
/// one read brings waits here. A provider that closes has still sent what it sent: its frames go on without it.
final class GatewayConnection: ConnectionHandler {
  /// What has been read and not begun.
  private enum Waiting {
    /// With what it is kept under by the sink; 0 for nothing.
    case frame([UInt8], kept: Int64)
    case failure(LegacyParseFailure)

    /// Of memory: its own, and an array of bytes with its head.
    var bytes: Int {
      if case .frame(let bytes, _) = self { MemoryLayout<Self>.stride + 32 + bytes.count } else { 0 }
    }

    var kept: Int64 { if case .frame(_, let kept) = self { kept } else { 0 } }
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

  private let gateway: Gateway
  private let sink: any PushSink
  private let number: Int
  /// nil once the provider has gone.
  private var connection: SocketConnection?
  private var decoder = LegacyDecoder()
  private var provider: GatewayProvider?
  private var window: VerdictWindow<() -> Void>
  /// What is behind a rejection was thrown away.
  private var hasThrownAway = false
  /// Nothing waits and no verdict is outstanding. Asked for each frame.
  private var isClear = true
  private var waiting: ArraySlice<Waiting> = []
  /// What those take, in bytes.
  private var waitingBytes = 0
  /// What the decoder holds of a frame, in bytes.
  private var partialBytes = 0
  /// Kept ones that the provider is told it must send again, or that are to go wrong: they are kept until it has had the chance
  /// to hear of that.
  private var forgotten: [Int64] = []
  private var stage = Stage.taking
  private var isAdvancing = false
  /// A device is behind.
  private var isSlowedDown = false
  private var faults = FrameFaults()

  init(_ gateway: Gateway, number: Int, _ connection: SocketConnection) {
    (self.gateway, self.number, self.connection) = (gateway, number, connection)
    sink = gateway.sink
    window = VerdictWindow(size: sink.window, decidesAllFirst: sink.decidesAllFirst)
  }

  private var isEnding: Bool { stage == .ending || stage == .shuttingDown }

  // MARK: The provider's side

  func connectionOpened(_ connection: SocketConnection) {
    switch gateway.identify(connection) {
    case .provider(var provider):
      provider.connection = gateway.capture?.gatewayOpened(provider) ?? 0
      self.provider = provider
    case .wrongEnvironment: connection.close()
    }
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    let broker = gateway.broker
    let routing = broker.routing
    provider?.refresh(broker.registry)
    guard let provider, !isEnding else { return }
    broker.noteRead()
    guard !provider.isRevoked(at: broker.meter.instant) else { return giveUpRevoked() }
    let now = gateway.clock.now()
    @inline(__always)
    func takeNext(_ notification: LegacyNotification) -> LegacyDecoder.Next {
      take(notification, from: provider, now: now)
    }
    let failure = decoder.receive(bytes, ahead: { routing.prefetch(tokenAt: $0) }, takeNext)
    if let failure { take(failure, from: provider) }
    partialBytes = decoder.heldBytes
    if isClear { countMemory() } else { advance() }
  }

  /// What came before goes on; nothing more is looked at, and the end is silent, as for a certificate of the other environment
  /// (`Documentation/credentials.md#revocation`).
  private func giveUpRevoked() {
    guard stage == .taking else { return }
    gateway.reportRevoked()
    stage = .heardAll
    advance()
  }

  /// It may still read, and hears of a rejection of what it sent.
  func connectionPeerEnded(_ connection: SocketConnection) {
    if !isEnding { stage = .heardAll }
    advance()
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    self.connection = nil
    // What is delayed goes on without it, what stands still never will.
    if faults.isStalled { dropWaiting() }
    // It has heard nothing, and takes everything for accepted.
    if stage == .shuttingDown { forgotten = [] }
    forget(kept: [])
    advance()
    gateway.noteEnd(of: self, reason)
  }

  // MARK: Frames

  @inline(__always)
  private func take(_ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp)
    -> LegacyDecoder.Next
  {
    guard isClear, !gateway.faults.mayStrike(notification.token) else {
      return takeInTurn(notification, from: provider, now: now)
    }
    let verdict = gateway.submit(
      notification, from: provider, to: sink,
      for: PushTicket(waiter: number, sequence: window.nextSequence), now: now)
    guard case .now(let result) = verdict, result.rejection == nil else {
      return take(verdict, on: notification, from: provider)
    }
    window.pass(notification)
    if result.isCongested { slowDown(for: notification.token) }
    return .goOn
  }

  /// Behind others, or struck by a fault.
  @inline(never)
  private func takeInTurn(
    _ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp
  ) -> LegacyDecoder.Next {
    if !waiting.isEmpty || !begin(notification, kept: 0, from: provider, now: now) {
      wait(notification, from: provider)
    }
    return isEnding ? .stop : .goOn
  }

  @inline(never)
  private func take(
    _ verdict: PushVerdict, on notification: LegacyNotification, from provider: GatewayProvider
  ) -> LegacyDecoder.Next {
    if !conclude(notification, verdict) { wait(notification, from: provider) }
    return isEnding ? .stop : .goOn
  }

  private func wait(_ notification: LegacyNotification, from provider: GatewayProvider) {
    let frame = Array(notification.frame)
    let isRefused = gateway.refusal(of: notification, from: provider) != nil
    let next = Waiting.frame(frame, kept: isRefused ? 0 : sink.keep(frame, of: provider))
    waiting.append(next)
    waitingBytes += next.bytes
    isClear = false
    gateway.waiters.add(self, as: number)
  }

  private func take(_ failure: LegacyParseFailure, from provider: GatewayProvider) {
    guard !waiting.isEmpty || !window.mayBegin else { return refuse(failure, from: provider) }
    waiting.append(.failure(failure))
    isClear = false
  }

  // MARK: Going on

  /// Begins what may begin, and reads on if nothing waits.
  private func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    // Beginning one may end the connection, and nothing waits then.
    while let next = waiting.first, begin(next) {
      guard !waiting.isEmpty else { break }
      waiting = waiting.dropFirst()
      waitingBytes -= next.bytes
    }
    isAdvancing = false
    if waiting.isEmpty { waiting = [] }
    countMemory()
    isClear = waiting.isEmpty && window.isEmpty
    readOrNot()
    sink.flush()
    if stage == .heardAll, isClear { connection?.close() }
    if connection == nil, isClear { gateway.forget(number, capturedAs: provider?.connection ?? 0) }
  }

  private func countMemory() { connection?.hold(partialBytes + waitingBytes) }

  private func readOrNot() {
    connection?.setPaused(isSlowedDown || !waiting.isEmpty && !isEnding)
  }

  /// False if it must wait.
  private func begin(_ next: Waiting) -> Bool {
    provider?.refresh(gateway.broker.registry)
    guard let provider, !isEnding, window.mayBegin else { return false }
    switch next {
    case .failure(let failure):
      refuse(failure, from: provider)
      return true
    case .frame(let bytes, let kept):
      return bytes.withUnsafeBytes { bytes in
        guard case .notification(let notification) = LegacyFrameParser.next(in: bytes) else { return true }
        return begin(notification, kept: kept, from: provider, now: gateway.clock.now())
      }
    }
  }

  /// False if it must wait: the first that waits is asked again.
  private func begin(
    _ notification: LegacyNotification, kept: Int64, from provider: GatewayProvider, now: Timestamp
  ) -> Bool {
    guard window.mayBegin else { return false }
    switch strike(notification, provider, now: now) {
    case .pass: break
    case .wait: return false
    case .strike(let plan, let decision):
      plan.carryOut(
        on: StruckFrame(
          notification: notification, provider: provider, decision: decision, now: now, gateway: gateway,
          connection: self))
      // Otherwise it is to be taken after all.
      guard plan.fate == .take, !decision.isMagic else {
        if kept != 0 { noteDone(kept) }
        return true
      }
    }
    guard !sink.mayRetry || !window.holds(notification.token) else { return false }
    let ticket = PushTicket(waiter: number, sequence: window.nextSequence)
    let verdict = gateway.submit(
      notification, from: provider, kept: kept, to: sink, for: ticket, now: now)
    guard conclude(notification, verdict) else { return false }
    faults.begun()
    return true
  }

  /// A fault has dealt with one that is kept: it need not be, unless its provider has to hear of a rejection first.
  private func noteDone(_ kept: Int64) {
    if isEnding || window.hasRejection { forget(kept: [kept]) } else { sink.forget(kept: [kept]) }
  }

  /// Does what the sink says of one; false if it must wait.
  private func conclude(_ notification: LegacyNotification, _ verdict: PushVerdict) -> Bool {
    switch verdict {
    case .now(let result): conclude(notification, result)
    case .later:
      window.begin(
        command: notification.command.rawValue, identifier: notification.identifier,
        token: sink.mayRetry ? notification.token.map(Array.init) ?? [] : [])
      isClear = false
      gateway.waiters.add(self, as: number)
    case .busy: return false
    }
    return true
  }

  /// The verdict was known at once; what came before may still be outstanding.
  fileprivate func conclude(_ notification: LegacyNotification, _ result: SubmissionResult) {
    let identifier =
      result.rejection.map { LegacyCheck.reportedIdentifier(notification, $0, gateway.limits) }
      ?? notification.identifier
    tell(
      window.take(
        command: notification.command.rawValue, status: result.rejection?.legacyStatus, identifier: identifier
      ))
    if result.isCongested { slowDown(for: notification.token) }
  }

  private func refuse(_ failure: LegacyParseFailure, from provider: GatewayProvider) {
    _ = gateway.recordFailure(failure, decoder.malformedFrame, from: provider, now: gateway.clock.now())
    let status = Rejection.protocolError.legacyStatus
    tell(window.take(command: failure.command, status: status, identifier: failure.identifier))
  }

  /// Called for each frame of what has already been read.
  private func slowDown(for token: UnsafeRawBufferPointer?) {
    guard !isSlowedDown else { return }
    isSlowedDown = true
    readOrNot()
    gateway.waitForDevice(token.flatMap { gateway.broker.routing.link(of: $0) }, self)
  }

  /// The device has caught up, or so it is tried.
  func deviceCaughtUp() {
    isSlowedDown = false
    readOrNot()
  }

  // MARK: The end

  /// The error packet leaves after the turn's commit, in one write and an orderly end: what waits is thrown away, and what is
  /// under way can't be called back. A bad command 0 gets no packet (`Documentation/binary-protocol.md#error-packet`).
  private func tell(_ ending: VerdictWindow<() -> Void>.Ending?) {
    guard let ending else { return throwAwayRest() }
    stage = .ending
    dropWaiting()
    for undo in ending.thrownAway { undo() }
    sink.throwAway(of: number)
    gateway.broker.turn.gatewayAnswers()
    if ending.command != LegacyCommand.simple.rawValue {
      connection?.send(LegacyErrorPacket(status: ending.status, identifier: ending.identifier).bytes)
    }
    if ending.halfCloses { connection?.halfClose() } else { connection?.close() }
  }

  /// What is behind a rejection need not be tried any more.
  private func throwAwayRest() {
    guard !hasThrownAway, window.awaitsRest else { return }
    hasThrownAway = true
    sink.throwAway(of: number)
  }

  /// The provider learns how far it got, where that is known: what else it sent goes on without it.
  func giveWay(_ connection: SocketConnection) {
    guard isClear else { return connection.abort(SocketConnection.gaveWay, reset: true) }
    shutDown()
  }

  /// Maintenance: what has not begun is thrown away, and the provider hears how far it got once the rest is answered.
  func shutDown() {
    guard let connection, connection.isOpen else { return }
    stage = .shuttingDown
    dropWaiting()
    if window.isEmpty { endWithoutVerdicts() }
  }

  private func dropWaiting() {
    let kept = waiting.map(\.kept).filter { $0 != 0 }
    (waiting, waitingBytes) = ([], 0)
    countMemory()
    isClear = window.isEmpty
    forget(kept: kept)
    faults.callOff()
  }
}

extension GatewayConnection: PushWaiter {
  func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?) {
    tell(window.settle(sequence, result.rejection, undo: undo))
    if stage == .shuttingDown, window.isEmpty { endWithoutVerdicts() }
    advance()
  }

  func resume() { advance() }

  /// Everything up to the last accepted notification went through (`Documentation/binary-protocol.md#statuses`, 10).
  func endWithoutVerdicts() {
    guard let connection, connection.isOpen else { return }
    gateway.broker.turn.gatewayAnswers()
    if let last = window.lastAccepted {
      connection.send(LegacyErrorPacket(.shutdown, last).bytes)
      forgotten += sink.kept(of: number)
    } else if stage == .shuttingDown {
      // It hears nothing, and takes everything for accepted.
      forgotten = []
    }
    stage = .ending
    connection.close()
  }

  /// These need not outlive the process once the connection is closed: until then its provider may not have heard of it.
  func forget(kept: [Int64]) {
    forgotten += kept
    guard connection == nil, !forgotten.isEmpty else { return }
    sink.forget(kept: forgotten)
    forgotten = []
  }

  var forgottenCount: Int { forgotten.count }
}

/// What goes wrong on purpose.
extension GatewayConnection {
  private func strike(_ notification: LegacyNotification, _ provider: GatewayProvider, now: Timestamp)
    -> FrameFaults.Verdict
  {
    faults.verdict(gateway.faults, on: connection) {
      gateway.faults.decide(
        notification, topic: provider.topic.map { gateway.broker.registry[$0].label },
        connection: connection?.remoteAddress)
    } goOn: { [unowned self] in
      advance()
    }
  }

  fileprivate func dribble(_ dribble: FaultEffects.Dribble) { connection?.dribble(dribble) }

  /// A server that goes names the last notification that it took (`Documentation/binary-protocol.md#statuses`, 10); any
  /// other error names the one that is wrong. The connection ends once those before it are answered.
  fileprivate func refuse(_ notification: LegacyNotification, by refusal: FaultRefusal) {
    let own = refusal.status == Rejection.shutdown.legacyStatus ? nil : notification.identifier
    tell(
      window.take(
        command: notification.command.rawValue, status: refusal.status, identifier: refusal.identifier ?? own,
        halfCloses: refusal.ending == .halfClose))
  }

  /// The connection goes wrong, and nothing more can be said on it.
  fileprivate func goWrong(_ breakage: FaultBreakage) {
    stage = .ending
    dropWaiting()
    guard let connection else { return }
    self.connection = nil
    connection.goWrong(breakage)
  }
}

/// A frame as faults find it.
private struct StruckFrame: StruckConnection {
  let notification: LegacyNotification
  let provider: GatewayProvider
  let decision: FaultEngine.Decision
  let now: Timestamp
  let gateway: Gateway
  let connection: GatewayConnection

  var isCancelled: Bool { false }
  func dribble(_ dribble: FaultEffects.Dribble) { connection.dribble(dribble) }
  func goAway(_ goAway: FaultEffects.GoAway) {}
  func goWrong(_ breakage: FaultBreakage) { connection.goWrong(breakage) }

  func settle(_ fate: FaultFate) {
    guard let result = gateway.apply(fate, decision, notification, from: provider, now: now) else { return }
    switch fate {
    case .take: connection.conclude(notification, result)
    case .refuse(let refusal): connection.refuse(notification, by: refusal)
    case .swallow: break
    }
  }
}

extension LegacyErrorPacket {
  init(_ rejection: Rejection, _ identifier: UInt32) {
    self.init(status: rejection.legacyStatus, identifier: identifier)
  }
}
