import Basics
import Platform

/// The way of a connection from its first byte to its last: where it is, by when it must have gone on, and how it ends.
///
///     connecting ─→ handshaking ─→ open ─→ draining ─→ settling ─→ closing ─→ lingering ─→ closed
///      (clients)     │              ↑↓        │        (if a delay  (TLS close  ↑ (input is thrown away)
///                    │           stalled      │         is wanted)   has no room)
///                    │                        └─ raw bytes ─→ parting ──────────┤
///     alerting ──────┼────────────────────────────────────────↗                 │
///                    └─ failed, on a server ────────────────────────────────────┘
///
/// Where the diagram lies: `closed` is reached from everywhere by `SocketConnection.abort`, and so from whatever shows that the peer
/// is gone. Without TLS a server begins with `open`, and a client is there once it is connected. Draining, settling and closing are
/// passed through at once where nothing is to be waited for.
///
/// *Lingering* is why an error packet reaches its reader: a socket closed with unread input makes the kernel send
/// a reset, which may destroy bytes in flight. So the write side ends first and input is drained until the peer is done
/// (`Documentation/binary-protocol.md#error-packet`; RFC 9112 9.6).
///
/// Calls nobody: what is to be done is a `Step`, and the connection does it.
struct SocketLife: ~Copyable {
  /// What is to be done for the end.
  enum Step {
    /// Nothing, before the peer or time does something.
    case wait
    /// What this side still has to say waits for room.
    case waitForRoom
    /// The owner is to be shown so many bytes, which have come after its end.
    case show(Int)
    /// The connection is over.
    case end(String, reset: Bool = false)
  }

  /// How this side ends once its output has left.
  enum Ending: Equatable {
    /// With a TLS close; then the peer may go on for `SocketConnection.lingerLimit`.
    case inOrder
    /// A fault: in order, and the peer may go on for as long as it likes.
    case endless
    /// A fault: with these bytes past the TLS layer, and no TLS close.
    case raw([UInt8])
  }

  /// What becomes of what the peer says.
  private enum Input {
    case flowing
    /// The owner does not want to read (back-pressure).
    case paused
    /// The peer has ended its side.
    case ended
  }

  private(set) var phase: SocketPhase
  private var input = Input.flowing
  private(set) var ending = Ending.inOrder
  /// What the owner hears when the peer is done.
  private var endReason = "closed"
  /// Runs while the TLS close waits for its time.
  private var settleTimer: LoopEvent?
  /// How much may come after our end before the peer is cut off, in bytes; what has come is taken from it.
  var inputAfterEnd = Int.max
  /// How much of it the owner wants to see, in bytes. The rest is thrown away undecrypted, which is counted.
  var shownAfterEnd = 0
  private(set) var thrownAway = 0
  /// The peer cut the connection before it was told of our end: what was said last may lie unread.
  private(set) var wasCutBeforeEnd = false
  var deadline = Instant.distantFuture
  var stallLimit: Int64?

  /// It begins now.
  init(isServer: Bool, hasTLS: Bool) {
    phase = !isServer ? .connecting : hasTLS ? .handshaking : .open
    if hasTLS { putOff(by: SocketConnection.handshakeLimit) }
  }

  mutating func putOff(by time: Int64) { deadline = SystemClock.now().adding(nanoseconds: time) }

  // MARK: The peer's side

  var isPaused: Bool { input == .paused }
  var peerHasEnded: Bool { input == .ended }
  /// Whether what the peer says is read and handed over.
  @inline(__always)
  var isReading: Bool { phase.isFlowing && input == .flowing }

  mutating func setPaused(_ paused: Bool) { input = paused ? .paused : .flowing }

  mutating func wasCut() { wasCutBeforeEnd = phase != .lingering }

  mutating func peerEnded() {
    input = .ended
    if stallLimit == nil { putOff(by: SocketConnection.halfClosedLimit) }
  }

  // MARK: On the way

  mutating func connected() { phase = .handshaking }
  mutating func opened() { (phase, deadline) = (.open, .distantFuture) }
  mutating func setStalled(_ stalled: Bool) { phase = stalled ? .stalled : .open }
  mutating func setAlert(_ description: UInt8) { phase = .alerting(description) }
  mutating func closed() { (phase, settleTimer) = (.closed, nil) }

  /// The owner of an open connection has closed it: output leaves, and what the peer says is discarded.
  mutating func drain(_ ending: Ending) {
    (phase, self.ending) = (.draining, ending)
    putOff(by: SocketConnection.drainLimit)
    if isPaused { input = .flowing }
  }

  /// While output leaves: the peer may go on for as long as it likes.
  mutating func drainEndlessly() {
    if ending == .inOrder { ending = .endless }
  }

  /// Nothing follows but bytes past the TLS layer. The owner hears of this reason, if there is another than that it has closed.
  mutating func part(because reason: String? = nil) {
    phase = .parting
    endReason = reason ?? endReason
  }

  // MARK: The end

  /// The output has left, and the TLS close waits for this timer.
  mutating func settle(_ timer: LoopEvent, afterNanoseconds delay: Int64) {
    (phase, settleTimer) = (.settling, timer)
    timer.start(afterNanoseconds: delay)
  }

  mutating func sendClose(_ layer: borrowing SocketLayer, _ scratch: inout [UInt8]) -> Step {
    settleTimer = nil
    guard case .needsRoom = layer.sendClose() else { return linger(layer, &scratch) }
    phase = .closing
    return .waitForRoom
  }

  /// Ends this side, and waits for the peer to end its own.
  mutating func linger(
    _ layer: borrowing SocketLayer, _ scratch: inout [UInt8], because reason: String? = nil
  ) -> Step {
    (phase, endReason) = (.lingering, reason ?? endReason)
    SocketCalls.endOutput(layer.descriptor)
    if peerHasEnded { return .end(endReason) }
    if ending == .endless { deadline = .distantFuture } else { putOff(by: SocketConnection.lingerLimit) }
    return discardInput(layer, &scratch)
  }

  /// Discards what the peer says, at the socket and undecrypted but for what the owner wants to see: lingering as much as a turn may
  /// read, else a little, as output is still leaving or the TLS close settling, and a peer that only writes must not block itself.
  mutating func discardInput(
    _ layer: borrowing SocketLayer, _ scratch: inout [UInt8]
  ) -> Step {
    if shownAfterEnd > 0, let step = showInput(layer, &scratch) { return step }
    let isLingering = phase == .lingering
    var budget = isLingering ? ReadBudget.byteLimit : 1
    while budget > 0 {
      switch layer.readRaw(into: &scratch) {
      case .moved(let count):
        budget -= count
        thrownAway += count
        inputAfterEnd -= count
        guard inputAfterEnd >= 0 else { return .end(endReason, reset: true) }
      case .needsInput: return .wait
      case .ended where phase == .settling: return sendClose(layer, &scratch)
      case .cut: return endOfCut()
      case .needsRoom, .ended, .failed: return endOfPeer
      }
    }
    return .wait
  }

  private var endOfPeer: Step { .end(phase == .lingering ? endReason : "peer closed the connection") }

  private mutating func endOfCut() -> Step {
    wasCut()
    return endOfPeer
  }

  /// Decrypts what has come. nil once no more can be had of it, or is wanted: what follows is discarded.
  private mutating func showInput(
    _ layer: borrowing SocketLayer, _ scratch: inout [UInt8]
  ) -> Step? {
    switch layer.read(into: &scratch) {
    case .moved(let count):
      inputAfterEnd -= count
      guard inputAfterEnd >= 0 else { return .end(endReason, reset: true) }
      shownAfterEnd = max(0, shownAfterEnd - count)
      return .show(count)
    case .needsInput: return .wait
    case .cut: return endOfCut()
    case .failed: _ = layer.failure("read")
    case .needsRoom, .ended: break
    }
    shownAfterEnd = 0
    return nil
  }
}

/// Holds nothing that is counted by reference, as it is looked at for each read and write. Whoever acts on it names every
/// phase.
enum SocketPhase: Equatable {
  /// The system connects.
  case connecting
  case handshaking
  /// A fault: the client's first bytes are answered with the TLS alert of this description, and it hears nothing else.
  case alerting(UInt8)
  case open
  /// A fault: open, and nothing is read or written.
  case stalled
  /// The owner has closed, and output leaves.
  case draining
  /// Bytes leave past the TLS layer, the last of this side.
  case parting
  /// The TLS close waits for its time.
  case settling
  /// The TLS close waits for room: without it the peer must take the end for a cut.
  case closing
  case lingering
  case closed

  /// Whether bytes may be sent.
  var isOpen: Bool {
    switch self {
    case .open, .stalled: true
    case .connecting, .handshaking, .alerting, .draining, .parting, .settling, .closing, .lingering, .closed:
      false
    }
  }

  /// Whether they are also read and written.
  var isFlowing: Bool { if case .open = self { true } else { false } }
}
