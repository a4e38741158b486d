import COpenSSL
import CLibevent
import Platform

/// One TLS connection over a non-blocking socket, server or client side.
///
///     connecting ─→ handshaking ─→ open ─→ draining ─→ settling ─→ lingering ─→ closed
///                          (closing: output leaves)  (if a delay  (input is thrown away)
///                                                     is wanted)
///
/// *Lingering* is why an error packet reaches its reader: a socket closed with unread input makes the kernel send
/// a reset, which may destroy bytes in flight. So the write side ends first and input is drained until the peer is done
/// (`Documentation/binary-protocol.md#error-packet`).
public final class TLSConnection {
  enum Phase { case connecting, handshaking, open, draining, settling, lingering, closed }

  /// How long a handshake may take, in nanoseconds.
  public static let handshakeLimit: Int64 = 15_000_000_000
  /// How long a closed connection's output may take to leave, in nanoseconds: a peer that does not read can't hold it.
  public static let drainLimit: Int64 = 30_000_000_000
  /// How long a closed connection's input is drained, in nanoseconds.
  public static let lingerLimit: Int64 = 5_000_000_000
  /// How long an owner may go on answering a peer that has ended its side, in nanoseconds. Whether such a peer still reads
  /// can't be told from here.
  public static let halfClosedLimit: Int64 = 30_000_000_000

  let loop: EventLoop
  let ssl: OpaquePointer
  let descriptor: Int32
  var phase: Phase
  /// What a connection costs besides its output and what its owner holds, in bytes: the state of OpenSSL, this object and its
  /// registrations. Measured with 400 idle device connections: 14.7 KiB each.
  private static let baseBytes = 15 << 10

  var output = OutputBuffer()
  private var share = MemoryShare()
  var idleMark: IdleMark
  var isQueuedForFlush = false
  private var isQueuedForReading = false
  private var readEvent: LoopEvent?
  private var writeEvent: LoopEvent?
  private let closeDelay: Int64
  /// The TLS close was begun, and waits for the system to have room.
  var isClosing = false
  /// Runs while the TLS close waits for its time.
  private var settleTimer: LoopEvent?
  private var wantsDrainedCall = false
  /// How much may come after our end before the peer is cut off, in bytes.
  public var inputAfterEnd = Int.max
  /// The peer has sent its TLS close.
  var peerHasEnded = false
  /// What the owner hears when the peer is done.
  var endReason = "closed"
  /// Bytes of application data read and written.
  public internal(set) var bytesRead = 0
  public internal(set) var bytesWritten = 0
  /// Set while the owner does not want to read (back-pressure).
  public private(set) var isPaused = false
  /// When the present phase ends by force; monotonic nanoseconds, `.max` for never.
  var deadline = Int64.max
  /// The owner; the connection keeps it alive until closed.
  public var handler: (any ConnectionHandler)?
  /// Called once when closed, after the handler.
  var onClosed: ((_ connection: TLSConnection, _ reason: String) -> Void)?
  /// What goes wrong on purpose; nil on nearly every connection.
  var breakage: TLSBreakage?

  init(loop: EventLoop, context: TLSContext, descriptor: Int32, isServer: Bool) throws {
    guard let ssl = SSL_new(context.pointer) else { throw TLSError.drained("make TLS connection") }
    (self.loop, self.ssl, self.descriptor) = (loop, ssl, descriptor)
    phase = isServer ? .handshaking : .connecting
    closeDelay = context.policy.closeDelay
    SSL_set_fd(ssl, descriptor)
    if isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
    let now = SystemClock.monotonicNanoseconds()
    (deadline, idleMark) = (now + Self.handshakeLimit, IdleMark(now: now))
    share.set(Self.baseBytes, in: loop.memory)
    readEvent = LoopEvent(loop, descriptor: descriptor, .read) { [unowned self] in readReady() }
    readEvent?.onFailure = { [unowned self] in unwatched() }
  }

  deinit {
    share.set(0, in: loop.memory)
    SSL_free(ssl)
    if phase != .closed { _ = Platform.close(descriptor) }
  }

  /// Begins to listen to the socket. Clients also wait for it to be writable, which ends the TCP connect.
  func start() {
    readEvent?.start()
    if phase == .connecting { waitForWritable() }
  }

  // MARK: What the owner does

  /// Whether bytes may be sent.
  public var isOpen: Bool { phase == .open }
  /// Bytes queued and not yet taken by the kernel.
  public var queuedBytes: Int { output.count }
  /// The peer; known for good once it was asked for.
  public private(set) lazy var remoteAddress = SocketAddress.of(descriptor, peer: true)

  /// Lends room for `size` bytes at the end of the output; call `commit` with what was used.
  public func reserve(_ size: Int) -> UnsafeMutableRawPointer { output.reserve(size, from: loop) }

  /// Queues `count` reserved bytes; they leave at the end of the turn.
  public func commit(_ count: Int) {
    output.commit(count)
    queueFlush()
  }

  /// Queues bytes; they leave at the end of the turn. Ignored when the connection is not open.
  public func send(_ bytes: UnsafeRawBufferPointer) {
    guard isOpen, !bytes.isEmpty else { return }
    reserve(bytes.count).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: bytes.count)
    commit(bytes.count)
  }

  /// Queues bytes; they leave at the end of the turn. Ignored when the connection is not open.
  public func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { send($0) } }

  /// Sends as many bytes now as the kernel takes, which spares a copy of them, and queues the others. For clients: what a
  /// server says must wait for the end of the turn, when it is true (`EventLoop`).
  public func sendAtOnce(_ bytes: UnsafeRawBufferPointer) {
    guard isOpen, output.isEmpty, breakage == nil else { return send(bytes) }
    send(UnsafeRawBufferPointer(rebasing: bytes[writeNow(bytes)...]))
  }

  /// Asks for one `connectionDrained` when the output is empty.
  public func notifyWhenDrained() {
    wantsDrainedCall = true
    queueFlush()
  }

  /// Stops (or goes on) reading; the peer feels it through TCP.
  public func setPaused(_ paused: Bool) {
    guard paused != isPaused, phase == .open else { return }
    isPaused = paused
    guard !isStalled else { return }
    if paused { readEvent?.cancel() } else { readOn() }
  }

  /// Nothing more is read or written until this is taken back; who closes a stalled connection drops it.
  public func setStalled(_ stalled: Bool) {
    guard stalled != isStalled, phase == .open else { return }
    makeBreakage().isStalled = stalled
    if stalled {
      readEvent?.cancel()
      writeEvent?.cancel()
    } else {
      if !isPaused { readOn() }
      queueFlush()
    }
  }

  private func readOn() {
    guard !peerHasEnded else { return }
    readEvent?.start()
    queueReading()
  }

  /// Whether bytes wait for the system to have room: the TLS layer has to be given the same ones again.
  public var isBlocked: Bool { writeEvent?.isActive ?? false }

  /// Acknowledges what was received: the peer may hold the rest back until then (Nagle's algorithm).
  public func acknowledgeReceived() { SocketCalls.acknowledgeAtOnce(descriptor) }

  /// Sends what is queued, then ends in order: TLS close, half-close, drain until the peer is done.
  public func close() {
    guard !isStalled else { return abort("closed") }
    guard phase == .open else { return isEnding ? () : abort("closed") }
    phase = .draining
    deadline = SystemClock.monotonicNanoseconds() + Self.drainLimit
    if isPaused {
      isPaused = false
      if !peerHasEnded { readEvent?.start() }
    }
    queueFlush()
  }

  private var isEnding: Bool { [.draining, .settling, .lingering].contains(phase) }

  /// Ends it as a client that has what it came for: with a TLS close if the system takes one, and no wait for the peer.
  public func end() {
    close()
    flushNow()
    abort("done")
  }

  /// Drops the connection at once; `reset` with a TCP RST.
  public func abort(_ reason: String, reset: Bool = false) {
    guard phase != .closed else { return }
    phase = .closed
    if reset { SocketCalls.setResetOnClose(descriptor) }
    readEvent?.cancel()
    writeEvent?.cancel()
    settleTimer?.cancel()
    (readEvent, writeEvent, settleTimer) = (nil, nil, nil)
    output.release(to: loop)
    share.set(0, in: loop.memory)
    _ = Platform.close(descriptor)
    let owner = handler
    handler = nil
    owner?.connectionClosed(self, reason: reason)
    onClosed?(self, reason)
  }

  /// Hands what is queued to the system now, without waiting for the end of the turn.
  public func flushNow() {
    guard phase == .open || phase == .draining else { return }
    writeAll()
  }

  /// Bytes that this system has taken and not sent, because the peer's is full. A system call.
  public func systemQueuedBytes() -> Int {
    phase == .open || phase == .draining ? SocketCalls.unsentBytes(descriptor) : 0
  }

  /// Says how much the owner holds for this connection now, in bytes, besides the output.
  public func hold(_ bytes: Int) {
    if phase != .closed { share.set(Self.baseBytes + bytes, in: loop.memory) }
  }

  // MARK: What the loop does

  func readReady() {
    switch phase {
    case .connecting: break
    case .handshaking: handshake()
    case .open where isQueuedForReading: loop.wakeups -= 1
    case .open: readAll()
    case .draining, .settling, .lingering: drainInput()
    case .closed: break
    }
  }

  /// Reads on in the next turn.
  func queueReading() {
    guard !isQueuedForReading else { return }
    isQueuedForReading = true
    loop.unread.append(self)
  }

  /// Called in a turn after the sockets' events.
  func readOnInTurn() {
    isQueuedForReading = false
    readReady()
  }

  /// The peer has sent its TLS close. Its end of the stream follows, and would wake the loop for ever.
  func peerEnded() {
    peerHasEnded = true
    readEvent?.cancel()
    deadline = SystemClock.monotonicNanoseconds() + Self.halfClosedLimit
    if let handler { handler.connectionPeerEnded(self) } else { close() }
  }

  /// The present phase has lasted for too long.
  func timeIsOver() {
    if phase == .open { close() } else { abort("took too long") }
  }

  /// Whether the TLS close has to wait: behind data, and only where the protocol is not HTTP/2, whose ends are said in it.
  var mustSettle: Bool {
    closeDelay > 0 && bytesWritten > 0 && !peerHasEnded && !isClosing && alpn == nil
  }

  func settle(then finish: @escaping () -> Void) {
    phase = .settling
    settleTimer = LoopEvent(timerOn: loop, handler: finish)
    settleTimer?.start(afterNanoseconds: closeDelay)
  }

  func endSettling() {
    settleTimer?.cancel()
    settleTimer = nil
    phase = .draining
  }

  func queueFlush() {
    guard !isQueuedForFlush else { return }
    isQueuedForFlush = true
    loop.unflushed.append(self)
  }

  func waitForWritable() {
    if writeEvent == nil {
      writeEvent = LoopEvent(loop, descriptor: descriptor, .write) { [unowned self] in writeReady() }
      writeEvent?.onFailure = { [unowned self] in unwatched() }
    }
    writeEvent?.start()
  }

  /// The system would never tell when the socket is ready: better an end than a connection that hangs.
  private func unwatched() { abort("the system can't watch the socket") }

  func stopWaitingForWritable() { writeEvent?.cancel() }

  private func writeReady() {
    stopWaitingForWritable()
    switch phase {
    case .connecting:
      let error = SocketCalls.pendingError(descriptor)
      guard error == 0 else { return abort("can't connect: \(SocketCalls.sentence(error))") }
      phase = .handshaking
      handshake()
    case .handshaking: handshake()
    // Not now: behind what waited there may be answers of this turn, which is not committed yet.
    default: queueFlush()
    }
  }

  func callDrained() {
    guard wantsDrainedCall, phase == .open else { return }
    wantsDrainedCall = false
    handler?.connectionDrained(self)
  }
}

extension TLSConnection: MemoryHolder {
  /// Most that a connection may still hold when it has been ended in order, in bytes: the last words to a peer that reads.
  private static let lastWords = baseBytes + OutputBuffer.chunk

  var heldBytes: Int { share.bytes + output.capacity }
  var movedBytes: Int { output.isEmpty ? bytesRead &+ bytesWritten : bytesWritten }

  func giveWay() {
    let mayStillSpeak = phase == .open
    if mayStillSpeak, let handler { handler.giveWay(self) }
    guard phase == .open || !mayStillSpeak || heldBytes > Self.lastWords else { return }
    abort(Self.gaveWay, reset: true)
  }

  /// Why a connection ended that gave way.
  public static let gaveWay = "memory is short, and it held most for longest"
}
