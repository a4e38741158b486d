import Basics
import Platform

/// One connection over a non-blocking socket, with TLS or without, server or client side. `SocketPhase` has its states.
public final class SocketConnection: LoopClient {
  /// How long a handshake may take, in nanoseconds.
  public static let handshakeLimit: Int64 = 15_000_000_000
  /// How long a closed connection's output may take to leave, in nanoseconds: a peer that does not read can't hold it.
  public static let drainLimit: Int64 = 30_000_000_000
  /// How long a closed connection's input is drained, in nanoseconds.
  public static let lingerLimit: Int64 = 5_000_000_000
  /// How long an owner may go on answering a peer that has ended its side, in nanoseconds. Whether such a peer still reads
  /// can't be told from here.
  public static let halfClosedLimit: Int64 = 30_000_000_000

  /// What becomes of what the peer says.
  private enum Input {
    case flowing
    /// The owner does not want to read (back-pressure).
    case paused
    /// The peer has ended its side.
    case ended
  }

  let layer: SocketLayer
  private(set) var phase: SocketPhase
  private var input = Input.flowing
  private var inputDrain = InputDrain()
  private var output = OutputQueue()
  /// What the handler was handed, and left for the next turn.
  private var leftover: [UInt8] = []
  private var share = MemoryShare()
  var idleMark: IdleMark
  private var readEvent: LoopEvent?
  private var writeEvent: LoopEvent?
  /// Runs while the TLS close waits for its time.
  private var settleTimer: LoopEvent?
  private var wantsDrainedCall = false
  /// Whether somebody was there to connect to.
  public private(set) var hasConnected: Bool
  /// Why not, in the system's words.
  private(set) var connectFailure: String?
  /// What the owner hears when the peer is done.
  private var endReason = "closed"
  /// What leaves past the TLS layer behind the output, if it ends so.
  private var rawEnd: [UInt8] = []
  /// Bytes of application data read and written.
  public private(set) var bytesRead = 0
  public var bytesWritten: Int { output.bytesWritten }
  /// When the present phase ends by force.
  var deadline = Instant.distantFuture
  /// If set, the owner keeps `deadline` while the connection is open, and what leaves puts it off by so many nanoseconds.
  var stallLimit: Int64?
  /// Whether what has come is still handed over when the peer is found gone while bytes are written to it. For an owner that
  /// sends in none of its calls but the first.
  var readsWhenCut = false
  /// The owner; the connection keeps it alive until closed. Set behind `init` and when the connection changes hands, as an owner is
  /// made for its connection.
  public var handler: (any ConnectionHandler)?
  /// Called once when closed, after the handler.
  private let onClosed: (_ connection: SocketConnection, _ reason: String) -> Void

  /// A connection on a layer whose descriptor it will close.
  init(
    loop: EventLoop, _ layer: consuming SocketLayer,
    onClosed: @escaping (_ connection: SocketConnection, _ reason: String) -> Void = { _, _ in }
  ) {
    self.onClosed = onClosed
    let now = SystemClock.now()
    hasConnected = layer.isServer
    phase = !layer.isServer ? .connecting : layer.hasTLS ? .handshaking : .open
    if layer.hasTLS { deadline = now.adding(nanoseconds: Self.handshakeLimit) }
    idleMark = IdleMark(now: now)
    self.layer = layer
    super.init(loop: loop)
    waitsForCommits = self.layer.isServer
    hold(0)
    readEvent = watch(.read) { [unowned self] in readReady() }
  }

  deinit {
    share.set(0, in: loop.memory)
    if phase != .closed { SocketCalls.close(descriptor) }
  }

  /// Begins to listen to the socket. Clients also wait for it to be writable, which ends the TCP connect.
  func start() {
    readEvent?.start()
    if phase == .connecting { waitForWritable() }
  }

  // MARK: The peer

  /// The socket, for what the system can be asked about it.
  public var descriptor: Int32 { layer.descriptor }
  /// The peer; known for good once it was asked for.
  public private(set) lazy var remoteAddress = SocketAddress.of(descriptor, peer: true)
  /// Where this side of it is.
  public var localAddress: SocketAddress { SocketAddress.of(descriptor, peer: false) }
  /// The name that the client asked for (SNI).
  public var serverName: String? { layer.serverName }
  /// What the client asked a proxy for, with which it was connected before; nil for who came by itself.
  public internal(set) var destination: SocketAddress?
  /// The name by which the client wants to have this server: what it asked the proxy for, else SNI.
  public var requestedName: String? { destination?.host ?? serverName }
  /// The application protocol agreed on (ALPN).
  public var alpn: String? { layer.alpn }
  /// DER of the peer's certificate, nil if it showed none.
  public var peerCertificate: [UInt8]? { layer.peerCertificate }
  /// Common name of the peer's certificate, nil if it showed none. For people who look; decides nothing.
  public var peerCommonName: String? { layer.peerCommonName }
  /// Why the peer's certificate was not believed; nil if it was, or was not looked at.
  public var peerCertificateProblem: String? { layer.peerCertificateProblem }
  /// `TLSv1.2` and the like.
  public var tlsVersion: String { layer.version }
  /// The cipher suite in OpenSSL's spelling.
  public var cipher: String { layer.cipher }

  // MARK: Sending

  /// Whether bytes may be sent.
  public var isOpen: Bool { phase.isOpen }
  /// Bytes queued and not yet taken by the kernel.
  public var queuedBytes: Int { output.count }
  /// Whether bytes wait for the system to have room.
  public var isBlocked: Bool { writeEvent?.isActive ?? false }

  /// Whether some of what is queued waits for a commit.
  public var isHeldBack: Bool { loop.holdsOutput && output.isHeldBack }

  /// Queues what `write` writes to room for `size` bytes, as many as it says; they leave at the end of the turn.
  @inline(__always)
  public func append(atMost size: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
    queueFlush()
    output.append(atMost: size, from: loop, write)
  }

  /// Queues bytes; they leave at the end of the turn. Ignored when the connection is not open.
  public func send(_ bytes: UnsafeRawBufferPointer) {
    guard isOpen, !bytes.isEmpty else { return }
    append(atMost: bytes.count) { room in
      room.copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: bytes.count)
      return bytes.count
    }
  }

  /// Queues bytes; they leave at the end of the turn. Ignored when the connection is not open.
  public func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { send($0) } }

  /// Sends as many bytes now as the kernel takes, which spares a copy of them, and queues the others. For clients: what a
  /// server says must wait for the end of the turn, when it is true (`EventLoop`).
  public func sendAtOnce(_ bytes: UnsafeRawBufferPointer) {
    guard phase.isFlowing, output.isEmpty else { return send(bytes) }
    let count = output.writeThrough(bytes, to: layer)
    send(UnsafeRawBufferPointer(rebasing: bytes[count...]))
  }

  /// Asks for one `connectionDrained` when the output is empty.
  public func notifyWhenDrained() {
    wantsDrainedCall = true
    queueFlush()
  }

  /// Hands what is queued to the system now, without waiting for the end of the turn.
  public func flushNow() {
    switch phase {
    case .open, .draining: writeAll()
    case .parting: writeAll(pastTLS: true)
    case .closing(let timeout): sendClose(timeout)
    case .connecting, .handshaking, .alerting, .stalled, .settling, .lingering, .closed: break
    }
  }

  /// Bytes that this system has taken and not sent, because the peer's is full. A system call.
  public func systemQueuedBytes() -> Int {
    switch phase {
    case .open, .stalled, .draining: SocketCalls.unsentBytes(descriptor)
    case .connecting, .handshaking, .alerting, .parting, .settling, .closing, .lingering, .closed: 0
    }
  }

  override func flush() { flushNow() }
  override func holdBack() {
    if waitsForCommits { output.hold() }
  }
  override func cover() { output.cover() }
  override func release() {
    if waitsForCommits { output.uncover(hasMore: isQueuedForFlush) }
  }
  override func beganWaiting() {
    if isQueuedForFlush, loop.holdsOutput { output.hold() }
  }
  override func stoppedWaiting() {
    guard output.isGated else { return }
    output.openGate()
    queueFlush()
  }

  private func writeAll(pastTLS: Bool = false) {
    if output.isGated, !loop.holdsOutput { output.openGate() }
    let before = bytesWritten
    let stop = output.write(to: layer, pastTLS: pastTLS, on: loop)
    if let stallLimit, bytesWritten != before { putOff(by: stallLimit) }
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
    if readsWhenCut { readLast() }
    abort("peer closed the connection while bytes were being written")
  }

  /// Hands over what the system has kept of a peer that is gone, which is no more than it has room for.
  private func readLast() {
    let buffer = loop.scratch
    while phase.isFlowing, input == .flowing, case .moved(let count) = layer.read(into: buffer) {
      bytesRead += count
      handler?.connection(self, received: UnsafeRawBufferPointer(start: buffer.baseAddress, count: count))
    }
  }

  private func outputLeft() {
    switch phase {
    case .open: tellDrained()
    case .draining(.inOrder(let timeout)): endOutput(timeout)
    case .draining(.raw): part(with: rawEnd)
    case .parting: linger(.usual)
    case .connecting, .handshaking, .alerting, .stalled, .settling, .closing, .lingering, .closed: break
    }
  }

  private func tellDrained() {
    guard wantsDrainedCall else { return }
    wantsDrainedCall = false
    handler?.connectionDrained(self)
  }

  private func waitForWritable() {
    writeEvent = writeEvent ?? watch(.write) { [unowned self] in writeReady() }
    writeEvent?.start()
  }

  private func writeReady() {
    writeEvent?.cancel()
    switch phase {
    case .connecting: connected()
    case .handshaking: handshake()
    // Not now: behind what waited there may be answers of this turn, which is not committed yet.
    case .open, .draining, .parting, .closing: queueFlush()
    case .alerting, .stalled, .settling, .lingering, .closed: break
    }
  }

  private func connected() {
    let error = SocketCalls.pendingError(descriptor)
    guard error == 0 else {
      connectFailure = SocketCalls.sentence(error)
      return abort("can't connect: \(SocketCalls.sentence(error))")
    }
    hasConnected = true
    guard layer.hasTLS else { return opened() }
    phase = .handshaking
    handshake()
  }

  /// Where the system would never tell when the socket is ready, an end is better than a connection that hangs.
  private func watch(_ interest: LoopEvent.Interest, _ handler: @escaping () -> Void) -> LoopEvent {
    LoopEvent(
      loop, descriptor: descriptor, interest,
      onFailure: { [unowned self] in abort("the system can't watch the socket") }, handler: handler)
  }

  // MARK: Receiving

  /// Set while the owner does not want to read (back-pressure).
  public var isPaused: Bool { input == .paused }
  /// The peer has ended its side.
  public var peerHasEnded: Bool { input == .ended }

  /// Whether the peer has ended its side, also if what it sent before was not read yet. A system call; where the system has none for
  /// that, an end is seen only behind what came before it.
  public var peerIsGone: Bool { SocketCalls.peerIsGone(descriptor) }

  /// Stops (or goes on) reading; the peer feels it through TCP.
  public func setPaused(_ paused: Bool) {
    guard paused != isPaused, !peerHasEnded, isOpen else { return }
    input = paused ? .paused : .flowing
    guard phase.isFlowing else { return }
    if paused { readEvent?.cancel() } else { resumeReading() }
  }

  private func resumeReading() {
    readEvent?.start()
    queueReading()
  }

  /// Acknowledges what was received: the peer may hold the rest back until then (Nagle's algorithm).
  public func acknowledgeReceived() { SocketCalls.acknowledgeAtOnce(descriptor) }

  /// Reads what has come, out of turn.
  func readNow() {
    if phase.isFlowing { readAll() }
  }

  /// The socket is readable.
  func readReady() {
    switch phase {
    case .handshaking: handshake()
    case .alerting(let description): answerHello(description)
    case .open where isQueuedForReading: loop.wakeups -= 1
    case .open: readAll()
    case .draining, .parting, .closing: drainWhileEnding(settling: nil)
    case .settling(let timeout): drainWhileEnding(settling: timeout)
    case .lingering: drainInput()
    case .connecting, .stalled, .closed: break
    }
  }

  override func readOn() { readReady() }

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
    endReason = reason
    linger(.usual)
  }

  private func opened() {
    (phase, deadline) = (.open, .distantFuture)
    // It was for connecting; most clients never wait for room again.
    if !layer.isServer { writeEvent = nil }
    handler?.connectionOpened(self)
    // Application data may have come in the same segment as the end of the handshake.
    if phase.isFlowing { queueReading() }
  }

  // MARK: Handing over in parts

  /// For a handler amid what it was handed, behind what may have been costly: whether the others are to have their turn. It
  /// then leaves the rest, which is handed over again in the next turn, before anything that comes later.
  public var hasReadEnough: Bool { loop.hasReadEnough() }

  /// Leaves the end of what was handed over for the next turn. To be called at most once for it, and last.
  public func leave(_ rest: UnsafeRawBufferPointer) {
    guard isOpen, !rest.isEmpty else { return }
    leftover = Array(rest)
    queueReading()
  }

  /// Bytes that the handler has left.
  public var leftByteCount: Int { leftover.count }

  /// Hands over again what the handler has left; answers whether it has taken all of it.
  private func handOverRest() -> Bool {
    guard !leftover.isEmpty else { return true }
    guard phase.isFlowing, input != .paused else { return false }
    let bytes = leftover
    leftover = []
    bytes.withUnsafeBytes { handler?.connection(self, received: $0) }
    return leftover.isEmpty
  }

  private func readAll() {
    let buffer = loop.scratch
    var budget = ReadBudget()
    loop.readingSince = nil
    guard handOverRest() else { return }
    while phase.isFlowing, input == .flowing {
      switch layer.read(into: buffer) {
      case .moved(let count):
        bytesRead += count
        handler?.connection(self, received: UnsafeRawBufferPointer(start: buffer.baseAddress, count: count))
        guard leftover.isEmpty else { return }
        // If more has come since, the socket says so.
        if layer.isDry(afterReading: count) { return }
        if budget.isSpent(count, on: loop) { return queueReading() }
      case .needsInput: return
      case .needsRoom: return waitForWritable()
      case .ended: return peerEnded()
      case .cut:
        let reason = SocketCalls.sentence(SocketCalls.lastError)
        return abort(layer.hasTLS ? "peer closed the connection without a TLS close" : reason)
      case .failed: return abort("TLS: \(layer.failure("read"))")
      }
    }
  }

  /// The peer has ended its side. Of TLS, the end of the stream follows, and would wake the loop for ever.
  private func peerEnded() {
    input = .ended
    readEvent?.cancel()
    if stallLimit == nil { putOff(by: Self.halfClosedLimit) }
    if let handler { handler.connectionPeerEnded(self) } else { close() }
  }

  // MARK: Ending

  /// Without TLS, when everything queued has left: tells the peer that nothing more comes, and goes on reading.
  func tellEnd() {
    if phase == .open, output.isEmpty { SocketCalls.endOutput(descriptor) }
  }

  /// Sends what is queued, then ends in order: TLS close, half-close, drain until the peer is done.
  public func close() { close(.inOrder(.usual)) }

  private func close(_ ending: SocketPhase.Ending) {
    switch phase {
    case .open: drain(ending)
    case .connecting, .handshaking, .alerting, .stalled: abort("closed")
    case .draining(.inOrder) where ending == .inOrder(.endless): phase = .draining(ending)
    case .draining, .parting, .settling, .closing, .lingering, .closed: break
    }
  }

  private func drain(_ ending: SocketPhase.Ending) {
    phase = .draining(ending)
    putOff(by: Self.drainLimit)
    if isPaused {
      input = .flowing
      readEvent?.start()
    }
    queueFlush()
  }

  /// Ends it as a client that has what it came for: with a TLS close if the system takes one, and no wait for the peer.
  public func end() {
    close()
    flushNow()
    abort("done")
  }

  /// Drops the connection at once; `reset` with a TCP RST.
  public func abort(_ reason: String, reset: Bool = false) {
    guard phase != .closed else { return }
    if reset { SocketCalls.setResetOnClose(descriptor) }
    letGo()
    SocketCalls.close(descriptor)
    let owner = handler
    handler = nil
    owner?.connectionClosed(self, reason: reason)
    onClosed(self, reason)
  }

  /// Ends without a word and leaves the socket to the caller, with what the peer has sent and nobody has read. The handler, which
  /// has asked for it, is not told. nil if something is still to be said, or the peer has ended its side.
  func detach() -> Int32? {
    guard phase == .open, output.isEmpty, !peerHasEnded, !layer.hasTLS, leftover.isEmpty else { return nil }
    letGo()
    handler = nil
    onClosed(self, "handed over")
    return descriptor
  }

  private func letGo() {
    phase = .closed
    readEvent?.cancel()
    writeEvent?.cancel()
    (readEvent, writeEvent, settleTimer) = (nil, nil, nil)
    output.release(to: loop)
    leftover = []
    share.set(0, in: loop.memory)
  }

  /// Called about once a second.
  func endIfOverdue(_ now: Instant) {
    if deadline < now {
      switch phase {
      case .open, .stalled: handler?.connectionIsOverdue(self)
      case .connecting, .handshaking, .alerting, .draining, .parting, .settling, .closing, .lingering:
        abort("took too long")
      case .closed: break
      }
    }
    if isStalled, peerIsGone { abort("peer closed the connection") }
  }

  private func putOff(by time: Int64) { deadline = SystemClock.now().adding(nanoseconds: time) }

  /// The output has left.
  private func endOutput(_ timeout: SocketPhase.Timeout) {
    // Behind data the TLS close may have to wait, but not where the protocol is HTTP/2, whose ends are said in it.
    guard layer.closeDelay > 0, bytesWritten > 0, !peerHasEnded, alpn == nil else {
      return sendClose(timeout)
    }
    phase = .settling(timeout)
    settleTimer = LoopEvent(timerOn: loop) { [unowned self] in sendClose(timeout) }
    settleTimer?.start(afterNanoseconds: layer.closeDelay)
  }

  private func sendClose(_ timeout: SocketPhase.Timeout) {
    settleTimer = nil
    guard case .needsRoom = layer.sendClose() else { return linger(timeout) }
    phase = .closing(timeout)
    waitForWritable()
  }

  private func linger(_ timeout: SocketPhase.Timeout) {
    phase = .lingering
    SocketCalls.endOutput(descriptor)
    if peerHasEnded { return abort(endReason) }
    switch timeout {
    case .usual: putOff(by: Self.lingerLimit)
    case .endless: deadline = .distantFuture
    }
    drainInput()
  }

  /// How much may come after our end before the peer is cut off, in bytes.
  public var inputAfterEnd: Int {
    get { inputDrain.allowance }
    set { inputDrain.allowance = newValue }
  }

  /// Discards input until the peer has closed.
  private func drainInput() {
    switch inputDrain.drain(layer, into: loop.scratch, atMost: ReadBudget.byteLimit) {
    case .waiting: break
    case .ended, .gone: abort(endReason)
    case .exceeded: abort(endReason, reset: true)
    }
  }

  /// Output is still leaving, or the TLS close is `settling`: input is discarded so that a peer that only writes can't block
  /// itself.
  private func drainWhileEnding(settling timeout: SocketPhase.Timeout?) {
    switch (inputDrain.drain(layer, into: loop.scratch, atMost: 1), timeout) {
    case (.waiting, _): break
    case (.ended, let timeout?): sendClose(timeout)
    case (.ended, nil), (.gone, _): abort("peer closed the connection")
    case (.exceeded, _): abort(endReason, reset: true)
    }
  }
}

/// Connections that go wrong on purpose.
extension SocketConnection {
  /// Whether the connection is open and nothing is read or written.
  public var isStalled: Bool { phase == .stalled }

  /// Nothing more is read or written until this is taken back; who closes a stalled connection drops it.
  public func setStalled(_ stalled: Bool) {
    switch phase {
    case .open: if stalled { stall() }
    case .stalled: if !stalled { goOn() }
    case .connecting, .handshaking, .alerting, .draining, .parting, .settling, .closing, .lingering, .closed:
      break
    }
  }

  private func stall() {
    phase = .stalled
    readEvent?.cancel()
    writeEvent?.cancel()
  }

  private func goOn() {
    phase = .open
    if input == .flowing { resumeReading() }
    queueFlush()
  }

  /// Sends what is queued and ends our side; what the peer still says is read and discarded for as long as it likes.
  public func halfClose() { close(.inOrder(.endless)) }

  /// Sends what is queued, then bytes past the TLS layer, and ends.
  public func close(sendingRaw bytes: [UInt8]) {
    guard isOpen else { return }
    rawEnd = bytes
    close(.raw)
  }

  /// What is queued now, and what joins it before it has left, leaves in pieces of so many bytes, each a record.
  public func dribble(bytes: Int, everyNanoseconds interval: Int64) {
    guard isOpen else { return }
    output.startDribble(bytes: bytes, everyNanoseconds: interval)
    queueFlush()
  }

  /// Answers the client's first bytes with an alert.
  func setAlert(_ description: UInt8) { phase = .alerting(description) }

  private func dribbleOn(after interval: Int64) {
    let timer = LoopEvent(timerOn: loop) { [unowned self] in
      output.pauseDribble(nil)
      queueFlush()
    }
    output.pauseDribble(timer)
    timer.start(afterNanoseconds: interval)
    // It takes as long as it was asked to.
    if let time = isOpen ? stallLimit : Self.drainLimit { putOff(by: interval + time) }
  }

  /// The client's first bytes have come: they are discarded, and the alert is all that it hears.
  private func answerHello(_ alert: UInt8) {
    switch layer.readRaw(into: loop.scratch) {
    case .moved: break
    case .needsInput: return
    case .needsRoom, .ended, .cut, .failed: return abort("peer closed the connection")
    }
    endReason = "answered with TLS alert \(alert)"
    part(with: Self.record(ofAlert: alert))
  }

  /// An alert record in the clear: type 21, the version that every client takes before it has agreed on one, two bytes,
  /// level fatal (RFC 8446 5.1, 6).
  private static func record(ofAlert description: UInt8) -> [UInt8] {
    [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, description]
  }

  private func part(with bytes: [UInt8]) {
    phase = .parting
    output.append(bytes, from: loop)
    writeAll(pastTLS: true)
  }
}

/// A connection can give memory back by ending (`MemoryRelief`).
extension SocketConnection {
  /// What a connection costs besides its output and what its owner holds, in bytes: the state of OpenSSL, this object and its
  /// registrations. Measured with 400 idle device connections: 14.7 KiB each; without TLS, with the owner of a console's
  /// connection, 0.8 KiB.
  private var baseBytes: Int { layer.hasTLS ? 15 << 10 : 1 << 10 }

  /// Says how much the owner holds for this connection now, in bytes, besides the output.
  public func hold(_ bytes: Int) {
    if phase != .closed { share.set(baseBytes + bytes, in: loop.memory) }
  }

  /// What it holds now, in bytes.
  var heldBytes: Int { share.bytes + output.capacity }
  /// Bytes that moved so far, in the direction that counts: while output waits, those that left.
  var movedBytes: Int { output.isEmpty ? bytesRead &+ bytesWritten : bytesWritten }

  /// Ends in a way that says why where that is possible. Afterwards it may hold no more than the last words to a peer that reads.
  func evict() {
    let mayStillSpeak = isOpen
    if mayStillSpeak, let handler { handler.evict(self) }
    guard isOpen || !mayStillSpeak || heldBytes > baseBytes + OutputBuffer.chunk else { return }
    // What the system has taken, up to our end, it goes on sending unless it is told not to.
    abort(Self.evictedReason, reset: phase != .lingering)
  }

  /// Why a connection ended that was evicted.
  public static let evictedReason = "memory is short, and it held most for longest"
}
