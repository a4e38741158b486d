import Basics
import Platform

/// A socket on a loop, with TLS or without, server or client side, from its first byte to its last (`SocketLife`): what is queued leaves
/// at the ends of turns. What there is to read, and what has become of it, is told by calls that its connection overrides.
public class LoopSocket: LoopClient {
  final let layer: SocketLayer
  /// Where it is on its way, and how it ends.
  final var life: SocketLife
  private var readEvent: LoopEvent?
  private var writeEvent: LoopEvent?
  private var wantsDrainedCall = false
  /// Whether somebody was there to connect to.
  public private(set) final var hasConnected: Bool
  /// Why not, in the system's words.
  private(set) final var connectFailure: String?

  /// One on a layer whose descriptor it will close.
  init(loop: EventLoop, _ layer: consuming SocketLayer) {
    hasConnected = layer.isServer
    life = SocketLife(isServer: layer.isServer, hasTLS: layer.hasTLS)
    self.layer = layer
    super.init(loop: loop)
    waitsForCommits = self.layer.isServer
    readEvent = watch(.read) { [unowned self] in readReady() }
  }

  deinit {
    if life.phase != .closed { SocketCalls.close(descriptor) }
  }

  /// Begins to listen to the socket. Clients also wait for it to be writable, which ends the TCP connect.
  final func start() {
    readEvent?.start()
    if life.phase == .connecting { waitForWritable() }
  }

  /// The socket, for what the system can be asked about it.
  public final var descriptor: Int32 { layer.descriptor }
  /// Whether bytes may be sent.
  public final var isOpen: Bool { life.phase.isOpen }

  // MARK: What it tells

  /// TLS is up, or the TCP connect is over.
  func hasOpened() {}
  /// Something has come, and may be read.
  func readAll() {}
  /// The peer is gone, and may have said something before.
  func readLast() {}
  /// So many bytes have come after our end; they lie in the loop's scratch. Reads on, too.
  func showAfterEnd(_ count: Int) {}
  /// Everything queued has left, for who has asked for that.
  func hasDrained() {}
  /// The deadline is over while it is open.
  func deadlineIsOver() {}
  /// It is closed, for good.
  func hasClosed(_ reason: String) {}

  // MARK: Writing

  /// Whether bytes wait for the system to have room.
  public final var isBlocked: Bool { writeEvent?.isActive ?? false }

  /// Asks for one `connectionDrained` when the output is empty.
  public final func notifyWhenDrained() {
    wantsDrainedCall = true
    queueFlush()
  }

  /// Hands what is queued to the system now, without waiting for the end of the turn.
  public final func flushNow() {
    switch life.phase {
    case .open, .draining: writeAll()
    case .parting: writeAll(pastTLS: true)
    case .closing: sendClose()
    case .connecting, .handshaking, .alerting, .stalled, .settling, .lingering, .closed: break
    }
  }

  /// Bytes that this system has taken and not sent, because the peer's is full. A system call.
  public final func systemQueuedBytes() -> Int {
    switch life.phase {
    case .open, .stalled, .draining: SocketCalls.unsentBytes(descriptor)
    case .connecting, .handshaking, .alerting, .parting, .settling, .closing, .lingering, .closed: 0
    }
  }

  override final func flush() { flushNow() }

  private func writeAll(pastTLS: Bool = false) {
    if output.isGated, !loop.holdsOutput { output.openGate() }
    let before = output.bytesWritten
    let stop = output.write(to: layer, pastTLS: pastTLS, on: loop)
    if let limit = life.stallLimit, output.bytesWritten != before { life.putOff(by: limit) }
    switch stop {
    case .empty: outputLeft()
    case .held: break
    case .piece(let pause): dribbleOn(after: pause)
    case .noRoom: waitForWritable()
    case .gone: cutWhileWriting()
    case .failed:
      _ = layer.failure("write")
      cutWhileWriting()
    }
  }

  private func cutWhileWriting() {
    life.wasCut()
    readLast()
    abort("peer closed the connection while bytes were being written")
  }

  private func outputLeft() {
    switch life.phase {
    case .open: tellDrained()
    case .draining: endOutput()
    case .parting: goOn(life.linger(layer, &loop.scratch))
    case .connecting, .handshaking, .alerting, .stalled, .settling, .closing, .lingering, .closed: break
    }
  }

  private func tellDrained() {
    guard wantsDrainedCall else { return }
    wantsDrainedCall = false
    hasDrained()
  }

  final func waitForWritable() {
    writeEvent = writeEvent ?? watch(.write) { [unowned self] in writeReady() }
    writeEvent?.start()
  }

  private func writeReady() {
    writeEvent?.cancel()
    switch life.phase {
    case .connecting: connected()
    case .handshaking: handshake()
    // Not now: behind what waited there may be answers of this turn, which is not committed yet.
    case .open, .draining, .parting, .closing: queueFlush()
    case .alerting, .stalled, .settling, .lingering, .closed: break
    }
  }

  /// Where the system would never tell when the socket is ready, an end is better than a connection that hangs.
  private func watch(_ interest: LoopEvent.Interest, _ handler: @escaping () -> Void) -> LoopEvent {
    LoopEvent(
      loop, descriptor: descriptor, interest,
      onFailure: { [unowned self] in abort("the system can't watch the socket") }, handler: handler)
  }

  // MARK: Opening

  private func connected() {
    let error = SocketCalls.pendingError(descriptor)
    guard error == 0 else {
      connectFailure = SocketCalls.sentence(error)
      return abort("can't connect: \(SocketCalls.sentence(error))")
    }
    hasConnected = true
    guard layer.hasTLS else { return opened() }
    life.connected()
    handshake()
  }

  private func handshake() {
    switch layer.handshake() {
    case .moved: opened()
    // OpenSSL writes to the socket itself, so nothing is left behind when it waits for input.
    case .needsInput: break
    case .needsRoom: waitForWritable()
    case .cut: abort("handshake ended: peer closed the connection")
    case .ended, .failed: handshakeFailed("handshake failed: \(layer.failure("TLS"))")
    }
  }

  /// The alert that says why is on its way. A client of TLS 1.3 may be sending already, and a reset for what was not read
  /// would tell it nothing; so a server ends as it does after an error packet.
  private func handshakeFailed(_ reason: String) {
    guard layer.isServer else { return abort(reason) }
    goOn(life.linger(layer, &loop.scratch, because: reason))
  }

  private func opened() {
    life.opened()
    // It was for connecting; most clients never wait for room again.
    if !layer.isServer { writeEvent = nil }
    hasOpened()
    // Application data may have come in the same segment as the end of the handshake.
    if life.phase.isFlowing { queueReading() }
  }

  // MARK: Reading

  /// Set while the owner does not want to read (back-pressure).
  public final var isPaused: Bool { life.isPaused }
  /// The peer has ended its side.
  public final var peerHasEnded: Bool { life.peerHasEnded }

  /// The same, if the system can tell, also of one that has sent what was not read yet. A system call.
  public final var peerIsGone: Bool { SocketCalls.peerIsGone(descriptor) }

  /// Stops (or goes on) reading; the peer feels it through TCP.
  public final func setPaused(_ paused: Bool) {
    guard paused != isPaused, !peerHasEnded, isOpen else { return }
    life.setPaused(paused)
    guard life.phase.isFlowing else { return }
    if paused { readEvent?.cancel() } else { resumeReading() }
  }

  private func resumeReading() {
    readEvent?.start()
    queueReading()
  }

  /// The socket is readable.
  final func readReady() {
    // Who is to read on in this turn does so once.
    guard !isQueuedForReading else { return loop.wakeups -= 1 }
    switch life.phase {
    case .handshaking: handshake()
    case .alerting(let description): answerHello(description)
    case .open: readAll()
    case .draining, .parting, .settling, .closing, .lingering: goOn(life.discardInput(layer, &loop.scratch))
    case .connecting, .stalled, .closed: break
    }
  }

  override final func readOn() { readReady() }

  /// The peer has ended its side. Of TLS, the end of the stream follows, and would wake the loop for ever.
  final func peerEnded() {
    life.peerEnded()
    readEvent?.cancel()
  }

  // MARK: Ending

  /// When the present phase ends by force.
  package final var deadline: Instant {
    get { life.deadline }
    set { life.deadline = newValue }
  }

  /// Whether it has said all, and waits for the peer's end.
  package final var isLingering: Bool { life.phase == .lingering }

  /// If set, the owner keeps `deadline` while the connection is open, and what leaves puts it off by so many nanoseconds.
  package final var stallLimit: Int64? {
    get { life.stallLimit }
    set { life.stallLimit = newValue }
  }

  /// Without TLS, when everything queued has left: tells the peer that nothing more comes, and goes on reading.
  final func tellEnd() {
    if life.phase == .open, output.isEmpty { SocketCalls.endOutput(descriptor) }
  }

  /// Sends what is queued, then ends in order: TLS close, half-close, drain until the peer is done.
  public final func close() { close(.inOrder) }

  private func close(_ ending: SocketLife.Ending) {
    switch life.phase {
    case .open: drain(ending)
    case .connecting, .handshaking, .alerting, .stalled: abort("closed")
    case .draining where ending == .endless: life.drainEndlessly()
    case .draining, .parting, .settling, .closing, .lingering, .closed: break
    }
  }

  private func drain(_ ending: SocketLife.Ending) {
    if isPaused { readEvent?.start() }
    life.drain(ending)
    queueFlush()
  }

  /// Ends it as a client that has what it came for: with a TLS close if the system takes one, and no wait for the peer.
  public final func end() {
    close()
    flushNow()
    abort("done")
  }

  /// Drops the connection at once; `reset` with a TCP RST.
  public final func abort(_ reason: String, reset: Bool = false) {
    guard life.phase != .closed else { return }
    if reset { SocketCalls.setResetOnClose(descriptor) }
    letGo()
    SocketCalls.close(descriptor)
    hasClosed(reason)
  }

  /// Closes it but for the descriptor.
  final func letGo() {
    life.closed()
    readEvent?.cancel()
    writeEvent?.cancel()
    (readEvent, writeEvent) = (nil, nil)
    output.release(to: loop)
  }

  /// Called about once a second.
  final func endIfOverdue(_ now: Instant) {
    if life.deadline < now {
      switch life.phase {
      case .open, .stalled: deadlineIsOver()
      case .connecting, .handshaking, .alerting, .draining, .parting, .settling, .closing, .lingering:
        abort("took too long")
      case .closed: break
      }
    }
    if isStalled, peerIsGone { abort("peer closed the connection") }
  }

  final func goOn(_ step: SocketLife.Step) {
    switch step {
    case .wait: break
    case .show(let count): showAfterEnd(count)
    case .waitForRoom: waitForWritable()
    case .end(let reason, let reset): abort(reason, reset: reset)
    }
  }

  /// The output has left.
  private func endOutput() {
    if case .raw(let bytes) = life.ending {
      life.part()
      return sendPastTLS(bytes)
    }
    // Behind data the TLS close may have to wait, but not where the protocol is HTTP/2, whose ends are said in it.
    guard layer.closeDelay > 0, output.bytesWritten > 0, !peerHasEnded, layer.alpn == nil else {
      return sendClose()
    }
    life.settle(
      LoopEvent(timerOn: loop) { [unowned self] in sendClose() }, afterNanoseconds: layer.closeDelay)
  }

  private func sendClose() { goOn(life.sendClose(layer, &loop.scratch)) }

  private func sendPastTLS(_ bytes: [UInt8]) {
    output.append(bytes.span, from: loop)
    writeAll(pastTLS: true)
  }

  // MARK: What goes wrong on purpose

  /// Whether the connection is open and nothing is read or written.
  public final var isStalled: Bool { life.phase == .stalled }

  /// Nothing more is read or written until this is taken back; who closes a stalled connection drops it.
  public final func setStalled(_ stalled: Bool) {
    guard isOpen, stalled != isStalled else { return }
    life.setStalled(stalled)
    if stalled {
      readEvent?.cancel()
      writeEvent?.cancel()
    } else {
      if life.isReading { resumeReading() }
      queueFlush()
    }
  }

  /// Sends what is queued and ends our side; what the peer still says is discarded for as long as it likes.
  public final func halfClose() { close(.endless) }

  /// Sends what is queued, then bytes past the TLS layer, and ends.
  public final func close(sendingRaw bytes: [UInt8]) {
    if isOpen { close(.raw(bytes)) }
  }

  /// What is queued now, and what joins it before it has left, leaves in pieces of so many bytes, each a record.
  public final func dribble(bytes: Int, everyNanoseconds interval: Int64) {
    guard isOpen else { return }
    output.startDribble(bytes: bytes, everyNanoseconds: interval)
    queueFlush()
  }

  private func dribbleOn(after interval: Int64) {
    let timer = LoopEvent(timerOn: loop) { [unowned self] in
      output.pauseDribble(nil)
      queueFlush()
    }
    output.pauseDribble(timer)
    timer.start(afterNanoseconds: interval)
    // It takes as long as it was asked to.
    if let time = isOpen ? life.stallLimit : SocketConnection.drainLimit { life.putOff(by: interval + time) }
  }

  /// The client's first bytes have come: they are discarded, and the alert is all that it hears.
  private func answerHello(_ alert: UInt8) {
    switch layer.readRaw(into: &loop.scratch) {
    case .moved: break
    case .needsInput: return
    case .needsRoom, .ended, .cut, .failed: return abort("peer closed the connection")
    }
    life.part(because: "answered with TLS alert \(alert)")
    sendPastTLS(SocketLayer.record(ofAlert: alert))
  }
}
