import Basics
import Platform

/// One connection as its owner has it, who sends, and hears of what comes and of the end (`ConnectionHandler`).
public final class SocketConnection: LoopSocket {
  /// How long a handshake may take, in nanoseconds.
  public static let handshakeLimit: Int64 = 15_000_000_000
  /// How long a closed connection's output may take to leave, in nanoseconds: a peer that does not read can't hold it.
  public static let drainLimit: Int64 = 30_000_000_000
  /// How long a closed connection's input is drained, in nanoseconds.
  public static let lingerLimit: Int64 = 5_000_000_000
  /// How long an owner may go on answering a peer that has ended its side, in nanoseconds. Whether such a peer still reads
  /// can't be told from here.
  public static let halfClosedLimit: Int64 = 30_000_000_000
  /// Most reads in a turn that show what has come after our end, as a count.
  private static let showsInTurn = 64

  /// What the handler was handed, and left for the next turn.
  private var leftover: [UInt8] = []
  /// What is held for it, for `MemoryRelief`.
  var share = MemoryShare()
  var idleMark = IdleMark(now: SystemClock.now())
  /// Bytes of application data read and written.
  public private(set) var bytesRead = 0
  public var bytesWritten: Int { output.bytesWritten }
  /// Whether what has come is still handed over when the peer is found gone while bytes are written to it. For an owner that
  /// sends in none of its calls but the first.
  var readsWhenCut = false
  /// The owner; the connection keeps it alive until closed. Set behind `init` and when the connection changes hands, as an owner is
  /// made for its connection. Once closed it takes no other, who would wait for an end that has been.
  public var handler: (any ConnectionHandler)? {
    didSet {
      if handler != nil, life.phase == .closed { handler = nil }
    }
  }
  /// Called once when closed, after the handler.
  private let onClosed: (_ connection: SocketConnection, _ reason: String) -> Void

  /// The peer; known for good once it was asked for.
  public private(set) lazy var remoteAddress = SocketAddress.of(descriptor, peer: true)
  /// Where this side of it is.
  public var localAddress: SocketAddress { SocketAddress.of(descriptor, peer: false) }
  /// What the client asked a proxy for, with which it was connected before; nil for who came by itself.
  public internal(set) var destination: SocketAddress?
  /// Streams that its client may open over HTTP/2, as a fault wants it; nil for as many as usual.
  public internal(set) var streamLimit: Int?

  /// A connection on a layer whose descriptor it will close.
  init(
    loop: EventLoop, _ layer: consuming SocketLayer,
    onClosed: @escaping (_ connection: SocketConnection, _ reason: String) -> Void = { _, _ in }
  ) {
    self.onClosed = onClosed
    super.init(loop: loop, layer)
    hold(0)
  }

  deinit { share.set(0, in: loop.memory) }

  override func hasOpened() { handler?.connectionOpened(self) }
  override func hasDrained() { handler?.connectionDrained(self) }
  override func deadlineIsOver() { handler?.connectionIsOverdue(self) }

  override func hasClosed(_ reason: String) {
    letGoOfInput()
    let owner = handler
    handler = nil
    owner?.connectionClosed(self, reason: reason)
    onClosed(self, reason)
  }

  private func letGoOfInput() {
    leftover = []
    share.set(0, in: loop.memory)
  }

  /// Ends without a word and leaves the socket to the caller, with what the peer has sent and nobody has read. The handler, which
  /// has asked for it, is not told. nil if something is still to be said, or the peer has ended its side.
  func detach() -> Int32? {
    guard life.phase == .open, output.isEmpty, !peerHasEnded, !layer.hasTLS, leftover.isEmpty else {
      return nil
    }
    letGo()
    letGoOfInput()
    handler = nil
    onClosed(self, "handed over")
    return descriptor
  }

  // MARK: Sending

  /// Bytes queued and not yet taken by the kernel.
  public var queuedBytes: Int { output.count }

  /// Whether some of what is queued waits for a commit.
  public var isHeldBack: Bool { loop.holdsOutput && output.isHeldBack }

  /// Queues what `write` writes to room for `size` bytes; they leave at the end of the turn.
  @inline(__always)
  public func append(atMost size: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    queueFlush()
    output.append(atMost: size, from: loop, write)
  }

  /// Queues bytes; they leave at the end of the turn. Ignored when the connection is not open.
  public func send(_ bytes: Span<UInt8>) {
    guard isOpen, !bytes.isEmpty else { return }
    queueFlush()
    output.append(bytes, from: loop)
  }

  /// Queues bytes; they leave at the end of the turn. Ignored when the connection is not open.
  public func send(_ bytes: [UInt8]) { send(bytes.span) }

  /// Sends as many bytes now as the kernel takes, which spares a copy of them, and queues the others. For clients: what a
  /// server says must wait for the end of the turn, when it is true (`EventLoop`).
  public func sendAtOnce(_ bytes: Span<UInt8>) {
    guard life.phase.isFlowing, output.isEmpty else { return send(bytes) }
    send(bytes.dropping(output.writeThrough(bytes, to: layer)))
  }

  // MARK: Receiving

  /// Acknowledges what was received: the peer may hold the rest back until then (Nagle's algorithm).
  public func acknowledgeReceived() { SocketCalls.acknowledgeAtOnce(descriptor) }

  /// Reads what has come, out of turn.
  func readNow() {
    if life.phase.isFlowing { readAll() }
  }

  override func readAll() {
    var budget = ReadBudget()
    loop.readingSince = nil
    guard handOverRest() else { return }
    while life.isReading {
      switch layer.read(into: &loop.scratch) {
      case .moved(let count):
        handOver(count)
        guard leftover.isEmpty else { return }
        // If more has come since, the socket says so.
        if layer.isDry(afterReading: count) { return }
        if budget.isSpent(count, on: loop) { return queueReading() }
      case .needsInput: return
      case .needsRoom: return waitForWritable()
      case .ended:
        peerEnded()
        if let handler { handler.connectionPeerEnded(self) } else { close() }
        return
      case .cut:
        let reason = SocketCalls.sentence(SocketCalls.lastError)
        return abort(layer.hasTLS ? "peer closed the connection without a TLS close" : reason)
      case .failed: return abort("TLS: \(layer.failure("read"))")
      }
    }
  }

  /// Hands over what the system has kept of a peer that is gone, which is no more than it has room for.
  override func readLast() {
    while readsWhenCut, life.isReading, case .moved(let count) = layer.read(into: &loop.scratch) {
      handOver(count)
    }
  }

  @inline(__always)
  private func handOver(_ count: Int) {
    bytesRead += count
    let bytes = loop.scratch
    handler?.connection(self, received: bytes.span.prefix(count))
  }

  /// How much may come after our end before the peer is cut off, in bytes.
  public var inputAfterEnd: Int {
    get { life.inputAfterEnd }
    set { life.inputAfterEnd = newValue }
  }

  /// How much of what comes after our end is to be shown, in bytes; set before the end (`connection(_:discards:)`). What comes behind is
  /// thrown away undecrypted.
  public var shownAfterEnd: Int {
    get { life.shownAfterEnd }
    set { life.shownAfterEnd = newValue }
  }

  /// What came after our end and was shown to nobody, in bytes as the system has them.
  public var thrownAway: Int { life.thrownAway }

  /// Whether the peer cut the connection before it was told of our end, so that what was sent last may lie unread.
  public var wasCutBeforeEnd: Bool { life.wasCutBeforeEnd }

  /// Shows that, and what else has come; in the next turn if that is much.
  override func showAfterEnd(_ count: Int) {
    var (step, left) = (SocketLife.Step.show(count), Self.showsInTurn)
    while case .show(let count) = step {
      show(count)
      left -= 1
      guard life.phase != .closed else { return }
      guard left > 0 else { return queueReading() }
      step = life.discardInput(layer, &loop.scratch)
    }
    goOn(step)
  }

  private func show(_ count: Int) {
    bytesRead += count
    let bytes = loop.scratch
    handler?.connection(self, discards: bytes.span.prefix(count))
  }

  // MARK: Handing over in parts

  /// For a handler amid what it was handed, behind what may have been costly: whether the others are to have their turn. It
  /// then leaves the rest, which is handed over again in the next turn, before anything that comes later.
  public var hasReadEnough: Bool { loop.hasReadEnough() }

  /// Leaves the end of what was handed over for the next turn. To be called at most once for it, and last.
  public func leave(_ rest: Span<UInt8>) {
    guard isOpen, !rest.isEmpty else { return }
    leftover = [UInt8](rest)
    queueReading()
  }

  /// Bytes that the handler has left.
  public var leftByteCount: Int { leftover.count }

  /// Hands over again what the handler has left; answers whether it has taken all of it.
  private func handOverRest() -> Bool {
    guard !leftover.isEmpty else { return true }
    guard life.phase.isFlowing, !isPaused else { return false }
    let bytes = leftover
    leftover = []
    handler?.connection(self, received: bytes.span)
    return leftover.isEmpty
  }
}
