import Basics
import Broker
import Faults
import LegacyWire
import PushModel
import Services
import Transport

/// One provider on the binary gateway: puts in sequence what its parts do.
///
///     bytes ─ LegacyDecoder ─→ frame ─ nothing waits, no fault ─────────────────────→ sink ─ accepted at once, in silence
///                                └─→ WaitingFrames ─ FrameFaults let it pass, room ─→ sink ─→ VerdictWindow ─ in order ─→ ProviderLine
///
/// A certificate for the other environment has its connection closed without a word
/// (`Documentation/binary-protocol.md#client-certificate`). At most what one read brings waits here.
final class GatewayConnection: ConnectionHandler {
  private let (gateway, frames): (Gateway, ProviderFrames)
  private let sink: (any PushSink)?
  /// The same, if what it takes outlives the process.
  private let bridge: (any BridgeSink)?
  private let number: Int
  private let line: ProviderLine
  private var provider: GatewayProvider?
  private(set) var watch: GatewayWatch?
  private var decoder = LegacyDecoder()
  private var (waiting, faults) = (WaitingFrames(), FrameFaults())
  private var window: VerdictWindow<() -> Void>
  /// Identifier of the last notification that was accepted with all before it, for status 10; nil before the first that
  /// has one: a library that is told 0 resends for ever (`Documentation/binary-protocol.md#what-clients-do`).
  private var lastAccepted: UInt32?
  /// Nothing waits and no verdict is outstanding. Asked for each frame.
  private var (isClear, isAdvancing) = (true, false)

  init(_ gateway: Gateway, number: Int, _ connection: SocketConnection) {
    (self.gateway, self.number, sink, frames) = (gateway, number, gateway.sink, gateway.frames)
    (line, bridge) = (ProviderLine(connection), sink as? any BridgeSink)
    window = VerdictWindow(sink?.window ?? PushWindow())
    bridge?.connectionOpened(number)
  }

  // MARK: The provider's side

  func connectionOpened(_ connection: SocketConnection) {
    guard var provider = gateway.identities.identify(connection, listener: "gateway") else {
      return gateway.turnAway(connection)
    }
    watch = GatewayWatch(gateway.traffic, &provider, gateway.broker, connection)
    self.provider = provider
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    let broker = gateway.broker
    provider?.refresh(broker.registry)
    guard let provider, line.takesFrames else { return }
    broker.noteRead()
    guard !provider.isRevoked else { return giveUpRevoked() }
    let now = gateway.clock.now()
    @inline(__always)
    func next(_ notification: LegacyNotification) -> LegacyDecoder.Next {
      receive(notification, from: provider, now: now)
    }
    watch?.inputBegins()
    let failure = decoder.receive(bytes, next)
    if let failure { receiveFailure(failure, from: provider) }
    watch?.readEnds(behind: bytes.extracting(last: decoder.unread), holding: isClear ? [] : decoder.held)
    waiting.partialBytes = decoder.heldBytes
    if isClear { line.hold(waiting.bytes) } else { advance() }
  }

  /// What came before goes on; nothing more is looked at, and the end is silent, as for a certificate of the other environment
  /// (`Documentation/credentials.md#revocation`).
  private func giveUpRevoked() {
    guard line.hearNoMore() else { return }
    gateway.identities.reportRevoked(listener: "gateway")
    advance()
  }

  /// It may still read, and hears of a rejection of what it sent.
  func connectionPeerEnded(_ connection: SocketConnection) {
    line.hearNoMore()
    advance()
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    line.closed()
    watch?.closed(connection)
    // What is delayed goes on without it, what stands still never will.
    if faults.isStalled { dropWaiting() }
    // One that has heard nothing of the end takes everything for accepted.
    bridge?.connectionClosed(number, hasHeard: !line.isLeaving)
    advance()
    gateway.noteEnd(of: self, reason)
  }

  // MARK: Frames

  @inline(__always)
  private func receive(_ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp)
    -> LegacyDecoder.Next
  {
    guard isClear, !mayInject(notification.token) else {
      return receiveInTurn(notification, from: provider, now: now)
    }
    // Whoever answers at once needs nobody to tell.
    let ticket = PushTicket(waiter: number, sequence: sink == nil ? 0 : window.nextSequence)
    let verdict = frames.submit(notification, from: provider, to: sink, for: ticket, now: now)
    guard case .now(let result) = verdict, result.rejection == nil else {
      return receiveUnsettled(notification, verdict, from: provider)
    }
    if notification.command != .simple { lastAccepted = notification.identifier }
    if result.isCongested { slowDown(for: notification.token) }
    return .goOn
  }

  /// Behind others, or a fault is injected.
  @inline(never)
  private func receiveInTurn(
    _ notification: LegacyNotification, from provider: GatewayProvider, now: Timestamp
  ) -> LegacyDecoder.Next {
    if !waiting.isEmpty || !begin(notification, kept: 0, from: provider, now: now) {
      wait(notification, from: provider)
    }
    endFault()
    return line.takesFrames ? .goOn : .stop
  }

  /// Rejected, or not known to be accepted.
  @inline(never)
  private func receiveUnsettled(
    _ notification: LegacyNotification, _ verdict: PushVerdict, from provider: GatewayProvider
  ) -> LegacyDecoder.Next {
    if !note(verdict, on: notification) { wait(notification, from: provider) }
    return line.takesFrames ? .goOn : .stop
  }

  private func receiveFailure(_ failure: LegacyParseFailure, from provider: GatewayProvider) {
    guard !waiting.isEmpty || !window.mayBegin else { return refuseMalformed(failure, from: provider) }
    waiting.append(.failure(failure))
    isClear = false
  }

  private func wait(_ notification: LegacyNotification, from provider: GatewayProvider) {
    let frame = Array(notification.frame)
    var kept: Int64 = 0
    if let bridge, frames.refusal(of: notification, from: provider) == nil {
      kept = bridge.keep(frame, provider.topic, provider.environment)
    }
    waiting.append(.frame(frame, kept: kept))
    awaitVerdicts()
  }

  private func awaitVerdicts() {
    isClear = false
    gateway.waiters.add(self, as: number)
  }

  // MARK: Going on

  /// Begins what may begin, and reads on if nothing waits.
  private func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    watch?.readBegins()
    // Beginning one may end the connection, and nothing waits then.
    while let next = waiting.first, beginWaiting(next) {
      waiting.removeFirst()
      endFault()
    }
    isAdvancing = false
    watch?.readEnds()
    isClear = waiting.isEmpty && window.isEmpty
    line.hold(waiting.bytes)
    line.read(whileWaiting: !waiting.isEmpty)
    sink?.flush()
    guard isClear else { return }
    line.answeredAll()
    if line.isGone, gateway.forget(number) { watch?.ended() }
  }

  /// False if it must wait on.
  private func beginWaiting(_ entry: WaitingFrames.Entry) -> Bool {
    provider?.refresh(gateway.broker.registry)
    guard let provider, line.takesFrames, window.mayBegin else { return false }
    switch entry {
    case .failure(let failure):
      refuseMalformed(failure, from: provider)
      return true
    case .frame(let bytes, let kept):
      guard case .notification(let notification) = LegacyFrameParser.next(in: bytes.span) else { return true }
      return begin(notification, kept: kept, from: provider, now: gateway.clock.now())
    }
  }

  /// False if it must wait: the first that waits is asked again.
  private func begin(
    _ notification: LegacyNotification, kept: Int64, from provider: GatewayProvider, now: Timestamp
  ) -> Bool {
    guard window.mayBegin else { return false }
    switch inject(notification, from: provider) {
    case .pass: break
    case .wait: return false
    case .inject(let injection):
      watch?.injected(injection.plan, injection.decision, into: notification)
      let frame = FaultedFrame(
        notification, from: provider, injection.decision, now: now, by: frames, on: self)
      injection.plan.begin(on: frame)
      guard injection.isSubmitted else {
        injection.plan.end(on: frame)
        noteDealtWith(kept)
        return true
      }
    }
    guard !window.holds(notification.token) else { return false }
    let ticket = PushTicket(waiter: number, sequence: window.nextSequence, kept: kept)
    let verdict = frames.submit(notification, from: provider, to: sink, for: ticket, now: now)
    guard note(verdict, on: notification) else { return false }
    if let fault = faults.begun(notification.command), let id = verdict.id {
      gateway.broker.journal.note(fault.injected(isAnswered: false), into: id)
    }
    return true
  }

  /// False if it must wait.
  private func note(_ verdict: PushVerdict, on notification: LegacyNotification) -> Bool {
    switch verdict {
    case .now where faults.isSilent: break
    case .now(let result): noteKnown(result, of: notification)
    case .later:
      window.begin(
        command: notification.command.rawValue, identifier: notification.identifier,
        token: Array(notification.token.orNone))
      awaitVerdicts()
    case .busy: return false
    }
    return true
  }

  /// The verdict was known at once; what came before may still be outstanding.
  func noteKnown(_ result: SubmissionResult, of notification: LegacyNotification) {
    let identifier =
      result.rejection.map { LegacyCheck.reportedIdentifier(notification, $0, frames.limits) }
      ?? notification.identifier
    take(notification.command.rawValue, result.rejection?.legacyStatus, identifier)
    if result.isCongested { slowDown(for: notification.token) }
  }

  private func refuseMalformed(_ failure: LegacyParseFailure, from provider: GatewayProvider) {
    watch?.couldNotRead()
    _ = frames.recordFailure(failure, decoder.malformedFrame, from: provider, now: gateway.clock.now())
    take(failure.command, Rejection.protocolError.legacyStatus, failure.identifier)
  }

  /// Called for each frame of what has already been read.
  private func slowDown(for token: Span<UInt8>?) {
    guard line.slowDown() else { return }
    line.read(whileWaiting: !waiting.isEmpty)
    gateway.waitForDevice(gateway.broker.routing.link(of: token.orNone), self)
  }

  /// The device has caught up, or so it is tried.
  func deviceCaughtUp() {
    line.speedUp()
    line.read(whileWaiting: !waiting.isEmpty)
  }

  // MARK: The end

  /// The verdict on one is known: no status means accepted.
  private func take(_ command: UInt8, _ status: UInt8?, _ identifier: UInt32?, halfCloses: Bool = false) {
    tell(
      withLastAccepted {
        window.take(command: command, status: status, identifier: identifier, halfCloses: halfCloses, &$0)
      })
  }

  /// Lends a copy, for what takes longer than a look: the path of a push sets it, and pays for no check of exclusive access so
  /// (`Sources/Broker/README.md#what-speed-asks-for`).
  private func withLastAccepted<Answer>(_ body: (inout UInt32?) -> Answer) -> Answer {
    var last = lastAccepted
    defer { lastAccepted = last }
    return body(&last)
  }

  /// What waits is discarded behind a rejection, and what is under way can't be called back.
  private func tell(_ ending: VerdictWindow<() -> Void>.Ending?) {
    guard let ending else {
      if window.givesUpRest() { sink?.discard(of: number) }
      return
    }
    line.beginEnding()
    watch?.rejected(ending, behind: waiting, isFirstBegun: isAdvancing, on: line.connection)
    dropWaiting()
    for undo in ending.discarded { undo() }
    sink?.discard(of: number)
    gateway.broker.deliveries.gatewayAnswers()
    line.tell(ending)
  }

  /// The provider learns how far it got, where that is known: what else it sent goes on without it.
  func evict(_ connection: SocketConnection) {
    guard isClear else { return connection.abort(SocketConnection.evictedReason, reset: true) }
    shutDown()
  }

  /// Maintenance: what has not begun is discarded, and the provider hears how far it got once the rest is answered.
  func shutDown() {
    guard line.beginLeaving() else { return }
    dropWaiting()
    if window.isEmpty { endWithoutVerdicts() }
  }

  private func dropWaiting() {
    let kept = waiting.removeAll()
    bridge?.release(kept, whenClosed: number)
    line.hold(waiting.bytes)
    isClear = window.isEmpty
    faults.callOff()
  }
}

extension GatewayConnection: PushWaiter {
  func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?) {
    tell(withLastAccepted { window.settle(sequence, result.rejection, undo: undo, &$0) })
    if line.isLeaving, window.isEmpty { endWithoutVerdicts() }
    advance()
  }

  func resume() { advance() }

  func endWithoutVerdicts() {
    guard line.isOpen else { return }
    gateway.broker.deliveries.gatewayAnswers()
    if lastAccepted != nil {
      bridge?.releaseSubmitted(whenClosed: number)
    } else if line.isLeaving {
      // It hears nothing, and takes everything for accepted.
      bridge?.connectionClosed(number, hasHeard: false)
    }
    line.leave(lastAccepted: lastAccepted)
  }
}

/// What goes wrong on purpose.
extension GatewayConnection {
  /// All that the hot path asks: whether any rule is about pushes, or the token begins as a magic one does.
  @inline(__always)
  private func mayInject(_ token: Span<UInt8>?) -> Bool {
    gateway.faults.engine.injectsIntoPushes || token?.first == MagicToken.mark
  }

  private func inject(_ notification: LegacyNotification, from provider: GatewayProvider)
    -> FrameFaults.Verdict
  {
    // What no fault can match, as nearly all, pays for no closure.
    guard faults.isBusy || mayInject(notification.token) else { return faults.pass() }
    return faults.verdict(gateway.faults, on: line.connection) {
      gateway.faults.decide(
        notification, topic: provider.topic.map { gateway.broker.registry[$0].label },
        connection: line.connection?.remoteAddress)
    } goOn: { [unowned self] in
      advance()
    }
  }

  /// A fault has dealt with one that may be kept: it need not be, unless its provider has to hear of a rejection first.
  private func noteDealtWith(_ kept: Int64) {
    guard kept != 0 else { return }
    if !line.takesFrames || window.hasRejection {
      bridge?.release([kept], whenClosed: number)
    } else {
      bridge?.forget([kept])
    }
  }

  func dribble(_ dribble: FaultEffects.Dribble) { line.connection?.dribble(dribble) }

  /// The connection ends once those before it are answered.
  func refuse(_ notification: LegacyNotification, by refusal: FaultRefusal) {
    take(
      notification.command.rawValue, refusal.status, refusal.identifier(for: notification),
      halfCloses: refusal.ending == .halfClose)
  }

  /// Does what a fault wants behind a frame that was taken: a server that goes names it, unless a rejection is told already.
  private func endFault() {
    guard let rest = faults.takeRest() else { return }
    if let farewell = rest.plan.farewell, line.takesFrames, !window.hasRejection {
      take(rest.command.rawValue, farewell.status, nil, halfCloses: farewell.ending == .halfClose)
    }
    if let breakage = rest.plan.breakage { goWrong(breakage) }
  }

  func goWrong(_ breakage: FaultBreakage) {
    line.beginEnding()
    dropWaiting()
    // Its provider hears nothing more, however long it keeps its own side open: what a fault was injected into must not come back at the next start.
    bridge?.connectionClosed(number, hasHeard: true)
    line.goWrong(breakage)
  }
}
